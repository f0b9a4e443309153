"""Quotas are of an account and a region: clusters that come together share them."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest
from fakes.aws.answers import AUTOSCALER, ZONES, group, stack
from fakes.aws.documents import ServiceError
from fakes.aws.server import AwsServer

from ansible_collections.mlops.eks.plugins.module_utils._aws.checks_quotas import listed

pytestmark = pytest.mark.slow

Look = Callable[..., dict[str, tuple[str, str]]]
Client = Callable[..., t.Any]
VCPUS = "quota of P vCPUs on demand"
PER_ZONE = {"availability_zones": ZONES, "nat_gateways": "per_zone"}


def other(variables: dict[str, t.Any], name: str = "east-2", **more: t.Any) -> dict[str, t.Any]:
    """Return a cluster that comes with the one that is looked at."""
    variables = variables | {"name": name}
    return {"region": "us-west-2", "profile": None, "pipelines": [], "variables": variables, **more}


def test_clusters_that_fit_alone_may_not_fit_together(look: Look) -> None:
    alone = stack(network=PER_ZONE)
    assert look(alone)["quota of Elastic IPs"] == ("ok", "5, 0 in use, the stack takes 2. ")
    level, text = look(alone, others=[other(alone), other(alone, "east-3")])["quota of Elastic IPs"]
    assert level == "fail"
    assert text.startswith("5, 0 in use, the stack takes 2; with east-2 and east-3 6. Ask for more (L-0263D0A3)")
    assert "--desired-value 6" in text


def test_nodes_of_all_count_at_once_and_at_most(look: Look) -> None:
    mine = group(size={"min": 1, "max": 2}) | AUTOSCALER
    level, text = look(mine, others=[other(group(size={"min": 2, "max": 4}) | AUTOSCALER)])[VCPUS]
    assert level == "warn"
    assert text.startswith("768, 0 in use by others, 192 needed at once, 384 at most; with east-2 576 and 1152.")
    assert "--desired-value 1152" in text
    assert look(mine, others=[other(group(size={"min": 4, "max": 4}))])[VCPUS][0] == "fail"
    # One that takes nothing of it is not named.
    assert "east" not in look(mine, others=[other(stack())])[VCPUS][1]


@pytest.mark.parametrize(
    "another",
    [
        other(stack(network=PER_ZONE), region="us-east-1"),
        other(stack(network=PER_ZONE), "demo"),
        other(stack(network=PER_ZONE), profile="no-such-profile"),
        other({"netwrok": {}}),
    ],
    ids=["another region", "the same cluster", "an account that is not known", "refused itself"],
)
def test_what_is_not_made_there_too_does_not_count(look: Look, another: dict[str, t.Any]) -> None:
    found = look(stack(network=PER_ZONE), others=[another])
    assert found["quota of Elastic IPs"] == ("ok", "5, 0 in use, the stack takes 2. ")


def test_profiles_of_one_account_share_its_quotas(
    look: Look, account: AwsServer, tmp_path: t.Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config"
    config.write_text("[profile a]\naws_access_key_id = a\naws_secret_access_key = a\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    mine, theirs = stack(network=PER_ZONE), other(stack(network=PER_ZONE), profile="a")
    assert "; with east-2 4" in look(mine, others=[theirs])["quota of Elastic IPs"][1]
    account.answer("sts", "GetCallerIdentity", ServiceError("ExpiredToken", "expired", status=403))
    assert look(mine, others=[theirs])["credentials"][0] == "fail"


def test_what_is_there_already_counts_once(look: Look, aws: Client) -> None:
    subnet = aws("ec2").describe_subnets()["Subnets"][0]["SubnetId"]
    aws("eks").create_cluster(
        name="there", roleArn="arn:aws:iam::123456789012:role/there", tags={"mlops.eks/cluster": "there"},
        resourcesVpcConfig={"subnetIds": [subnet]},
    )  # fmt: skip
    for _ in ZONES:
        aws("ec2").allocate_address(Domain="vpc")
    found = look(stack(network=PER_ZONE), others=[other(stack(network=PER_ZONE), "there")])
    assert found["quota of Elastic IPs"] == ("ok", "5, 2 in use, the stack takes 2. ")

    image = aws("ec2").describe_images()["Images"][0]["ImageId"]
    tags = [{"ResourceType": "instance", "Tags": [{"Key": "eks:cluster-name", "Value": "there"}]}]
    run = {"ImageId": image, "InstanceType": "p5.48xlarge", "MinCount": 1, "MaxCount": 1}
    aws("ec2").run_instances(**run, TagSpecifications=tags)
    mine = group(size={"min": 1, "max": 1})
    text = look(mine, others=[other(mine, "there")])[VCPUS][1]
    assert text.startswith("768, 0 in use by others, 192 needed at once, 192 at most; with there 384 and 384")


def test_a_quota_of_each_zone_or_vpc_is_not_shared_beyond_it(look: Look, account: AwsServer) -> None:
    elsewhere = {"availability_zones": ["us-west-2c", "us-west-2d"]}
    endpoints = {"vpc_endpoints": {"interface": ["ecr.api"]}}
    theirs = other(stack(network=elsewhere, **endpoints))
    found = look(stack(**endpoints), others=[theirs, other(stack(), "east-3")])
    assert found["quota of NAT gateways a zone"][1] == "100000, 0 in use, the stack takes 1; with east-3 2. "
    assert found["quota of interface endpoints a VPC"][1] == "100000, 0 in use, the stack takes 1. "


def test_a_line_names_a_few_and_counts_the_rest() -> None:
    assert [listed("abcdef"[:number]) for number in (1, 2, 4, 6)] == [
        "a",
        "a and b",
        "a, b, c and d",
        "a, b, c and 3 more",
    ]
