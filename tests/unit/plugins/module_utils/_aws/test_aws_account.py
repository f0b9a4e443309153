"""What an account still has of a cluster is found by tags and names, told with a remedy, and removed when asked."""

from __future__ import annotations

import typing as t
from collections.abc import Iterator

import pytest
from fakes.clock import FakeClock
from moto import mock_aws
from moto.ec2.responses import EC2Response

from ansible_collections.mlops.eks.plugins.module_utils._aws import account as engine
from ansible_collections.mlops.eks.plugins.module_utils._aws.ownership import maker
from ansible_collections.mlops.eks.plugins.module_utils._aws.session import Aws
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import ConflictError, DeniedError

REGION = "us-west-2"
STACK = {"mlops.eks/cluster": "demo"}
OWNED = {"kubernetes.io/cluster/demo": "owned"}


@pytest.fixture(scope="module")
def clients() -> Aws:
    """Clients, which are slow to make, for all tests."""
    return Aws(region=REGION)


@pytest.fixture
def aws(clients: Aws, monkeypatch: pytest.MonkeyPatch) -> Iterator[Aws]:
    monkeypatch.setattr(engine, "Aws", lambda **_: clients)
    # Moto knows no placement groups.
    none = "<DescribePlacementGroupsResponse><placementGroupSet/></DescribePlacementGroupsResponse>"
    monkeypatch.setattr(EC2Response, "describe_placement_groups", lambda self: none, raising=False)
    with mock_aws():
        yield clients


def pairs(tags: dict[str, str]) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in tags.items()]


def tagged(kind: str, tags: dict[str, str]) -> list[dict[str, t.Any]]:
    return [{"ResourceType": kind, "Tags": pairs(tags)}]


def ask(*, check: bool = False, **params: t.Any) -> dict[str, t.Any]:
    given = {
        "name": "demo", "region": REGION, "profile": None, "blocking": False, "remove": False, "timeout": None,
        "known": [], "fail": False, "show": False,
    }  # fmt: skip
    said: list[str] = []
    result = engine.eks_leftovers(given | params, check=check, say=said.append, clock=FakeClock())
    return result | {"said": said}


def found(result: dict[str, t.Any]) -> list[tuple[str, str]]:
    return [(row["kind"], row["made_by"]) for row in result["leftovers"]]


def network(aws: Aws, tags: dict[str, str]) -> tuple[str, str]:
    """Make a VPC and a subnet; moto's own VPC has neither tag."""
    vpc = aws.call("ec2", "create_vpc", CidrBlock="10.0.0.0/16", TagSpecifications=tagged("vpc", tags))["Vpc"]["VpcId"]
    subnet = aws.call("ec2", "create_subnet", VpcId=vpc, CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"]
    return vpc, subnet


def volume(aws: Aws, tags: dict[str, str]) -> str:
    made = aws.call(
        "ec2", "create_volume", AvailabilityZone=f"{REGION}a", Size=1, TagSpecifications=tagged("volume", tags)
    )
    return str(made["VolumeId"])


def test_an_empty_account_has_nothing(aws: Aws) -> None:
    result = ask(fail=True)
    assert (result["leftovers"], result["unknown"], result["changed"]) == ([], {}, False)
    assert result["table"] == ["nothing is left"]


def test_each_kind_is_found_with_its_maker_and_its_remedy(aws: Aws) -> None:
    _, subnet = network(aws, STACK)
    disk = volume(aws, OWNED)
    aws.call("ec2", "run_instances", ImageId="ami-12c6146b", MinCount=1, MaxCount=1, SubnetId=subnet,
             TagSpecifications=tagged("instance", OWNED | STACK))  # fmt: skip
    aws.call("elbv2", "create_load_balancer", Name="web", Type="network", Subnets=[subnet],
             Tags=pairs({"elbv2.k8s.aws/cluster": "demo"}))  # fmt: skip
    aws.call("efs", "create_file_system", CreationToken="demo", Tags=pairs(STACK | {"Name": "demo"}))
    aws.call("sqs", "create_queue", QueueName="demo-interruptions", tags=STACK)
    aws.call("logs", "create_log_group", logGroupName="/aws/eks/demo/cluster")
    aws.call("logs", "create_log_group", logGroupName="/aws/fsx/demo-fsx", tags=STACK)
    aws.call("iam", "create_role", RoleName="demo-node", AssumeRolePolicyDocument="{}", Tags=pairs(STACK))
    aws.call("events", "put_rule", Name="demo-health", EventPattern="{}", Tags=pairs(STACK))
    aws.call("ecr", "create_repository", repositoryName="mlops/digits", tags=pairs(STACK))
    result = ask()
    assert found(result) == [
        ("load balancer", "cluster"), ("EC2 instance", "cluster"), ("EBS volume", "cluster"), ("VPC", "stack"),
        ("EFS file system", "stack"), ("log group", "stack"), ("log group", "stack"), ("IAM role", "stack"),
        ("SQS queue", "stack"), ("EventBridge rule", "stack"), ("ECR repository", "stack"),
    ]  # fmt: skip
    remedies = {row["kind"]: row["remedy"] for row in result["leftovers"]}
    assert remedies["EBS volume"] == f"aws ec2 delete-volume --volume-id {disk} --region {REGION}"
    assert remedies["EC2 instance"].startswith("aws ec2 terminate-instances --instance-ids i-")
    assert remedies["load balancer"].startswith("aws elbv2 delete-load-balancer --load-balancer-arn arn:aws:")
    assert result["table"][0].split() == ["KIND", "IDENTIFIER", "NAME", "STATE", "MADE", "BY", "REMEDY"]


def test_what_is_known_is_left_out(aws: Aws) -> None:
    network(aws, STACK)
    disk = volume(aws, OWNED)
    assert found(ask(known=[disk])) == [("VPC", "stack")]


def test_what_belongs_to_others_is_not_found(aws: Aws) -> None:
    network(aws, {"mlops.eks/cluster": "demo-2"})
    volume(aws, {"kubernetes.io/cluster/demo-2": "owned"})
    aws.call("sqs", "create_queue", QueueName="demo-2-interruptions", tags={"mlops.eks/cluster": "demo-2"})
    aws.call("logs", "create_log_group", logGroupName="/aws/eks/demo-2/cluster")
    aws.call("logs", "create_log_group", logGroupName="/aws/fsx/demo-2-fsx", tags={"mlops.eks/cluster": "demo-2"})
    aws.call("iam", "create_role", RoleName="demo-2-node", AssumeRolePolicyDocument="{}")
    assert ask()["leftovers"] == []


@pytest.mark.parametrize(
    ("tags", "whose"),
    [
        (STACK, "stack"),
        (OWNED, "cluster"),
        (STACK | OWNED, "cluster"),
        (OWNED | {"eks:cluster-name": "demo"}, "stack"),
        (OWNED | {"aws:eks:cluster-name": "demo"}, "stack"),
        ({"kubernetes.io/cluster/demo": "shared"}, None),
        ({"eks:eks-cluster-name": "demo"}, "cluster"),
        ({"elbv2.k8s.aws/cluster": "other"}, None),
        ({}, None),
    ],
)
def test_tags_tell_the_maker(tags: dict[str, str], whose: str | None) -> None:
    assert maker(tags, "demo") == whose


def test_blocking_is_what_a_network_waits_for(aws: Aws) -> None:
    _, subnet = network(aws, STACK)
    volume(aws, OWNED)
    aws.call("ec2", "create_network_interface", SubnetId=subnet, TagSpecifications=tagged("network-interface", OWNED))
    assert found(ask(blocking=True)) == [("network interface", "cluster")]


def test_only_what_the_cluster_made_is_removed(aws: Aws) -> None:
    _, subnet = network(aws, STACK)
    disk = volume(aws, OWNED)
    aws.call("ec2", "create_network_interface", SubnetId=subnet, TagSpecifications=tagged("network-interface", OWNED))
    assert ask(remove=True, check=True)["changed"]
    assert len(ask()["leftovers"]) == 3
    result = ask(remove=True)
    assert result["changed"]
    assert f"EBS volume {disk}" in result["removed"]
    assert found(result) == [("VPC", "stack")]
    assert ask(remove=True)["changed"] is False


def test_it_waits_and_says_for_what(aws: Aws, monkeypatch: pytest.MonkeyPatch) -> None:
    disk, clock = volume(aws, OWNED), FakeClock()
    looks: list[float] = []

    def gone() -> None:
        looks.append(clock.now())
        if len(looks) == 3:
            aws.call("ec2", "delete_volume", VolumeId=disk)

    clock.meanwhile = gone
    monkeypatch.setattr(engine, "Clock", lambda: clock)
    said: list[str] = []
    given = {
        "name": "demo",
        "region": REGION,
        "profile": None,
        "blocking": False,
        "remove": False,
        "known": [],
        "fail": True,
        "show": False,
    }
    result = engine.eks_leftovers(given | {"timeout": 600.0}, check=False, say=said.append)
    assert result["leftovers"] == []
    assert said == [f"waiting for EBS volume {disk} to be gone (0 s)"]


def test_it_fails_with_the_list(aws: Aws) -> None:
    disk = volume(aws, OWNED)
    with pytest.raises(
        ConflictError, match=f"cluster demo in {REGION}: 1 left: EBS volume {disk}. Remove each"
    ) as refused:
        ask(fail=True)
    assert refused.value.details["leftovers"][0]["identifier"] == disk


def test_what_may_not_be_looked_for_is_not_called_gone(aws: Aws, monkeypatch: pytest.MonkeyPatch) -> None:
    really = Aws.call

    def call(self: Aws, service: str, operation: str, **arguments: t.Any) -> dict[str, t.Any]:
        if service == "elbv2":
            raise DeniedError("The identity needs the IAM action elasticloadbalancing:DescribeLoadBalancers.")
        return really(self, service, operation, **arguments)

    def pages(self: Aws, service: str, operation: str, key: str, **arguments: t.Any) -> list[t.Any]:
        return t.cast("list[t.Any]", self.call(service, operation, **arguments).get(key) or [])

    monkeypatch.setattr(Aws, "call", call)
    monkeypatch.setattr(Aws, "pages", pages)
    with pytest.raises(
        ConflictError, match="could not look for load balancer, target group: The identity needs"
    ) as refused:
        ask(fail=True)
    assert set(refused.value.details["unknown"]) == {"load balancer", "target group"}
