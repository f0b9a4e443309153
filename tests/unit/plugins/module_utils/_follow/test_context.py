"""What is fetched to explain why a step waits, how often, and what happens where it is refused."""

from __future__ import annotations

import threading
import typing as t
from dataclasses import dataclass, field, replace
from itertools import pairwise

import pytest
from fakes.built import rules
from fakes.made import BEGIN, Document, condition, pod, runs

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import (
    AbsentError,
    ForbiddenError,
    UnreachableError,
)
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.capacity import Capacity
from ansible_collections.mlops.eks.plugins.module_utils._follow.changes import CapacitySeen, ContextSeen
from ansible_collections.mlops.eks.plugins.module_utils._follow.context import Context
from ansible_collections.mlops.eks.plugins.module_utils._follow.state import State, start
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Kube

CLAIMS = "/api/v1/namespaces/team/persistentvolumeclaims"
EVENTS = "/api/v1/namespaces/team/events"
NODE_CLAIMS = "/apis/karpenter.sh/v1/nodeclaims"
OLD_NODE_CLAIMS = "/apis/karpenter.sh/v1beta1/nodeclaims"
NODE_EVENTS = "/api/v1/namespaces/default/events"
NODES = "/api/v1/nodes"
CONFIG_MAPS = "/api/v1/configmaps"
POOLS = "/apis/karpenter.sh/v1/nodepools"


@dataclass
class Listing:
    """Stands for the client: answers lists from a dictionary and notes what was asked for."""

    answers: dict[str, t.Any]
    namespace: str = "team"
    asked: list[str] = field(default_factory=list)

    def request(self, method: str, path: str, *, params: Document | None = None) -> Document:
        assert method == "GET"
        self.asked.append(path)
        answer = self.answers.get(path, [])
        if isinstance(answer, Exception):
            raise answer
        return {"items": answer}

    def get(self, path: str) -> Document | None:
        self.asked.append(path)
        return t.cast(Document | None, self.answers.get(path))


@dataclass
class Fetcher:
    """A `Context` over a `Listing`; each fetch is awaited."""

    kube: Listing
    told: list[ContextSeen | CapacitySeen] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.context = Context(t.cast(Kube, self.kube), self.told.append)

    @property
    def seen(self) -> list[ContextSeen]:
        return [one for one in self.told if isinstance(one, ContextSeen)]

    @property
    def capacities(self) -> list[CapacitySeen]:
        return [one for one in self.told if isinstance(one, CapacitySeen)]

    def fetch(self, state: State, after: float) -> list[str]:
        """Return the paths that one fetch requested."""
        before = len(self.kube.asked)
        self.context.fetch(state, BEGIN + after)
        for thread in threading.enumerate():
            if thread.name == "context":
                thread.join()
        return self.kube.asked[before:]


def waiting(*, volumes: bool = False, kept: str = "") -> State:
    """Return the state of a pod that has no node, judged to be worth waiting for unless something keeps it away."""
    found = condition("PodScheduled", "False", 1, reason="Unschedulable", message="0/1 nodes are available.")
    mounts = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}] if volumes else []
    one = pod("digits-x", phase="Pending", node=None, conditions=[found], spec={"volumes": mounts})
    return replace(start(rules(), BEGIN), pods={"digits-x": one}, infeasible={"digits-x": kept})


def entry(name: str, version: str = "1") -> Document:
    return {"metadata": {"name": name, "uid": name, "resourceVersion": version}}


def test_only_what_explains_is_fetched_and_each_entry_has_its_kind() -> None:
    fetcher = Fetcher(Listing({CLAIMS: [entry("data")], NODE_CLAIMS: [entry("gpu-1")]}))
    looked_up = [CONFIG_MAPS, EVENTS, NODE_EVENTS, POOLS, NODES]
    assert fetcher.fetch(waiting(volumes=True), 6) == [*looked_up, CLAIMS, EVENTS, EVENTS, NODE_CLAIMS, NODE_EVENTS]
    assert [one["kind"] for one in fetcher.seen[0].entries] == ["PersistentVolumeClaim", "NodeClaim"]


def test_nothing_is_fetched_in_the_first_seconds_or_once_it_runs() -> None:
    fetcher = Fetcher(Listing({}))
    young = replace(waiting(), pods={})
    assert fetcher.fetch(young, 2) == []
    assert fetcher.fetch(replace(young, running=True, pods={"x": pod("x", runs())}), 60) == []


def test_the_looks_become_rarer_while_nothing_changes() -> None:
    fetcher = Fetcher(Listing({NODE_CLAIMS: [entry("gpu-1")]}))
    looks = [after for after in range(6, 366) if NODE_CLAIMS in fetcher.fetch(waiting(), after)]
    gaps = [later - earlier for earlier, later in pairwise(looks)]
    assert gaps == [15, 30, 60, 60, 60, 60, 60]


def test_a_change_makes_the_looks_frequent_again() -> None:
    fetcher = Fetcher(Listing({NODE_CLAIMS: [entry("gpu-1")]}))
    for after in range(6, 200):
        fetcher.fetch(waiting(), after)
    fetcher.kube.answers[NODE_CLAIMS] = [entry("gpu-1", "2")]
    looks = [after for after in range(200, 300) if NODE_CLAIMS in fetcher.fetch(waiting(), after)]
    assert looks[1] - looks[0] == 15


@pytest.mark.parametrize("error", [AbsentError("no such API"), ForbiddenError("no rights", status=403)])
def test_what_is_not_there_or_not_allowed_is_asked_for_once(error: Exception) -> None:
    fetcher = Fetcher(Listing({NODE_CLAIMS: error, OLD_NODE_CLAIMS: error}))
    assert NODE_CLAIMS in fetcher.fetch(waiting(), 6)
    assert fetcher.seen[0].entries == ()
    assert NODE_CLAIMS not in fetcher.fetch(waiting(), 300)


@pytest.mark.parametrize(("kept", "gaps"), [("", [300, 300]), ("it asks for 8 gpu", [15] * 43)])
def test_all_nodes_are_looked_at_seldom_unless_none_fits(kept: str, gaps: list[int]) -> None:
    fetcher = Fetcher(Listing({NODES: []}))
    looks = [after for after in range(6, 666) if NODES in fetcher.fetch(waiting(kept=kept), after)]
    assert [later - earlier for earlier, later in pairwise(looks)] == gaps
    assert {one.capacity for one in fetcher.capacities} == {Capacity(nodes=())}


def test_a_pod_that_was_not_judged_is_soon() -> None:
    fetcher = Fetcher(Listing({}))
    assert NODES in fetcher.fetch(waiting(), 6)
    assert NODES in fetcher.fetch(replace(waiting(), infeasible={}), 21)


@pytest.mark.parametrize("path", [NODES, CONFIG_MAPS, POOLS, NODE_EVENTS])
def test_nodes_that_may_not_be_looked_at_are_asked_for_once(path: str) -> None:
    fetcher = Fetcher(Listing({path: ForbiddenError("no rights", status=403)}))
    fetcher.fetch(waiting(), 6)
    assert [one.capacity for one in fetcher.capacities] == [None]
    assert CONFIG_MAPS not in fetcher.fetch(replace(waiting(), infeasible={}), 600)


def test_a_look_that_fails_tells_nothing_and_is_repeated() -> None:
    fetcher = Fetcher(Listing({NODES: UnreachableError("no answer")}))
    fetcher.fetch(waiting(), 6)
    fetcher.kube.answers[NODES] = []
    fetcher.fetch(waiting(), 306)
    assert [one.capacity for one in fetcher.capacities] == [None, Capacity(nodes=())]


def test_an_older_operator_is_asked_by_the_version_it_serves() -> None:
    fetcher = Fetcher(Listing({NODE_CLAIMS: AbsentError("no such API"), OLD_NODE_CLAIMS: [entry("gpu-1")]}))
    looks = [NODE_CLAIMS, OLD_NODE_CLAIMS, NODE_EVENTS]
    assert fetcher.fetch(waiting(), 6)[-3:] == looks
    assert [one["kind"] for one in fetcher.seen[0].entries] == ["NodeClaim"]
    assert fetcher.fetch(waiting(), 300)[-2:] == looks[1:]
    assert NODE_CLAIMS not in fetcher.fetch(waiting(), 600)


def test_kueue_is_asked_by_the_version_it_serves() -> None:
    new, old = (f"/apis/kueue.x-k8s.io/{version}/namespaces/team/workloads" for version in ("v1beta2", "v1beta1"))
    fetcher = Fetcher(Listing({new: AbsentError("no such API"), old: [entry("job-digits")]}))
    queued = replace(start(rules(), BEGIN), workload={"metadata": {"labels": {"kueue.x-k8s.io/queue-name": "q"}}})
    assert fetcher.fetch(queued, 6)[:2] == [new, old]
    assert [one["kind"] for one in fetcher.seen[0].entries] == ["Workload"]


def test_silent_waiting_costs_few_requests() -> None:
    fetcher = Fetcher(Listing({CLAIMS: [entry("data")], NODE_CLAIMS: [entry("gpu-1")]}))
    for after in range(6, 186):
        fetcher.fetch(waiting(volumes=True), after)
    fetcher.kube.asked.clear()
    for after in range(186, 486):
        fetcher.fetch(waiting(volumes=True), after)
    assert len(fetcher.kube.asked) / 5 <= 6


def test_nodes_of_a_failed_step_and_the_warnings_about_them() -> None:
    node = {"metadata": {"name": "node-a"}}
    fetcher = Fetcher(Listing({"/api/v1/nodes/node-a": node, NODE_EVENTS: [entry("e")]}))
    found = fetcher.context.nodes({"node-a", "node-b"})
    assert [one["kind"] for one in found] == ["Node", "Event", "Node", "Event"]
    assert [bool(one.get("gone")) for one in found if one["kind"] == "Node"] == [False, True]


def test_nodes_that_may_not_be_seen_are_not_spoken_of() -> None:
    fetcher = Fetcher(Listing({}))
    fetcher.kube.get = lambda path: (_ for _ in ()).throw(ForbiddenError("no rights", status=403))  # type: ignore[method-assign]
    assert fetcher.context.nodes({"node-a"}) == ()
