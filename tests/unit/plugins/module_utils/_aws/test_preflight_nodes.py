"""Nodes: reservations, what is in use, and what pipelines need."""

from __future__ import annotations

import typing as t
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from fakes.aws.answers import AUTOSCALER, BLOCK, RESERVED, group, stack
from fakes.aws.server import AwsServer

Findings = dict[str, tuple[str, str]]
Look = Callable[..., Findings]
Client = Callable[..., t.Any]


NOW = datetime.now(UTC)


RESERVATIONS: dict[str, tuple[dict[str, t.Any], str, str]] = {
    "fits": ({"EndDate": NOW + timedelta(days=9)}, "ok", "4 of 4 p5.48xlarge free, until"),
    "another type": ({"InstanceType": "p4d.24xlarge"}, "fail", "for p4d.24xlarge, the group asks for p5.48xlarge"),
    "another zone": ({"AvailabilityZone": "us-west-2a"}, "fail", "it is in us-west-2a, the group in us-west-2b"),
    "another kind": ({"ReservationType": "default"}, "fail", "no Capacity Block, the group's capacity.type is"),
    "expired": ({"State": "expired"}, "fail", "it is expired"),
    "ended": ({"EndDate": NOW - timedelta(days=1)}, "fail", "it ended on"),
    "later": ({"State": "scheduled", "StartDate": NOW + timedelta(days=2)}, "fail", "the group starts with 1"),
    "full": ({"AvailableInstanceCount": 0}, "fail", "the group starts with 1"),
    "small": ({"TotalInstanceCount": 2}, "warn", "the group may grow to 3"),
}


@pytest.mark.parametrize("case", RESERVATIONS)
def test_a_reservation_fits_or_it_is_said_why_not(case: str, look: Look, account: AwsServer) -> None:
    over, level, words = RESERVATIONS[case]
    account.answer("ec2", "DescribeCapacityReservations", {"CapacityReservations": [{**RESERVED, **over}]})
    capacity = {"type": "capacity_block", "reservation_id": BLOCK}
    found = look(group(capacity=capacity, size={"min": 1, "max": 3}) | AUTOSCALER)
    assert found["reservation of p5"][0] == level
    assert words in found["reservation of p5"][1]


def test_a_group_may_wait_at_zero_for_its_reservation(look: Look, account: AwsServer) -> None:
    later = {**RESERVED, "State": "scheduled", "StartDate": NOW + timedelta(days=2)}
    account.answer("ec2", "DescribeCapacityReservations", {"CapacityReservations": [later]})
    found = look(group(capacity={"type": "capacity_block", "reservation_id": BLOCK}))["reservation of p5"]
    assert found[0] == "warn"
    assert "Nodes can start only then." in found[1]


def test_running_instances_of_others_and_free_reservations_are_in_use(
    look: Look, account: AwsServer, aws: Client
) -> None:
    images = aws("ec2").describe_images()["Images"][0]["ImageId"]
    run = aws("ec2").run_instances
    run(ImageId=images, InstanceType="p5.48xlarge", MinCount=1, MaxCount=1)
    # Of the cluster itself: one of a node group, one of Karpenter's.
    for key in ("eks:cluster-name", "eks:eks-cluster-name"):
        mine = [{"ResourceType": "instance", "Tags": [{"Key": key, "Value": "demo"}]}]
        run(ImageId=images, InstanceType="p5.48xlarge", MinCount=1, MaxCount=1, TagSpecifications=mine)
    reserved = {**RESERVED, "ReservationType": "default", "AvailableInstanceCount": 1}
    account.answer("ec2", "DescribeCapacityReservations", {"CapacityReservations": [reserved]})
    level, text = look(group(size={"min": 2, "max": 2}))["quota of P vCPUs on demand"]
    assert text.startswith("768, 384 in use by others, 384 needed at once")
    assert level == "ok"


PIPELINE = """
name: big
steps:
  - name: train
    chart: training/mpijob-distributed
    recipe: train.yaml
"""


RECIPE = """
image: example.com/a:1
resources: {{node_type: {kind}, nnodes: {nodes}, limits: {{nvidia.com/gpu: {gpus}}}}}
"""


def pipeline(where: Path, *, kind: str = "p5.48xlarge", nodes: int, gpus: int = 8) -> str:
    (where / "pipeline.yaml").write_text(PIPELINE)
    (where / "train.yaml").write_text(RECIPE.format(kind=kind, nodes=nodes, gpus=gpus))
    return str(where)


def test_what_recipes_need_counts_for_quotas_and_room(look: Look, tmp_path: Path) -> None:
    asked = group(size={"min": 0, "max": 4}) | {"karpenter": {"enabled": False}} | AUTOSCALER
    found = look(asked, pipelines=[pipeline(tmp_path, nodes=8)])
    assert found["room for p5.48xlarge"][0] == "fail"
    assert "big/train needs 8, node groups have room for 4" in found["room for p5.48xlarge"][1]
    assert found["quota of P vCPUs on demand"][0] == "fail"
    assert "1536 needed at once" in found["quota of P vCPUs on demand"][1]


def test_without_an_autoscaler_no_more_nodes_come_up_than_were_asked_for(look: Look, tmp_path: Path) -> None:
    asked = {"karpenter": {"enabled": False}}
    found = look(group(size={"max": 4}) | asked, pipelines=[pipeline(tmp_path, nodes=2)])["room for p5.48xlarge"]
    assert found[0] == "fail"
    assert "big/train needs 2, node groups have room for 0. Raise size.desired" in found[1]
    found = look(group(size={"desired": 2, "max": 4}) | asked, pipelines=[pipeline(tmp_path, nodes=2)])
    assert found["room for p5.48xlarge"][0] == "ok"
    assert "384 needed at once, 384 at most" in found["quota of P vCPUs on demand"][1]


def test_no_more_nodes_come_up_than_are_reserved(look: Look, account: AwsServer, tmp_path: Path) -> None:
    account.answer("ec2", "DescribeCapacityReservations", {"CapacityReservations": [RESERVED]})
    reserved = {"capacity": {"type": "capacity_block", "reservation_id": BLOCK}, "size": {"max": 8}}
    asked = group(**reserved) | {"karpenter": {"enabled": False}} | AUTOSCALER
    found = look(asked, pipelines=[pipeline(tmp_path, nodes=8)])["room for p5.48xlarge"]
    assert found[0] == "fail"
    assert "big/train needs 8, node groups have room for 4" in found[1]


def test_pods_that_share_a_node_need_fewer_of_them(look: Look, tmp_path: Path) -> None:
    found = look(group(size={"desired": 2}), pipelines=[pipeline(tmp_path, nodes=16, gpus=1)])
    assert found["room for p5.48xlarge"] == ("ok", "big/train needs 2, node groups have room for 2. ")


def test_a_type_that_only_a_recipe_names_is_looked_for_as_well(look: Look, tmp_path: Path) -> None:
    found = look(stack(), pipelines=[pipeline(tmp_path, kind="p9.48xlarge", nodes=1)])
    assert found["offer of p9.48xlarge"][0] == "fail"
    found = look(stack(), pipelines=[pipeline(tmp_path, kind="g5.48xlarge", nodes=2)])
    assert "Karpenter's, by a NodePool that allows g5.48xlarge" in found["room for g5.48xlarge"][1]
