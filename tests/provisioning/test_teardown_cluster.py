"""A teardown asks the cluster itself: a real API server stands behind the endpoint of a made-up EKS cluster."""

from __future__ import annotations

import json
import typing as t
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from controllers import BALANCER, Controllers, service, volume
from provisioning import Site, kill_at, log_in, recap, small_host, words
from samples import gated
from space import Space, fresh

# All of a cluster is emptied, so it is one that no other test uses at the same time.
pytestmark = [pytest.mark.cluster, pytest.mark.slow]

CONFIRMED = ("-e", "confirm_destroy=demo", "-e", "teardown_settle=0")


@dataclass(frozen=True)
class Demo:
    """The cluster demo, as AWS and as Kubernetes see it."""

    site: Site
    space: Space

    @property
    def outcome(self) -> str:
        """What the ledger says of the one step."""
        return str(self.space.ledger()["train"]["outcome"])


@pytest.fixture
def demo(small: Site, second_cluster: t.Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Demo]:
    """A cluster that has been made, on which a run goes on that nobody follows any more."""
    config = json.loads(Path(second_cluster.kubeconfig).read_text(encoding="utf-8"))
    server = config["clusters"][0]["cluster"]
    log_in(small.directory, "demo", config["users"][0]["user"], monkeypatch)
    behind = {"endpoint": server["server"], "certificate_authority": server["certificate-authority-data"]}
    with fresh(second_cluster.kubeconfig, small.directory) as space:
        kubernetes = {"kubeconfig": "clusters/demo/kubeconfig", "kube_namespace": space.namespace}
        small.inventory({"demo": small_host(small, **behind) | kubernetes})
        small.succeed("cluster.yml")
        subnet = small.client("ec2").describe_subnets()["Subnets"][0]["SubnetId"]
        small.client("eks").create_cluster(
            name="demo", roleArn="arn:aws:iam::123456789012:role/demo", resourcesVpcConfig={"subnetIds": [subnet]},
            tags={"mlops.eks/cluster": "demo"},
        )  # fmt: skip
        pipeline = space.pipeline(train=gated())
        kill_at(small.start("train.yml", "-e", f"pipeline={pipeline}"), "| tick ")
        yield Demo(small, space)


def test_the_cluster_is_emptied_before_it_is_removed(demo: Demo) -> None:
    site, space = demo.site, demo.space
    where, kubeconfig = space.namespace, site.directory / "clusters/demo/kubeconfig"
    service(space, "web")
    volume(space, "data")

    said = site.fail("teardown.yml", *CONFIRMED)
    assert f"cluster demo runs {where}/run. Wait until they end, or add -e teardown_running_releases=stop" in words(
        said
    )
    assert recap(said) == {"demo": 0}

    told = words(site.succeed("teardown.yml", "--check")).partition("cluster demo: a real run would refuse")[2]
    assert "To remove it, add: -e confirm_destroy=demo" in told
    assert f"cluster demo runs {where}/run. Wait until they end" in told

    stop = (*CONFIRMED, "-e", "teardown_running_releases=stop")
    said = site.succeed("teardown.yml", "--check", *stop)
    assert "would stop train" in said
    assert "a real run would begin" in said
    assert f"would delete Service {where}/web" in said
    assert f"would delete PersistentVolumeClaim {where}/data" in said
    assert (demo.outcome, space.names("services")) == ("running", ["web"])

    # Nobody removes the load balancer, so nothing of the cluster goes; the run is none of this one's business.
    ignored = ("-e", "teardown_running_releases=ignore", "-e", "teardown_timeout=2")
    said = words(site.fail("teardown.yml", *CONFIRMED, *ignored))
    assert f"Service {where}/web waits for the load balancer controller (finalizers: {BALANCER})" in said
    assert "-e teardown_without_api=true removes it" in said
    assert demo.outcome == "running"
    assert kubeconfig.exists()

    with Controllers(space):
        said = site.fail("teardown.yml", *stop)
    assert "stopped train" in said
    assert demo.outcome == "cancelled"
    assert list((site.directory / "runs").glob("*-run-stop-*/demo/*/logs/*"))
    assert space.names("services") == space.names("persistentvolumeclaims") == space.names("jobs") == []
    assert said.index("stopped train") < said.index("destroyed terraform_data.cluster")
    assert not kubeconfig.exists()

    # The small stack knows nothing of the EKS cluster, so it is left in the end.
    assert "aws eks delete-cluster --name demo --region us-west-2" in said
    site.client("eks").delete_cluster(name="demo")
    assert recap(site.succeed("teardown.yml", *CONFIRMED)) == {"demo": 0}
