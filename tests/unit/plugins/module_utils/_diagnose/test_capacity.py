"""What the cluster could have: read where it may be, unknown where somebody else may bring nodes."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field

import pytest
from fakes.made import BEGIN, Document, stamp

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import AbsentError, ClusterError, ForbiddenError
from ansible_collections.mlops.eks.plugins.module_utils._diagnose import capacity
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Kube

NODES, POOLS = "/api/v1/nodes", "/apis/karpenter.sh/v1/nodepools"
EVENTS, NODE_EVENTS = "/api/v1/namespaces/team/events", "/api/v1/namespaces/default/events"
OLDER = "/apis/karpenter.sh/v1beta1/nodepools"
CONFIG_MAPS, KARPENTER = "/api/v1/configmaps", "/apis/karpenter.sh"
SMALL = {"metadata": {"name": "a"}, "spec": {}, "status": {"allocatable": {"cpu": "4", "pods": "110"}}}
GREEDY: Document = {
    "metadata": {"name": "x"},
    "spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "1000"}}}]},
}
KEEPS = "no node could run it, even empty: it asks for 1000 cpu, but there is at most 4 (1 node)."


@dataclass
class Cluster:
    """Stands for the client."""

    answers: dict[str, t.Any] = field(default_factory=dict)
    namespace: str = "team"
    asked: dict[str, Document] = field(default_factory=dict)

    def request(self, method: str, path: str, *, params: Document) -> Document:
        assert method == "GET"
        self.asked[path] = params
        answer = self.answers.get(path, [SMALL] if path == NODES else [])
        if isinstance(answer, Exception):
            raise answer
        return {"items": answer}

    def get(self, path: str) -> Document | None:
        return t.cast(Document | None, self.answers.get(path))


def kept(answers: dict[str, t.Any], pod: Document = GREEDY) -> str:
    return capacity.why_no_node(pod, capacity.read(t.cast(Kube, Cluster(answers)), BEGIN))


def test_too_much_for_every_node_where_nothing_grows() -> None:
    alone = " There is no NodePool of Karpenter and no cluster autoscaler that could make one."
    assert kept({}) == KEEPS + alone
    # No Karpenter at all: the API does not know its group.
    absent = AbsentError("no such API")
    assert kept({POOLS: absent, OLDER: absent}) == KEEPS + alone


def test_a_cluster_without_nodes() -> None:
    assert kept({NODES: []}).startswith("the cluster has no nodes. There is no NodePool")


def test_one_node_that_fits_is_enough() -> None:
    large = {"metadata": {"name": "b"}, "spec": {}, "status": {"allocatable": {"cpu": "2000", "pods": "110"}}}
    assert kept({NODES: [SMALL, large]}) == ""


def test_a_node_pool_that_could_make_one() -> None:
    gpu = {"metadata": {"name": "gpu"}, "spec": {"template": {"spec": {}}}}
    assert kept({POOLS: [gpu]}) == ""


def test_node_pools_that_could_not() -> None:
    small = {"metadata": {"name": "small"}, "spec": {"limits": {"cpu": "100"}}}
    tainted = {
        "metadata": {"name": "gpu"},
        "spec": {"template": {"spec": {"taints": [{"key": "gpu", "effect": "NoSchedule"}]}}},
    }
    assert kept({POOLS: [small, tainted]}) == (
        f"{KEEPS} Karpenter cannot make one (small, gpu): it asks for 1000 cpu, but there is at most 100 "
        "(1 NodePool); it does not tolerate the taint gpu:NoSchedule (1 NodePool)."
    )


@pytest.mark.parametrize(
    "answers",
    [
        # The cluster autoscaler: what its groups could become stands nowhere in the cluster.
        {CONFIG_MAPS: [{"metadata": {"name": "cluster-autoscaler-status"}}]},
        {EVENTS: [{"reason": "NotTriggerScaleUp"}]},
        # A node left a minute ago.
        {NODE_EVENTS: [{"reason": "RemovingNode", "metadata": {}, "lastTimestamp": stamp(-60)}]},
    ],
)
def test_capacity_is_unknown_if_nodes_may_come_otherwise(answers: dict[str, t.Any]) -> None:
    assert capacity.read(t.cast(Kube, Cluster(answers)), BEGIN) is None
    assert kept(answers) == ""


def test_a_node_that_left_long_ago_is_not_replaced_any_more() -> None:
    assert kept({NODE_EVENTS: [{"metadata": {}, "lastTimestamp": stamp(-901)}]}).startswith(KEEPS)


def test_a_karpenter_of_another_version_is_not_judged() -> None:
    absent = AbsentError("no such version")
    with pytest.raises(ClusterError):
        kept({POOLS: absent, OLDER: absent, KARPENTER: {"versions": [{"version": "v2"}]}})


def test_a_karpenter_of_an_older_version_is_judged() -> None:
    small = {"metadata": {"name": "small"}, "spec": {"limits": {"cpu": "100"}}}
    assert "Karpenter cannot make one (small)" in kept({POOLS: AbsentError("no such version"), OLDER: [small]})


@pytest.mark.parametrize("path", [NODES, POOLS, CONFIG_MAPS, EVENTS, NODE_EVENTS])
def test_capacity_needs_its_permissions(path: str) -> None:
    with pytest.raises(ForbiddenError):
        kept({path: ForbiddenError("no rights", status=403)})


def test_only_what_is_needed_is_asked_for() -> None:
    cluster = Cluster()
    capacity.read(t.cast(Kube, cluster), BEGIN)
    assert {path: params.get("fieldSelector") for path, params in cluster.asked.items()} == {
        CONFIG_MAPS: "metadata.name=cluster-autoscaler-status",
        EVENTS: "source=cluster-autoscaler",
        NODE_EVENTS: "involvedObject.kind=Node,reason=RemovingNode",
        POOLS: None,
        NODES: None,
    }


@pytest.mark.parametrize(
    "more",
    [{"schedulerName": "volcano"}, {"nodeName": "a"}, {"schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]}],
)
def test_a_pod_that_others_place_may_wait(more: Document) -> None:
    assert kept({}, {**GREEDY, "spec": {**GREEDY["spec"], **more}}) == ""
