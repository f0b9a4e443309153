"""All that the real stack can make, made and removed again by its playbooks; what that was is kept for the docs."""

from __future__ import annotations

import subprocess
import typing as t
from pathlib import Path

import pytest
from applied import Applied, of_state, record, recorded
from provisioning import CONFIRMED, Site, host, leftovers, recap, words
from terraform_program import ROOT, find_program, opentofu_mirror

# Slow: `make test-aws`.
pytestmark = pytest.mark.aws

ZONE = {"availability_zone": "us-west-2b"}
EVERYTHING: dict[str, t.Any] = {
    "tags": {"team": "ml"},
    "network": {"availability_zones": ["us-west-2a", "us-west-2b", "us-west-2c"], "nat_gateways": "per_zone"},
    "vpc_endpoints": {"interface": ["ecr.api", "ecr.dkr"]},
    "endpoint": {"public_cidrs": ["203.0.113.0/24"]},
    "control_plane": {"oidc_provider": True},
    "access": {
        "team": {
            "principal_arn": "arn:aws:iam::123456789012:role/team",
            "policies": {"AmazonEKSEditPolicy": ["ml"], "AmazonEKSViewPolicy": []},
        }
    },
    "accelerator_node_groups": {
        "p4d": {
            "instance_type": "p4d.24xlarge", **ZONE, "efa": {"enabled": True}, "placement_group": True,
            "instance_store": "raid0", "capacity": {"type": "reserved", "reservation_id": "cr-0123456789abcdef0"},
        },
        "g5": {"instance_type": "g5.xlarge", "capacity": {"type": "spot"}, "labels": {"pool": "g5"}},
    },
    "efs": {"infrequent_after_days": 30},
    "ecr": {"repositories": ["mlops/digits"], "keep_images": 20},
    "pod_identities": {"trainer": {"namespace": "ml", "service_accounts": ["default"], "buckets": ["bucket/data"]}},
}  # fmt: skip
FSX: dict[str, t.Any] = {
    "fsx": {**ZONE, "associations": {"data": {"s3_uri": "s3://mlops-eks-data/fsx/"}}},
    "fast": {
        **ZONE, "deployment_type": "PERSISTENT_2", "storage_capacity": 4800, "throughput_per_unit": 1000, "efa": True,
        "associations": {"runs": {"s3_uri": "s3://mlops-eks-data/fast/", "export": ["NEW"]}},
    },
}  # fmt: skip


@pytest.fixture(params=["terraform", "tofu"])
def program(request: pytest.FixtureRequest, site: Site, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of the program that the playbooks run."""
    monkeypatch.setenv("MLOPS_EKS_TERRAFORM", find_program(request.param))
    if request.param == "tofu":
        site.use_mirror(opentofu_mirror(site.directory / "mirror"))
    name: str = request.param
    return name


def test_everything_is_made_and_removed(site: Site, program: str, request: pytest.FixtureRequest) -> None:
    # Every Lustre file system holds a program up by fixed delays, so one of them does without.
    variables = EVERYTHING | ({"fsx": FSX} if program == "terraform" else {})
    # Preflight would ask for the reservation and the bucket.
    how = {"eks_cluster_backend": site.backend("demo"), "eks_cluster_preflight": False}
    site.inventory({"demo": host(variables, **how)})
    assert "create   module.cluster.aws_eks_cluster.this" in site.succeed("cluster.yml", "--check")
    assert leftovers() == []
    site.succeed("cluster.yml", timeout=1800)
    made = of_state(by_hand(site, "state", "list").split())
    assert recap(site.succeed("cluster.yml")) == {"demo": 0}

    said = words(site.succeed("teardown.yml", *CONFIRMED, timeout=2400))
    assert said.count("4 files exported, none failed") == len(variables.get("fsx", ()))
    assert leftovers() == []
    assert by_hand(site, "state", "list").split() == []
    assert recap(site.succeed("teardown.yml", *CONFIRMED)) == {"demo": 0}

    if request.config.getoption("--update-golden"):
        version = by_hand(site, "version").splitlines()[0].replace(" v", " ")
        record(program, Applied(str(Path(__file__).relative_to(ROOT)), version, made))
    assert made == recorded()[program].blocks


def by_hand(site: Site, *arguments: str) -> str:
    """Return what the program of the cluster's directory says."""
    script = site.directory / "clusters/demo/terraform/run"
    return subprocess.run([str(script), *arguments], capture_output=True, text=True, check=True).stdout
