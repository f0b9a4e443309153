"""Everything that must be refused, or said, before money is spent."""

from __future__ import annotations

import dataclasses
import typing as t
from collections.abc import Callable

import pytest
from fakes.aws.answers import AUTOSCALER, BLOCK, ZONES, group, stack
from fakes.aws.server import AwsServer

from ansible_collections.mlops.eks.plugins.module_utils._aws.preflight import preflight
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError

Findings = dict[str, tuple[str, str]]
Look = Callable[..., Findings]
Client = Callable[..., t.Any]


@dataclasses.dataclass
class Case:
    """Variables that have something wrong, the line that says so, and words of it."""

    variables: dict[str, t.Any]
    name: str
    words: tuple[str, ...]
    level: str = "fail"


CASES = {
    "a zone outside the region": Case(
        stack(network={"availability_zones": ["us-west-2a", "eu-west-1b"]}),
        "zones",
        ("eu-west-1b is no zone of us-west-2", "Choose from us-west-2a, us-west-2b"),
    ),
    "a single zone": Case(stack(network={"availability_zones": ["us-west-2a"]}), "zones", ("EKS needs two zones",)),
    "a group in a zone without a subnet": Case(
        group(availability_zone="us-west-2c"), "zones", ("us-west-2c is asked for by a node group", "no subnet")
    ),
    "a type that the zone does not offer": Case(
        group(instance_type="trn1.32xlarge", availability_zone="us-west-2a"),
        "offer of p5",
        ("is not offered in us-west-2a; trn1.32xlarge is offered in us-west-2b, us-west-2d.", "Choose one of those"),
    ),
    "a type that does not exist": Case(
        group(instance_type="p9.48xlarge"), "offer of p5", ("p9.48xlarge is not offered in us-west-2.",)
    ),
    "EFA on a type without it": Case(
        group(instance_type="g5.xlarge", efa={"enabled": True}), "EFA of p5", ("g5.xlarge has no EFA", "efa.enabled")
    ),
    "more EFA than a type has": Case(
        group(efa={"enabled": True, "interfaces": 64}), "EFA of p5", ("64 interfaces, but p5.48xlarge has 32",)
    ),
    "EFA over several zones": Case(
        group(efa={"enabled": True}, availability_zone=None), "EFA of p5", ("EFA does not cross zones",)
    ),
    "a placement group of a type that has none": Case(
        group(instance_type="t3.large", placement_group=True), "placement of p5", ("t3.large cannot be in a cluster",)
    ),
    "a reservation that is not there": Case(
        group(capacity={"type": "reserved", "reservation_id": BLOCK}), "reservation of p5", ("none of that ID",)
    ),
    "a bucket that is not there": Case(
        stack(fsx={"fsx": {"associations": {"data": {"s3_uri": "s3://no-such-bucket-of-ours/a"}}}}),
        "bucket no-such-bucket-of-ours",
        ("for fsx fsx (data)", "there is no such bucket", "aws s3 mb s3://no-such-bucket-of-ours --region us-west-2"),
    ),
    "a subnet outside the VPC": Case(
        stack(network={"availability_zones": ZONES, "private_cidrs": ["10.1.0.0/18", "192.168.64.0/18"]}),
        "address ranges",
        ("subnet 10.1.0.0/18 is not inside the VPC's 192.168.0.0/16",),
    ),
    "subnets that overlap": Case(
        stack(network={"availability_zones": ZONES, "private_cidrs": ["192.168.0.0/17", "192.168.64.0/18"]}),
        "address ranges",
        ("subnets 192.168.0.0/17 and 192.168.64.0/18 overlap",),
    ),
    "services inside the VPC": Case(
        stack(control_plane={"service_cidr": "192.168.0.0/20"}),
        "address ranges",
        ("services 192.168.0.0/20 and VPC 192.168.0.0/16 overlap",),
    ),
    "a range that is none": Case(
        stack(network={"availability_zones": ZONES, "cidr": "10.0.0.1/16"}),
        "address ranges",
        ("10.0.0.1/16: no IPv4 range",),
    ),
    "a VPC that is not there": Case(
        stack(network={"existing": {"vpc_id": "vpc-0", "private_subnets": {"us-west-2a": "s-1", "us-west-2b": "s-2"}}}),
        "VPC vpc-0",
        ("it is not in us-west-2",),
    ),
    "a version out of support": Case(stack(kubernetes_version="1.32"), "Kubernetes version", ("out of support since",)),
    "a version in extended support": Case(
        stack(kubernetes_version="1.33"),
        "Kubernetes version",
        ("only extended support", "Choose 1.36 or 1.35.", "control_plane.support_type"),
    ),
    "an extended version that is paid for": Case(
        stack(kubernetes_version="1.33", control_plane={"support_type": "extended"}),
        "Kubernetes version",
        ("only extended support", "costs more"),
        "warn",
    ),
    "a version whose support ends soon": Case(
        stack(kubernetes_version="1.34"), "Kubernetes version", ("standard support ends soon", "1.36 or 1.35."), "warn"
    ),
    "a version that EKS does not have": Case(
        stack(kubernetes_version="2.0"), "Kubernetes version", ("2.0: EKS has no such version",)
    ),
    "more nodes at once than the quota": Case(
        group(size={"min": 5, "max": 8}) | AUTOSCALER,
        "quota of P vCPUs on demand",
        ("768, 0 in use by others, 960 needed at once, 1536 at most", "--quota-code L-417A185B --desired-value 1536"),
    ),
    "more nodes at most than the quota": Case(
        group(size={"min": 1, "max": 8}) | AUTOSCALER,
        "quota of P vCPUs on demand",
        ("192 needed at once, 1536 at most",),
        "warn",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_check_finds_its_problem(case: str, look: Look) -> None:
    expected = CASES[case]
    level, text = look(expected.variables)[expected.name]
    assert level == expected.level
    for words in expected.words:
        assert words in text


def test_more_addresses_than_the_quota_are_refused(look: Look, aws: Client) -> None:
    for _ in range(3):
        aws("ec2").allocate_address(Domain="vpc")
    zones = [f"us-west-2{zone}" for zone in "abcd"]
    level, text = look(stack(network={"availability_zones": zones, "nat_gateways": "per_zone"}))["quota of Elastic IPs"]
    assert level == "fail"
    assert "5, 3 in use, the stack takes 4. Ask for more (L-0263D0A3)" in text
    assert "--desired-value 7" in text


def test_an_empty_account_has_nothing_in_the_way(look: Look) -> None:
    found = look(group(efa={"enabled": True}))
    assert {name: entry for name, entry in found.items() if entry[0] != "ok"} == {}
    assert found["EFA of p5"][1] == "32 of 32 interfaces of p5.48xlarge. "


WRONG = {
    "misspelt variable": (
        stack(acelerator_node_groups={}),
        "no such variable. Did you mean 'accelerator_node_groups'?",
    ),
    "misspelt attribute": (
        group(capcity={}),
        "variables.accelerator_node_groups.p5.capcity: the stack has no such variable. Did you mean 'capacity'?",
    ),
    "version as a number": (stack(kubernetes_version=1.35), "expected a text, found 1.35; put it in quotes"),
    "wrong type": (group(size={"min": "two"}), "variables.accelerator_node_groups.p5.size.min: expected a number"),
    "no list": (stack(network={"availability_zones": "us-west-2a"}), "expected a list, found 'us-west-2a'"),
    "no name": ({"network": {"availability_zones": ZONES}}, "variables.name: the cluster has no name"),
    "no zones": ({"name": "demo", "network": {}}, "variables.network: neither availability_zones nor existing"),
    "no type": (
        stack(accelerator_node_groups={"a": {}}),
        "variables.accelerator_node_groups.a: it has no instance_type",
    ),
    "two regions": (stack(region="eu-west-1"), "variables.region is eu-west-1, region is us-west-2"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_variables_name_their_key(case: str, look: Look) -> None:
    given, words = WRONG[case]
    with pytest.raises(InvalidInputError) as refused:
        look(given)
    assert words in str(refused.value)


def test_it_fails_after_all_checks_with_one_line_and_the_whole_result(account: AwsServer) -> None:
    said: list[str] = []
    params = {"region": "us-west-2", "profile": None, "pipelines": [], "others": [], "fail": True, "show": True}
    wrong = {**params, "variables": stack(kubernetes_version="1.32", control_plane={"service_cidr": "192.168.0.0/20"})}
    with pytest.raises(InvalidInputError) as refused:
        preflight(wrong, say=said.append)
    found = refused.value.to_result()
    assert found["msg"].startswith("demo in us-west-2: 2 of ")
    assert found["msg"].endswith("checks failed: Kubernetes version, address ranges. Nothing was changed.")
    assert [entry["level"] for entry in found["findings"]] == ["fail", "fail"]
    assert {"cost", "table"}.isdisjoint(found)
    assert any(line.startswith("FAIL  address ranges") for line in said)
