"""Ends that must last before they count: an operator may not have looked at a changed object yet."""

from __future__ import annotations

import pytest
from fakes.built import BEGIN, Document, outcome, reason, rules
from fakes.replay import drive, ticks

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import iso
from ansible_collections.mlops.eks.plugins.module_utils._follow import changes
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.table import KINDS

RULES = rules(kind=KINDS["ray.io/v1", "RayService"])
INVALID = {
    "conditions": [{"type": "Ready", "status": "False", "reason": "ValidationFailed", "message": "no such type"}]
}
STARTS = {"observedGeneration": 2, "conditions": [{"type": "Ready", "status": "False", "reason": "Initializing"}]}
BROKEN = {
    **STARTS,
    "pendingServiceStatus": {
        "rayClusterName": "x-4mq2w",
        "applicationStatuses": {"llm": {"status": "DEPLOY_FAILED", "message": "no module"}},
    },
}


def service(after: float, status: Document, generation: int = 2) -> changes.Change:
    metadata = {"name": "digits", "generation": generation}
    return changes.WorkloadSeen(at=BEGIN + after, entry={"metadata": metadata, "spec": {}, "status": status})


@pytest.mark.parametrize(("status", "why"), [(INVALID, "ValidationFailed"), (BROKEN, "DEPLOY_FAILED")])
def test_a_failure_of_a_changed_object_counts_when_it_stays(status: Document, why: str) -> None:
    state, _ = drive([service(0, status), *ticks(BEGIN, 29)], RULES)
    assert outcome(state) is None
    state, _ = drive([service(25, status), *ticks(BEGIN + 29, 2)], RULES, state)
    assert (outcome(state), reason(state)) == ("failed", why)


def test_of_an_object_as_it_was_created_it_counts_at_once() -> None:
    assert outcome(drive([service(0, INVALID, generation=1)], RULES)[0]) == "failed"


def test_a_failure_of_before_a_change_is_forgotten() -> None:
    state, _ = drive([service(0, BROKEN), *ticks(BEGIN, 20), service(20, STARTS), *ticks(BEGIN + 20, 60)], RULES)
    assert outcome(state) is None


SERVER = rules(kind=KINDS["apps/v1", "Deployment"])


def deployment(after: float) -> changes.Change:
    said = {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": "no progress"}
    spec = {"replicas": 1, "progressDeadlineSeconds": 600, "selector": {"matchLabels": {"app": "digits"}}}
    metadata = {"name": "digits", "generation": 1}
    status = {"observedGeneration": 1, "conditions": [said]}
    return changes.WorkloadSeen(at=BEGIN + after, entry={"metadata": metadata, "spec": spec, "status": status})


def replica(after: float, *, scheduled: bool) -> changes.Change:
    found = {"type": "PodScheduled", "status": "True", "lastTransitionTime": iso(BEGIN + after)}
    waits = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes"}
    metadata = {"name": "digits-1", "uid": "u1", "labels": {"app": "digits"}, "creationTimestamp": iso(BEGIN)}
    spec = {"containers": [{"name": "main"}], **({"nodeName": "gpu-1"} if scheduled else {})}
    status = {"phase": "Pending", "conditions": [found if scheduled else waits]}
    return changes.PodSeen(at=BEGIN + after, entry={"metadata": metadata, "spec": spec, "status": status})


def test_a_server_that_waited_for_a_node_has_its_progress_deadline_from_there() -> None:
    state, _ = drive([replica(0, scheduled=False), deployment(600), *ticks(BEGIN + 600, 3000)], SERVER)
    assert outcome(state) is None
    state, _ = drive([replica(3600, scheduled=True), *ticks(BEGIN + 3600, 598)], SERVER, state)
    assert outcome(state) is None
    state, _ = drive(ticks(BEGIN + 4199, 2), SERVER, state)
    assert (outcome(state), reason(state)) == ("failed", "ProgressDeadlineExceeded")
