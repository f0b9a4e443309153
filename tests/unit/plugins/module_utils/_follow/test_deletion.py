"""A workload that is deleted: its pods are followed until they end, at most for their grace period."""

from __future__ import annotations

import typing as t

import pytest
from fakes.built import RUNS, outcome, pod, reason, rules, workload
from fakes.made import BEGIN, Document, container, ended, runs, stamp, waits
from fakes.made import pod as made_pod
from fakes.replay import drive, ticks

from ansible_collections.mlops.eks.plugins.module_utils._follow import changes
from ansible_collections.mlops.eks.plugins.module_utils._follow.drain import (
    grace_seconds,
    pod_names,
    still_running,
    wait_is_over,
)
from ansible_collections.mlops.eks.plugins.module_utils._follow.outcome import settle
from ansible_collections.mlops.eks.plugins.module_utils._follow.state import State


def told(state: State) -> str:
    return str(t.cast(t.Any, state.ending).cause)


def running(name: str = "digits-x", *, deleted: bool = False, **spec: float) -> Document:
    entry = made_pod(name, phase="Running")
    entry["metadata"].update({"deletionTimestamp": stamp(31), "deletionGracePeriodSeconds": 30} if deleted else {})
    entry["spec"].update(spec)
    return entry


def seen(after: float, entry: Document) -> changes.Change:
    return changes.PodSeen(at=BEGIN + after, entry=entry)


def gone(after: float) -> changes.Change:
    return changes.WorkloadGone(at=BEGIN + after)


def pod_gone(after: float, entry: Document) -> changes.Change:
    return changes.PodGone(at=BEGIN + after, entry=entry)


BEGUN = [workload(0), pod(0, RUNS, phase="Running"), gone(1)]


def test_its_end_is_that_of_its_pods() -> None:
    state, said = drive([*BEGUN, seen(1, running(deleted=True)), *ticks(BEGIN + 1, 20)], rules())
    assert outcome(state) is None
    assert said[-1] == "Job digits: deleted; waiting for digits-x to end, 35 s at most"
    state, _ = drive([pod(22, ended(0, 22), phase="Succeeded")], rules(), state)
    assert (outcome(state), reason(state)) == ("lost", "Deleted")
    assert "it was deleted while it ran. " in f"{told(state)} "


def test_pods_that_vanish_are_not_waited_for() -> None:
    state, _ = drive([*BEGUN, pod_gone(2, running(deleted=True))], rules())
    assert (outcome(state), reason(state)) == ("lost", "Deleted")


def test_without_pods_it_ends_at_once() -> None:
    assert outcome(drive([workload(0), gone(1)], rules())[0]) == "lost"


def test_a_pod_of_a_silent_node_is_waited_for_no_longer_than_it_may_take() -> None:
    state, _ = drive([*BEGUN, seen(1, running(deleted=True)), *ticks(BEGIN + 1, 34)], rules())
    assert outcome(state) is None
    state, _ = drive(ticks(BEGIN + 35, 1), rules(), state)
    assert "and digits-x still there 35 s later" in told(state)


def test_a_long_grace_period_is_waited_for_and_explained() -> None:
    saving = running(deleted=True, terminationGracePeriodSeconds=1200)
    saving["metadata"]["deletionGracePeriodSeconds"] = 1200
    state, said = drive([*BEGUN, seen(1, saving), *ticks(BEGIN + 1, 1203)], rules(heartbeat=60))
    assert outcome(state) is None
    assert "Job digits: deleted 10 min ago; waiting for digits-x to end, 10 min 5 s at most" in said
    state, _ = drive([pod(1205, ended(0, 1205), phase="Succeeded")], rules(), state)
    assert (outcome(state), reason(state)) == ("lost", "Deleted")


def test_orphaned_pods_are_named_soon() -> None:
    state, _ = drive([*BEGUN, *ticks(BEGIN + 1, 14)], rules())
    assert outcome(state) is None
    state, _ = drive(ticks(BEGIN + 15, 1), rules(), state)
    assert "and digits-x still there 15 s later" in told(state)


def test_what_its_pods_come_to_and_another_of_its_name_do_not_count() -> None:
    """A container that SIGTERM ended is not why; and a Job that is made anew is not the one that was followed."""
    begun = [workload(0), pod(0, RUNS, phase="Running"), seen(0, running("digits-y")), gone(1)]
    late = [pod(2, ended(143, 2), phase="Failed"), workload(3, "Failed"), *ticks(BEGIN + 3, 2)]
    state, _ = drive([*begun, *late], rules(timeout=3))
    assert outcome(state) is None
    state, _ = drive([pod_gone(6, running("digits-y"))], rules(timeout=3), state)
    assert (outcome(state), reason(state)) == ("lost", "Deleted")


def test_a_lock_that_is_lost_meanwhile_ends_nothing() -> None:
    """Who stops a run takes the lock and deletes the workload; who deleted it is asked when the pods have ended."""
    state, _ = drive([*BEGUN, changes.LockLost(at=BEGIN + 2, holder="other")], rules())
    assert outcome(state) is None
    assert reason(drive([pod(3, ended(0, 3), phase="Succeeded")], rules(), state)[0]) == "Deleted"


def test_a_pod_is_deleted_since_it_was_first() -> None:
    """Its kubelet deletes it again when its container has ended; that it then ended by itself is not true."""
    limit = {"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": "too often"}
    last = made_pod("digits-x", ended(143, 3), phase="Failed")
    last["metadata"].update({"deletionTimestamp": stamp(4), "deletionGracePeriodSeconds": 0})
    begun = [workload(0), pod(0, RUNS, phase="Running"), seen(1, running(deleted=True)), seen(4, last)]
    state, _ = drive([*begun, workload(5, status={"conditions": [limit]})], rules())
    assert reason(state) == "PodDeleted"
    assert reason(settle(state, [last], rules())) == "PodDeleted"


@pytest.mark.parametrize(
    ("entry", "seconds"),
    [
        (running(), 35),
        (running(terminationGracePeriodSeconds=90), 95),
        (running(terminationGracePeriodSeconds=0), 5),
        (running(terminationGracePeriodSeconds=3600), 3605),
        (running(terminationGracePeriodSeconds=3600, deleted=True), 35),
    ],
)
def test_the_grace_period_is_the_pod_s_and_a_little_more(entry: Document, seconds: float) -> None:
    assert grace_seconds([running(terminationGracePeriodSeconds=0), entry]) == seconds
    assert wait_is_over([entry], seconds)
    assert wait_is_over([], 0)


def conditioned(**condition: str) -> Document:
    entry = made_pod("digits-x", container("main", runs()), phase="Running")
    entry["status"]["conditions"] = [{"lastTransitionTime": stamp(1), **condition}]
    return entry


@pytest.mark.parametrize(
    ("entry", "heard"),
    [
        (conditioned(type="Ready", status="True"), True),
        (conditioned(type="Ready", status="False", reason="ContainersNotReady"), True),
        # What the control plane writes of a node that is silent, and of one that was given up.
        (conditioned(type="Ready", status="False"), False),
        (conditioned(type="DisruptionTarget", status="True", reason="DeletionByPodGC"), False),
        (conditioned(type="DisruptionTarget", status="True", reason="EvictionByEvictionAPI"), True),
        # It never began to run, or has ended: it has nothing to say.
        (made_pod("digits-x", container("main", waits("ImagePullBackOff")), phase="Pending"), False),
        (made_pod("digits-x", container("main", ended(1, 3)), phase="Failed"), False),
    ],
)
def test_pods_whose_logs_can_still_be_read(entry: Document, heard: bool) -> None:
    assert still_running([entry]) == [entry] * heard


def test_many_pods_are_counted() -> None:
    assert pod_names([running(f"worker-{n}") for n in range(5)]) == "worker-0, worker-1, worker-2 and 2 more pods"
