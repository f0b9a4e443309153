"""What is there already: buckets, clusters, roles, VPCs."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from fakes.aws.answers import ZONES, stack
from fakes.aws.documents import ServiceError
from fakes.aws.server import AwsServer

Findings = dict[str, tuple[str, str]]
Look = Callable[..., Findings]
Client = Callable[..., t.Any]


def test_a_bucket_in_another_region_is_refused_for_fsx_and_told_of_for_a_job(look: Look, aws: Client) -> None:
    aws("s3", "eu-west-1").create_bucket(Bucket="far", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
    aws("s3").create_bucket(Bucket="near", CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
    job = {"namespace": "ml", "service_accounts": ["default"], "buckets": ["far/models", "near"]}
    of_fsx = {"fsx": {"associations": {"data": {"s3_uri": "s3://far/data"}}}}
    found = look(stack(fsx=of_fsx, pod_identities={"trainer": job}))
    assert found["bucket far"][0] == "fail"
    assert "for fsx fsx (data): it is in eu-west-1, the file system will be in us-west-2" in found["bucket far"][1]
    assert found["bucket near"][0] == "ok"
    level, text = look(stack(pod_identities={"trainer": job}))["bucket far"]
    assert (level, "costs and is slow" in text) == ("warn", True)


def test_a_bucket_that_this_identity_may_not_see_is_no_failure(look: Look, account: AwsServer) -> None:
    account.answer("s3", "HeadBucket", ServiceError("AccessDenied", status=403))
    level, text = look(stack(fsx={"fsx": {"associations": {"data": {"s3_uri": "s3://theirs"}}}}))["bucket theirs"]
    assert (level, "s3:ListBucket" in text) == ("warn", True)


def test_a_cluster_of_somebody_else_is_in_the_way_and_our_own_is_not(look: Look, account: AwsServer) -> None:
    cluster = {"name": "demo", "arn": "arn:aws:eks:us-west-2:123456789012:cluster/demo"}
    account.answer("eks", "DescribeCluster", {"cluster": cluster})
    level, text = look()["names of clusters"]
    assert (level, "without the tag mlops.eks/cluster=demo" in text) == ("fail", True)
    account.answer("eks", "DescribeCluster", {"cluster": {**cluster, "tags": {"mlops.eks/cluster": "demo"}}})
    found = look()
    assert found["names of clusters"][0] == "ok"
    # What it counts for is in use already.
    assert "quota of VPCs" not in found


def test_names_that_are_taken_are_told(look: Look, aws: Client) -> None:
    aws("iam").create_role(RoleName="demo-node", AssumeRolePolicyDocument="{}")
    ours = [{"Key": "mlops.eks/cluster", "Value": "demo"}]
    aws("iam").create_role(RoleName="demo-karpenter", AssumeRolePolicyDocument="{}", Tags=ours)
    aws("logs").create_log_group(logGroupName="/aws/eks/demo/cluster")
    aws("ecr").create_repository(repositoryName="mlops/digits", tags=ours)
    aws("efs").create_file_system(CreationToken="demo", Tags=ours)
    found = look(stack(ecr={"repositories": ["mlops/digits"]}))
    levels = {name: entry[0] for name, entry in found.items() if name.startswith("names of")}
    assert levels == {
        "names of clusters": "ok",
        "names of IAM roles": "fail",
        "names of EFS file systems": "ok",
        "names of ECR repositories": "ok",
        "names of log groups": "fail",
    }
    assert found["names of IAM roles"][1].startswith("demo-node: there already")
    assert "this stack's" in found["names of EFS file systems"][1]


def test_another_vpc_of_the_same_range_is_told_of(look: Look, aws: Client) -> None:
    vpc = aws("ec2").create_vpc(CidrBlock="192.168.128.0/17")["Vpc"]["VpcId"]
    level, text = look()["other VPCs"]
    assert (level, f"192.168.0.0/16 overlaps with {vpc}" in text) == ("warn", True)
    aws("ec2").create_tags(Resources=[vpc], Tags=[{"Key": "mlops.eks/cluster", "Value": "demo"}])
    assert look()["other VPCs"][0] == "ok"


def test_subnets_of_an_existing_vpc_are_looked_at(look: Look, aws: Client) -> None:
    vpc = aws("ec2").create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnets = {
        zone: aws("ec2").create_subnet(VpcId=vpc, CidrBlock=f"10.0.{place}.0/24", AvailabilityZone=zone)["Subnet"][
            "SubnetId"
        ]
        for place, zone in enumerate(ZONES)
    }
    existing = {"vpc_id": vpc, "private_subnets": subnets}
    assert look(stack(network={"existing": existing}))[f"VPC {vpc}"][0] == "ok"
    swapped = dict(zip(ZONES, reversed(subnets.values()), strict=True))
    wrong = stack(
        network={"existing": {**existing, "private_subnets": swapped}}, control_plane={"service_cidr": "10.0.0.0/20"}
    )
    found = look(wrong)
    assert f"{subnets['us-west-2b']} is in us-west-2b, not in us-west-2a" in found[f"VPC {vpc}"][1]
    assert "services 10.0.0.0/20 and VPC 10.0.0.0/16 overlap" in found["address ranges"][1]
