"""`cluster.yml` looks before it spends: nothing is made while a check fails."""

from __future__ import annotations

from provisioning import REAL, Site, leftovers, recap, small_host, words


def test_nothing_is_made_while_a_check_fails(small: Site) -> None:
    wrong = {"availability_zones": ["us-west-2a", "eu-west-1b"]}
    small.inventory({"demo": small_host(small, preflight=True, network=wrong)})
    said = small.fail("cluster.yml")
    assert "demo | FAIL  zones" in said
    assert "eu-west-1b is no zone of us-west-2. Choose from us-west-2a, us-west-2b" in said
    # The others are made all the same, and what it would cost is told.
    assert "demo | ok    credentials" in said
    assert "demo | in all" in said
    assert "checks failed: zones. Nothing was changed." in words(said)
    assert recap(said) == {"demo": 0}
    assert small.client("s3").list_buckets()["Buckets"] == []
    assert leftovers() == []
    assert not (small.directory / "clusters").exists()

    small.inventory({"demo": small_host(small, preflight=True, **REAL)})
    said = small.succeed("cluster.yml")
    assert "FAIL" not in said
    assert said.index("demo | in all") < said.index("terraform_data.cluster")
    assert (small.directory / "clusters/demo/kubeconfig").exists()
