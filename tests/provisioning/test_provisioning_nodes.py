"""Node groups of the real stack: scaled in an order that EKS takes, never rolled by a tag, never lost unasked."""

from __future__ import annotations

import typing as t

import pytest
from botocore.exceptions import ClientError
from provisioning import CONFIRMED, REAL, Site, host, leftovers, recap, words

# Slow: `make test-aws`.
pytestmark = pytest.mark.aws

GROUP = {"instance_type": "g5.xlarge", "size": {"min": 1, "max": 4}}
IGNORED = ("-e", "eks_cluster_running_releases=ignore")


def asked(site: Site, *, key: str = "g5", group: dict[str, t.Any] | None = None, **more: t.Any) -> None:
    """Write what the cluster shall be."""
    groups = {key: {**GROUP, **(group or {})}}
    site.inventory({"demo": host(REAL | {"accelerator_node_groups": groups, "tags": {"team": "ml"}, **more})})


def described(site: Site) -> dict[str, t.Any]:
    """Return the group as EKS describes it."""
    eks = site.client("eks")
    (name,) = [name for name in eks.list_nodegroups(clusterName="demo")["nodegroups"] if name.startswith("g5-")]
    found: dict[str, t.Any] = eks.describe_nodegroup(clusterName="demo", nodegroupName=name)["nodegroup"]
    return found


def test_node_groups_are_changed_without_harm(site: Site) -> None:
    asked(site)
    site.succeed("cluster.yml")
    assert described(site)["scalingConfig"] == {"minSize": 1, "maxSize": 4, "desiredSize": 1}
    _is_refused_by_eks(site)

    # A tag and a minimum above the number of nodes: no node is replaced, and nobody is asked.
    asked(site, tags={"team": "llm"}, group={"size": {"min": 2, "max": 4}})
    site.succeed("cluster.yml")
    group = described(site)
    assert (group["scalingConfig"]["desiredSize"], group["launchTemplate"]["version"]) == (2, "1")
    assert group["updateConfig"] == {"maxUnavailable": 1}
    assert _tags(site, group)["team"] == "llm"
    assert recap(site.succeed("cluster.yml")) == {"demo": 0}

    # What an autoscaler did is kept.
    _resize(site, desiredSize=3)
    scaled: dict[str, t.Any] = {"autoscaler": "cluster-autoscaler", "tags": {"team": "llm"}}
    asked(site, **scaled, group={"size": {"min": 2, "max": 5}})
    site.succeed("cluster.yml")
    assert described(site)["scalingConfig"] == {"minSize": 2, "maxSize": 5, "desiredSize": 3}

    _is_not_lost_unasked(site, scaled)
    site.succeed("teardown.yml", *CONFIRMED)
    assert leftovers() == []


def _is_not_lost_unasked(site: Site, scaled: dict[str, t.Any]) -> None:
    larger = {"size": {"min": 2, "max": 5}, "volume": {"size": 300}}
    asked(site, **scaled, group=larger)
    for check in ((), ("--check",)):
        said = words(site.fail("cluster.yml", *check))
        assert (
            "refused, nothing was changed: this would replace all 3 nodes, for launch_template, of node group" in said
        )
        assert "the cluster cannot be asked what runs there" in said
        assert "-e eks_cluster_running_releases=ignore" in said
    assert described(site)["launchTemplate"]["version"] == "1"
    site.succeed("cluster.yml", *IGNORED)
    assert described(site)["launchTemplate"]["version"] == "2"

    asked(site, **scaled, group=larger, key="trainers")
    said = words(site.fail("cluster.yml", *IGNORED))
    address = 'module.accelerator_node_groups["g5"].aws_eks_node_group.this'
    lost = f"this would destroy {address} (its key or module is no longer in the stack), and lose what runs on its"
    assert f"{lost} nodes" in said
    assert address in said.partition("allow_replace: [")[2]
    assert described(site)["status"] == "ACTIVE"


def _is_refused_by_eks(site: Site) -> None:
    with pytest.raises(ClientError, match="Minimum capacity 2 can't be greater than desired size 1"):
        _resize(site, minSize=2)


def _resize(site: Site, **sizes: int) -> None:
    name = described(site)["nodegroupName"]
    site.client("eks").update_nodegroup_config(clusterName="demo", nodegroupName=name, scalingConfig=sizes)


def _tags(site: Site, group: dict[str, t.Any]) -> dict[str, str]:
    name = group["resources"]["autoScalingGroups"][0]["name"]
    found = site.client("autoscaling").describe_auto_scaling_groups(AutoScalingGroupNames=[name])
    return {tag["Key"]: tag["Value"] for tag in found["AutoScalingGroups"][0]["Tags"]}
