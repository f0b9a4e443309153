"""Terraform, in a copy of `terraform/`: nothing is written to the tree."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator

import pytest
from terraform_program import ROOT, Terraform, find_mirror, find_program


@pytest.fixture(scope="session")
def terraform(tmp_path_factory: pytest.TempPathFactory) -> Terraform:
    """Terraform in a copy of `terraform/`."""
    program = find_program("terraform")
    copy = tmp_path_factory.mktemp("terraform") / "terraform"
    shutil.copytree(ROOT / "terraform", copy, ignore=shutil.ignore_patterns(".terraform", "terraform.tfstate*"))
    # A user's settings (another data directory, variables, logs) are none of the tests'.
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("TF_", "AWS_"))}
    environment |= {"CHECKPOINT_DISABLE": "1", "NO_COLOR": "1"}
    return Terraform(program=program, directory=copy, environment=environment, mirror=find_mirror())


@pytest.fixture(scope="session")
def stack(terraform: Terraform) -> Terraform:
    """The stack, with the provider that its lock names."""
    here = terraform.at("stacks/cluster")
    here.init("-backend=false", "-lockfile=readonly")
    return here


@pytest.fixture(scope="session")
def attached(stack: Terraform) -> Iterator[Terraform]:
    """Terraform with a provider that runs already: starting it anew for every plan takes three times as long."""
    (provider,) = stack.directory.glob(".terraform/providers/*/hashicorp/aws/*/*/terraform-provider-aws*")
    command = [str(provider), "-debug"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout
            said = (re.search(r"TF_REATTACH_PROVIDERS='(.*)'", line) for line in process.stdout)
            address = next(found[1] for found in said if found)
            yield stack.at("../..", TF_REATTACH_PROVIDERS=address)
        finally:
            process.terminate()
