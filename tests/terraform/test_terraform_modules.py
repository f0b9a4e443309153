"""Every module and the stack, planned with an AWS that is made up: defaults, each option, and what they refuse."""

from __future__ import annotations

import re

import pytest
from terraform_program import ROOT, Terraform

pytestmark = pytest.mark.slow

DIRECTORIES = sorted(
    str(path.parent.relative_to(ROOT / "terraform")) for path in (ROOT / "terraform").glob("*/*/main.tf")
)


@pytest.mark.parametrize("directory", DIRECTORIES)
def test_it_makes_what_it_says_and_refuses_the_rest(attached: Terraform, directory: str) -> None:
    here = attached.at(directory)
    here.init("-backend=false")
    said = here.succeed("test", "-no-color")
    counts = re.search(r"Success! (\d+) passed, 0 failed\.", said)
    assert counts, said
    runs = sum(
        path.read_text(encoding="utf-8").count("\nrun ") for path in (here.directory / "tests").glob("*.tftest.hcl")
    )
    assert int(counts[1]) == runs > 1


def test_everything_is_formatted(terraform: Terraform) -> None:
    terraform.succeed("fmt", "-check", "-recursive", "-diff")
