"""The whole life of clusters by their playbooks: planned, made, quiet, changed, removed; and nothing is left."""

from __future__ import annotations

import typing as t

import pytest
import yaml
from provisioning import CONFIRMED, REAL, Site, host, leftovers, recap, words

# Slow: `make test-aws`.
pytestmark = pytest.mark.aws


def test_a_cluster_is_planned_made_changed_and_removed(site: Site) -> None:
    looked_at = {"eks_cluster_preflight": True, "eks_cluster_backend": site.backend("demo")}
    site.inventory({"demo": host(**looked_at)})
    said = site.succeed("cluster.yml", "--check")
    assert "create   module.cluster.aws_eks_cluster.this" in said
    assert leftovers() == []
    assert site.client("s3").list_buckets()["Buckets"] == []

    site.succeed("cluster.yml")
    _is_handed_on(site)
    assert recap(site.succeed("cluster.yml")) == {"demo": 0}
    assert site.client("s3").get_bucket_versioning(Bucket="mlops-eks-state")["Status"] == "Enabled"

    changed: dict[str, t.Any] = REAL | {"endpoint": {"public_cidrs": ["198.51.100.0/24"]}}
    site.inventory({"demo": host(changed, **looked_at)})
    said = site.succeed("cluster.yml", "--check", "--diff")
    assert "change   module.cluster.aws_eks_cluster.this" in said
    assert "198.51.100.0/24" in said
    site.succeed("cluster.yml")
    network = site.client("eks").describe_cluster(name="demo")["cluster"]["resourcesVpcConfig"]
    assert network["publicAccessCidrs"] == ["198.51.100.0/24"]

    said = words(site.fail("teardown.yml"))
    assert "To remove it, add: -e confirm_destroy=demo" in said
    assert recap(site.succeed("teardown.yml", "--check", *CONFIRMED))["demo"] > 0
    assert "EKS cluster" in leftovers()

    site.succeed("teardown.yml", *CONFIRMED)
    assert leftovers() == []
    assert not (site.directory / "clusters/demo/kubeconfig").exists()
    assert recap(site.succeed("teardown.yml", *CONFIRMED)) == {"demo": 0}


def _is_handed_on(site: Site) -> None:
    kubeconfig = site.directory / "clusters/demo/kubeconfig"
    assert kubeconfig.stat().st_mode & 0o777 == 0o600
    login = yaml.safe_load(kubeconfig.read_text(encoding="utf-8"))["users"][0]["user"]["exec"]
    assert login["args"][:6] == ["eks", "get-token", "--cluster-name", "demo", "--region", "us-west-2"]
    variables = yaml.safe_load((site.directory / "clusters/demo/host_vars.yml").read_text(encoding="utf-8"))
    described = site.client("eks").describe_cluster(name="demo")["cluster"]
    handed: dict[str, t.Any] = variables["eks_cluster_result"]
    assert handed["cluster"]["endpoint"] == described["endpoint"]
    assert set(handed["network"]["private_subnets"]) == {"us-west-2a", "us-west-2b"}
    assert handed["efs"]["id"].startswith("fs-")
