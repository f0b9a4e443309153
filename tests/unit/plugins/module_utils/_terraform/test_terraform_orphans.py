"""What a killed run created is imported as its record says; with Terraform itself: tests/stack."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import CommandError, ConflictError
from ansible_collections.mlops.eks.plugins.module_utils._terraform.orphans import import_orphans

MADE = {"aws_vpc.this": "vpc-1", 'aws_subnet.private["a"]': "subnet-1", "aws_nat_gateway.out": "nat-1"}
ROUTE = {"module.network[0].aws_route.out": "r-rtb-14711"}


class Killed:
    """A stack whose Terraform was killed after it had made three things; its state knows of the first."""

    name = "train"

    def __init__(self, data: Path, failures: dict[str, str], made: dict[str, str] = MADE) -> None:
        self.data, self.wrapper, self.failures = data, data / "run", failures
        self.said: list[str] = []
        self.imported: list[tuple[str, str]] = []
        self.plan: dict[str, dict[str, str]] = {}
        kinds = {address: address.split("[0].")[-1].partition(".")[0] for address in made}
        resources = {address: {"addr": address, "resource_type": kind} for address, kind in kinds.items()}
        hooks = [{"resource": resources[a], "action": "create", "id_value": i} for a, i in made.items()]
        events = [json.dumps({"type": "apply_complete", "hook": hook}) for hook in hooks]
        (data / "apply.jsonl").write_text("\n".join(events))
        (data / "apply.jsonl.process").write_text("ended 137")

    def say(self, line: str) -> None:
        self.said.append(line)

    def resources(self) -> dict[str, str]:
        return {"aws_vpc.this": "vpc-1"}

    def planned_attributes(self) -> dict[str, dict[str, str]]:
        assert len(self.imported) == 2, "what the attributes are made of is imported before a plan is asked for them"
        return self.plan

    def import_resource(self, address: str, identifier: str) -> None:
        if address in self.failures:
            raise CommandError(self.failures[address])
        self.imported.append((address, identifier))


def test_only_what_the_state_lacks_is_imported(tmp_path: Path) -> None:
    program = Killed(tmp_path, {})
    assert import_orphans(program, check=False)
    assert program.imported == [('aws_subnet.private["a"]', "subnet-1"), ("aws_nat_gateway.out", "nat-1")]


def test_check_mode_imports_nothing(tmp_path: Path) -> None:
    program = Killed(tmp_path, {})
    assert not import_orphans(program, check=True)
    assert program.imported == []
    assert program.said[1].startswith("train | would import aws_nat_gateway.out (nat-1), which a killed run created")


def test_a_resource_that_no_longer_exists_is_not_imported(tmp_path: Path) -> None:
    program = Killed(tmp_path, {"aws_nat_gateway.out": "Error: Cannot import non-existent remote object"})
    assert import_orphans(program, check=False)


def test_a_failed_import_is_refused_with_its_command(tmp_path: Path) -> None:
    program = Killed(tmp_path, {'aws_subnet.private["a"]': "train: terraform import: Error: no such format"})
    with pytest.raises(ConflictError) as refused:
        import_orphans(program, check=False)
    assert program.imported == [("aws_nat_gateway.out", "nat-1")]
    assert "could not be imported: train: terraform import: Error: no such format." in str(refused.value)
    assert f"{tmp_path}/run import 'aws_subnet.private[\"a\"]' subnet-1." in str(refused.value)
    assert refused.value.details["orphans"] == {'aws_subnet.private["a"]': "subnet-1"}


def test_a_composed_import_name_is_made_of_planned_attributes(tmp_path: Path) -> None:
    program = Killed(tmp_path, {}, ROUTE | MADE)
    program.plan = {next(iter(ROUTE)): {"route_table_id": "rtb-1", "destination_cidr_block": "0.0.0.0/0"}}
    assert import_orphans(program, check=False)
    assert program.imported[2:] == [("module.network[0].aws_route.out", "rtb-1_0.0.0.0/0")]


def test_an_import_name_with_an_unknown_attribute_is_refused(tmp_path: Path) -> None:
    (address,) = ROUTE
    program = Killed(tmp_path, {}, ROUTE | MADE)
    program.plan = {address: {"route_table_id": "rtb-1"}}
    with pytest.raises(ConflictError) as refused:
        import_orphans(program, check=False)
    assert len(program.imported) == 2
    assert f"{address}: no plan shows its destination_cidr_block." in str(refused.value)
    assert f"{tmp_path}/run import '{address}' 'rtb-1_{{destination_cidr_block}}'." in str(refused.value)


def test_a_run_that_was_not_killed_has_no_orphans(tmp_path: Path) -> None:
    program = Killed(tmp_path, {})
    (tmp_path / "apply.jsonl.process").write_text("ended 1")
    assert not import_orphans(program, check=False)
