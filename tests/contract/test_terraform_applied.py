# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""docs/provisioning.md says of every resource of terraform/ whether it was made and destroyed, and by which test."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "provisioning"))

import applied


def test_the_table_is_that_of_the_records() -> None:
    text = applied.PAGE.read_text(encoding="utf-8")
    assert text == applied.page(text), "python tests/provisioning/applied.py"


def test_every_resource_of_terraform_is_in_it() -> None:
    types = {
        kind
        for file in (ROOT / "terraform").rglob("*.tf")
        for kind in re.findall(r'^resource "(\w+)"', file.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert types == set(re.findall(r"^\| `(aws_\w+)` \|", applied.table(), re.MULTILINE))


@pytest.mark.parametrize("program", applied.PROGRAMS)
def test_what_is_recorded_is_still_there(program: str) -> None:
    found = applied.recorded()[program]
    assert found.blocks <= applied.blocks(), f"make test-aws, and pytest -m aws {found.test} --update-golden"
    assert (ROOT / found.test).is_file()


def test_addresses_of_a_state_are_blocks_of_modules() -> None:
    addresses = [
        'module.network[0].aws_subnet.private["us-west-2a"]',
        "module.karpenter[0].module.controller.aws_iam_role.this",
        "module.karpenter[0].data.aws_region.current",
        "data.aws_partition.current",
        'module.accelerator_node_groups["a.b"].aws_launch_template.this',
    ]
    assert applied.of_state(addresses) == {
        ("network", "aws_subnet", "private"),
        ("pod-identity", "aws_iam_role", "this"),
        ("accelerator-node-group", "aws_launch_template", "this"),
    }
