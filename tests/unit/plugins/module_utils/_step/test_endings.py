"""Ends that must last before they count: an operator may not have looked at a changed object yet."""

from __future__ import annotations

import pytest
from fakes.built import BEGIN, Document, outcome, reason, rules
from fakes.replay import drive, ticks

from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds import KINDS
from ansible_collections.mlops.eks.plugins.module_utils._step import changes

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
