"""Who asks, and what he may ask."""

from __future__ import annotations

import re
import typing as t
from collections.abc import Callable
from pathlib import Path

import pytest
from fakes.aws.answers import BLOCK, P5, stack
from fakes.aws.documents import ServiceError
from fakes.aws.server import AwsServer

from ansible_collections.mlops.eks.plugins.module_utils._aws.preflight import CHECKS, FIRST
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import CredentialsError

Findings = dict[str, tuple[str, str]]
Look = Callable[..., Findings]
Client = Callable[..., t.Any]


ROOT = Path(__file__).resolve().parents[5]


def test_a_right_that_is_lacking_is_a_warning_that_names_it(look: Look, account: AwsServer) -> None:
    message = "User: arn:aws:iam::1:user/me is not authorized to perform: eks:DescribeClusterVersions on resource: x"
    account.answer("eks", "DescribeClusterVersions", ServiceError("AccessDeniedException", message, 403))
    account.answer("ec2", "DescribeVpcs", ServiceError("UnauthorizedOperation", "You are not authorized.", 403))
    account.answer("pricing", "GetProducts", ServiceError("AccessDeniedException", "not authorized", 400))
    found = look()
    assert found["Kubernetes version"][0] == "warn"
    assert "by a table of 2026-11-21" in found["Kubernetes version"][1]
    assert "eks:DescribeClusterVersions" in found["Kubernetes version"][1]
    assert found["other VPCs"] == ("warn", "this identity may not ask. Allow it the IAM action ec2:DescribeVpcs.")
    assert found["cost"][0] == "warn"
    assert "pricing:GetProducts" in found["cost"][1]
    assert not [name for name, (level, _) in found.items() if level == "fail"]


def test_a_check_that_breaks_is_a_red_line_and_the_others_are_made(look: Look, account: AwsServer) -> None:
    account.answer("eks", "ListClusters", ServiceError("InvalidRequestException", "out of order"))
    found = look()
    assert found["quota of EKS clusters"][0] == "fail"
    assert "InvalidRequestException: out of order" in found["quota of EKS clusters"][1]
    assert found["zones"][0] == "ok"


def test_expired_credentials_are_the_only_thing_said(look: Look, account: AwsServer) -> None:
    account.answer("sts", "GetCallerIdentity", ServiceError("ExpiredToken", "The security token has expired", 403))
    found = look()
    assert list(found) == ["credentials", "all others"]
    assert "ExpiredToken" in found["credentials"][1]
    assert "aws sso login" in found["credentials"][1]


def test_no_credentials_at_all(look: Look, account: AwsServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "absent"))
    level, text = look()["credentials"]
    assert (level, "no usable AWS credentials" in text) == ("fail", True)
    with pytest.raises(CredentialsError, match="profile \\(training\\) could not be found"):
        look(profile="training")
    (tmp_path / "config").write_text("[profile trainer]\nregion = us-west-2\n", encoding="utf-8")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    with pytest.raises(CredentialsError, match="Did you mean 'trainer'\\?"):
        look(profile="training")


def test_a_region_that_is_misspelt_or_not_enabled(look: Look, account: AwsServer) -> None:
    level, text = look(region="us-wset-2")["region"]
    assert (level, "Did you mean 'us-west-2'?" in text) == ("fail", True)
    regions = [{"RegionName": "us-west-2", "Endpoint": "x", "OptInStatus": "not-opted-in"}]
    account.answer("ec2", "DescribeRegions", {"Regions": regions})
    found = look()
    assert list(found) == ["credentials", "region", "all others"]
    assert "aws account enable-region --region-name us-west-2" in found["region"][1]


def test_a_zone_without_eks(look: Look, account: AwsServer) -> None:
    zones = [
        {"ZoneName": f"us-east-1{name}", "ZoneId": f"use1-az{number}", "State": "available"}
        for name, number in (("a", 1), ("b", 2), ("e", 3))
    ]
    account.answer("ec2", "DescribeAvailabilityZones", {"AvailabilityZones": zones})
    asked = stack(network={"availability_zones": ["us-east-1a", "us-east-1e"]})
    level, text = look(asked, region="us-east-1")["zones"]
    assert level == "fail"
    assert "us-east-1e (use1-az3) has no EKS. Choose from us-east-1a, us-east-1b." in text


ALL = {
    "fsx": {"fsx": {"associations": {"data": {"s3_uri": "s3://no-such-bucket-of-ours"}}}},
    "ecr": {"repositories": ["mlops/digits"]},
    "vpc_endpoints": {"interface": ["sts"]},
}


def test_it_only_reads_and_the_documentation_names_every_action(look: Look, account: AwsServer, aws: Client) -> None:
    aws("ecr").create_repository(repositoryName="mlops/digits")
    aws("logs").create_log_group(logGroupName="/aws/eks/demo/cluster")
    account.asked.clear()
    spot = {"instance_type": "g5.xlarge", "capacity": {"type": "spot"}}
    block = {**P5, "placement_group": True, "capacity": {"type": "capacity_block", "reservation_id": BLOCK}}
    look(stack(accelerator_node_groups={"p5": block, "g5": spot}, **ALL))
    text = (ROOT / "docs" / "preflight.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z0-9]+:[A-Z]\w+)`", text))
    asked = {entry.replace("s3:HeadBucket", "s3:ListBucket") for entry in account.asked} - {"sts:GetCallerIdentity"}
    assert asked - named == set()
    assert {entry for entry in asked if not re.search(r":(Describe|Get|List)", entry)} == set()


def test_the_documentation_explains_every_check() -> None:
    text = (ROOT / "docs" / "preflight.md").read_text(encoding="utf-8")
    explained = {re.escape(name).replace("…", ".+") for name in re.findall(r"^\| ([^|]+) \|.*\|$", text, re.MULTILINE)}
    for check in (*FIRST, *CHECKS):
        assert any(re.fullmatch(pattern, check.name) for pattern in explained), check.name
