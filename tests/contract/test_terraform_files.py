# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""What every Terraform module promises, and that docs/provisioning.md speaks of variables and outputs that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ansible_collections.mlops.eks.plugins.module_utils._terraform.imports import COMPOSED

ROOT = Path(__file__).resolve().parents[2]
TERRAFORM = ROOT / "terraform"
DIRECTORIES = sorted(str(path.parent.relative_to(TERRAFORM)) for path in TERRAFORM.glob("*/*/main.tf"))
MODULES = [name for name in DIRECTORIES if name.startswith("modules/")]
STACK = "stacks/cluster"
GUIDE = ROOT / "docs/provisioning.md"
FATES = ("kept", "renamed", "replaced", "dropped")
# Types that are imported by the attribute `id`, which is what Terraform records of an apply.
# Source: the documentation of each in the AWS provider, "Import"; tests/provisioning/test_provisioning_imports.py.
IMPORTED_BY_ID = """
aws_autoscaling_group_tag aws_cloudwatch_event_rule aws_cloudwatch_log_group aws_default_security_group
aws_ecr_lifecycle_policy
aws_ecr_repository aws_efs_backup_policy aws_efs_file_system aws_efs_file_system_policy aws_efs_mount_target aws_eip
aws_eks_access_entry aws_eks_access_policy_association aws_eks_addon aws_eks_cluster aws_eks_node_group
aws_fsx_data_repository_association aws_fsx_lustre_file_system aws_iam_instance_profile aws_iam_openid_connect_provider
aws_iam_role aws_iam_role_policy aws_internet_gateway aws_kms_alias aws_kms_key aws_launch_template aws_nat_gateway
aws_placement_group aws_route_table aws_security_group aws_sqs_queue aws_sqs_queue_policy aws_subnet aws_vpc
aws_vpc_endpoint aws_vpc_security_group_egress_rule aws_vpc_security_group_ingress_rule
"""


def blocks(directory: str, kind: str) -> dict[str, str]:
    """Return the bodies of the top-level blocks of a kind, by name; `terraform fmt` closes them in the first column."""
    found: dict[str, str] = {}
    for path in sorted((TERRAFORM / directory).glob("*.tf")):
        text = path.read_text(encoding="utf-8")
        found |= dict(re.findall(rf'^{kind} "(\w+)" {{\n(.*?)^}}', text, re.MULTILINE | re.DOTALL))
    return found


def test_there_are_modules_and_a_stack() -> None:
    assert STACK in DIRECTORIES
    assert MODULES


@pytest.mark.parametrize("directory", DIRECTORIES)
def test_a_directory_is_complete_and_its_files_are_short(directory: str) -> None:
    where = TERRAFORM / directory
    for name in ("main.tf", "outputs.tf", "variables.tf", "versions.tf"):
        assert (where / name).is_file(), name
    for path in [*where.glob("*.tf"), *where.glob("tests/*.hcl")]:
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 250, path


@pytest.mark.parametrize("directory", DIRECTORIES)
def test_variables_and_outputs_are_described(directory: str) -> None:
    variables, outputs = blocks(directory, "variable"), blocks(directory, "output")
    assert variables
    assert outputs
    for name, body in (variables | outputs).items():
        assert re.search(r'^  description = "\S.*[.?]"$', body, re.MULTILINE), f"{name} has no description"
    for name, body in variables.items():
        assert re.search(r"^  type +=", body, re.MULTILINE), f"{name} has no type"
        assert not re.search(r"= any$|\(any[,)]", body, re.MULTILINE), f"{name} takes anything"


@pytest.mark.parametrize("directory", DIRECTORIES)
def test_every_rule_has_a_test_that_breaks_it(directory: str) -> None:
    tests = "\n".join(path.read_text(encoding="utf-8") for path in (TERRAFORM / directory).glob("tests/*.hcl"))
    failures = re.findall(r"expect_failures = \[(.*)\]", tests)
    for name, body in blocks(directory, "variable").items():
        rules = body.count("  validation {")
        broken = sum(f"var.{name}" in re.split(r", ", failure) for failure in failures)
        assert broken >= rules, f"{name} has {rules} rules, and {broken} tests break one"


@pytest.mark.parametrize("directory", DIRECTORIES)
def test_every_message_says_what_was_found(directory: str) -> None:
    for path in (TERRAFORM / directory).glob("*.tf"):
        for message in re.findall(r'error_message = "(.*)"$', path.read_text(encoding="utf-8"), re.MULTILINE):
            assert re.match(r"[a-z_.]+(, [a-z_]+)?: ", message), f"{path.name}: name the variable first: {message}"


def test_the_provider_is_one_and_the_same_everywhere() -> None:
    texts = [(TERRAFORM / directory / "versions.tf").read_text(encoding="utf-8") for directory in DIRECTORIES]
    constraints = {constraint for text in texts for constraint in re.findall(r' version = "(.*)"', text)}
    assert len(constraints) == 1
    assert all('source  = "hashicorp/aws"' in text for text in texts)
    lock = (TERRAFORM / STACK / ".terraform.lock.hcl").read_text(encoding="utf-8")
    assert f'constraints = "{constraints.pop()}"' in lock
    assert lock.count('"zh:') > 10


def test_nothing_inside_the_cluster_is_in_terraform_state() -> None:
    providers = {
        name
        for path in TERRAFORM.rglob("*.tf")
        for name in re.findall(r'^(?:resource|data) "([a-z]+)_', path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert providers == {"aws"}


def test_it_is_known_of_every_type_how_it_is_imported() -> None:
    texts = [path.read_text(encoding="utf-8") for path in TERRAFORM.glob("*/*/*.tf")]
    types = {kind for text in texts for kind in re.findall(r'^resource "(\w+)"', text, re.MULTILINE)}
    plain = set(IMPORTED_BY_ID.split())
    assert plain.isdisjoint(COMPOSED)
    assert types == plain | COMPOSED.keys()


@pytest.mark.parametrize("directory", DIRECTORIES)
def test_an_import_can_tell_which_resources_there_are(directory: str) -> None:
    """`terraform import` plans nothing: keys that are those of another resource are unknown to it until that exists."""
    for path in (TERRAFORM / directory).glob("*.tf"):
        assert not re.findall(r"^  for_each\s*= aws_.*$", path.read_text(encoding="utf-8"), re.MULTILINE), path.name


def rows(section: str) -> list[list[str]]:
    """Return the rows of the guide's table in a section, cell by cell."""
    text = GUIDE.read_text(encoding="utf-8").split(f"\n### {section}\n")[1].split("\n#")[0]
    lines = [line for line in text.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line[1:-1].split("|")] for line in lines]


def is_there(name: str) -> bool:
    """Whether a name of the guide stands for a file, an output (`handover.…`) or an input of the stack."""
    if "/" in name:
        return (ROOT / name).exists()
    kind = "output" if name.startswith("handover") else "variable"
    first, *keys = [part for part in name.split(".") if not part.startswith("<")]
    body = blocks(STACK, kind).get(first, "")
    return bool(body) and all(re.search(rf"^\s+{key}\s+= ", body, re.MULTILINE) for key in keys)


@pytest.mark.parametrize(("section", "number"), [("Inputs", 68), ("Outputs", 14)])
def test_the_guide_says_what_became_of_every_name_of_the_reference(section: str, number: int) -> None:
    named = []
    for theirs, fate, ours, why in rows(section):
        named += re.findall(r"`([^`]+)`", theirs)
        assert fate in FATES, f"{theirs}: {fate}"
        assert fate in ("kept", "renamed") or why, f"{theirs}: why?"
        here = re.findall(r"`([^`]+)`", ours)
        assert bool(here) == (fate != "dropped"), f"{theirs}: {ours}"
        assert [name for name in here if not is_there(name)] == []
    assert len(named) == len(set(named)) == number


def test_the_guide_names_every_module() -> None:
    guide = GUIDE.read_text(encoding="utf-8")
    assert [name for name in MODULES if f"`{name.removeprefix('modules/')}`" not in guide] == []
