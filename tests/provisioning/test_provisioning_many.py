"""Many clusters in one play: in two regions, in waves, and with one among them that fails."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from provisioning import CONFIRMED, REAL, STACK, Site, Variables, host, leftovers, recap, words

# Slow: `make test-aws`.
pytestmark = pytest.mark.aws


def waves(first: int) -> tuple[str, str]:
    """Return the arguments for two waves, the first of so many clusters."""
    return "-e", json.dumps({"waves": [first, "100%"]})


def three(**variables: object) -> dict[str, Variables]:
    """Return three clusters of the real stack in two regions, with more variables of the stack."""
    east = {"network": {"availability_zones": ["us-east-1a", "us-east-1b"]}}
    return {
        "one": host(REAL | variables),
        "two": host(REAL | variables),
        "east": host(east | variables, region="us-east-1"),
    }


def test_three_clusters_in_two_regions_come_change_and_go_at_once(site: Site) -> None:
    site.inventory(three())
    site.succeed("cluster.yml")
    assert recap(site.succeed("cluster.yml")) == {"one": 0, "two": 0, "east": 0}
    assert [site.client("eks", region).list_clusters()["clusters"] for region in ("us-west-2", "us-east-1")] == [
        ["one", "two"],
        ["east"],
    ]

    site.inventory(three(endpoint={"public_cidrs": ["198.51.100.0/24"]}))
    said = site.succeed("cluster.yml", *waves(1))
    assert recap(said)["east"] > 0
    # One first, then the others.
    assert said.index("east | [1/1] changed module.cluster.aws_eks_cluster.this") < said.index("one | plan: ")

    # Only those that are named go.
    said = words(site.fail("teardown.yml", "-e", "confirm_destroy=one,east", *CONFIRMED[2:]))
    assert "add: -e confirm_destroy=two" in said
    assert (leftovers("one"), leftovers("east", "us-east-1")) == ([], [])
    assert "EKS cluster" in leftovers("two")
    site.succeed("teardown.yml", "-e", "confirm_destroy=one,two,east", *CONFIRMED[2:])
    assert leftovers("two") == []


def small(site: Site, bad: str, *, preflight: bool = False, **variables: object) -> Path:
    """Write an inventory of three clusters of a small stack, one of them with more variables; return their place."""
    how = {"eks_cluster_source": str(STACK), "eks_cluster_preflight": preflight}
    plain: Variables = {"kubernetes_version": "1.35"}
    site.inventory({name: host(plain | (variables if name == bad else {}), **how) for name in "abc"})
    return site.directory / "clusters"


def test_one_that_fails_stops_no_other_in_its_wave(site: Site) -> None:
    place = small(site, "b", region=[])
    assert "(variables.region)" in words(site.fail("cluster.yml"))
    assert [(place / name / "kubeconfig").exists() for name in "abc"] == [True, False, True]


def test_a_wave_in_which_one_fails_is_the_last(site: Site) -> None:
    place = small(site, "a", region=[])
    said = site.fail("cluster.yml", *waves(2))
    assert "c: not begun, because a failed in a wave before" in words(said)
    assert [(place / name / "kubeconfig").exists() for name in "abc"] == [False, True, False]
    assert not (place / "c").exists()


def test_one_that_cannot_be_made_stops_all_while_nothing_is_there(site: Site) -> None:
    place = small(site, "c", preflight=True, network={"availability_zones": ["eu-west-1a", "eu-west-1b"]})
    assert "c | FAIL  zones" in site.fail("cluster.yml")
    assert not place.exists()
