"""Restarts by kubelet, Job and operator: counted and shown, and no failure."""

from __future__ import annotations

import typing as t

import pytest
from fakes.built import RUNS, SERVER, outcome, pod, rules, workload
from fakes.made import BEGIN, Document, ended, stamp
from fakes.replay import drive, load

from ansible_collections.mlops.eks.plugins.module_utils._follow import changes
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.table import KINDS

PYTORCH = KINDS["kubeflow.org/v1", "PyTorchJob"]


def born(after: float, state: Document, *, name: str, at: float, uid: str = "", **more: t.Any) -> changes.Change:
    """A pod created `at` seconds after the start."""
    found = pod(after, state, name=name, **more)
    t.cast(t.Any, found).entry["metadata"].update(creationTimestamp=stamp(at), uid=uid or name)
    return found


def gone(after: float, seen: changes.Change) -> changes.Change:
    entry = {**t.cast(t.Any, seen).entry}
    entry["metadata"] = {**entry["metadata"], "deletionTimestamp": stamp(after)}
    return changes.PodGone(at=BEGIN + after, entry=entry)


def test_containers_started_again_by_the_kubelet() -> None:
    state, said = drive([workload(0), born(9, RUNS, name="a", at=1, restarts=2, phase="Running")], rules())
    assert (state.restarts, outcome(state), said[-1]) == (2, None, "Job digits: pods 1 running, 2 restarts")


@pytest.mark.parametrize("order", [1, -1])
def test_a_pod_that_failed_and_has_a_successor(order: int) -> None:
    # Each as it is listed on re-attaching, in whatever order.
    pods = [born(20, ended(1, 8), name="a", at=1, phase="Failed"), born(20, RUNS, name="b", at=9, phase="Running")]
    state, said = drive([workload(0), *pods[::order]], rules())
    assert (state.restarts, said[-1]) == (1, "Job digits: pods 1 failed, 1 running, 1 restart")


def test_the_last_failure_is_no_restart() -> None:
    state, _ = drive([workload(0), born(9, ended(1, 8), name="a", at=1, phase="Failed")], rules())
    assert state.restarts == 0


def test_pods_that_run_side_by_side_are_no_restarts() -> None:
    pods = [born(9, RUNS, name=f"p{n}", at=1, phase="Running") for n in range(5)]
    failed = born(9, ended(1, 8), name="f", at=1, phase="Failed")
    assert drive([workload(0), failed, *pods], rules())[0].restarts == 0
    again = [born(9, ended(1, 8), name=f"f{n}", at=1, phase="Failed") for n in range(3)]
    late = [born(20, RUNS, name=f"l{n}", at=9, phase="Running") for n in range(2)]
    assert drive([workload(0), *again, *late, *pods], rules())[0].restarts == 2


def test_an_evicted_pod_that_was_replaced_counts() -> None:
    first = born(2, RUNS, name="a", at=1, phase="Running")
    state, _ = drive([workload(0), first, gone(5, first), born(6, RUNS, name="b", at=5, phase="Running")], rules())
    assert state.restarts == 1


def test_an_evicted_pod_that_ended_before_its_grace_period_was_over_counts() -> None:
    """The stamp of its deletion is when the grace period ends; by then its successor may long have come."""
    first = born(6, ended(143, 5), name="a", at=1, phase="Failed")
    t.cast(t.Any, first).entry["metadata"].update(deletionTimestamp=stamp(34), deletionGracePeriodSeconds=30)
    state, _ = drive([workload(0), first, born(9, RUNS, name="b", at=6, phase="Running")], rules())
    assert state.restarts == 1


def test_a_pod_that_an_operator_creates_again_under_its_name() -> None:
    seen = workload(0, kind="PyTorchJob", spec={"pytorchReplicaSpecs": {"Master": {}}})
    first = born(2, RUNS, name="digits-master-0", at=1, uid="u1", restarts=1, phase="Running")
    second = born(9, RUNS, name="digits-master-0", at=8, uid="u2", phase="Running")
    state, _ = drive([seen, first, gone(7, first), second], rules(kind=PYTORCH))
    assert (state.restarts, outcome(state)) == (2, None)


def test_a_servers_rollout_and_earlier_life_do_not_count() -> None:
    seen = workload(0, kind="Deployment", spec={"replicas": 1, "selector": {"matchLabels": {}}}, status={})
    old = born(1, RUNS, name="old", at=-9000, restarts=7, phase="Running")
    new = born(2, RUNS, name="new", at=2, phase="Running")
    assert drive([seen, old, new, gone(3, old)], rules(kind=SERVER))[0].restarts == 0


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("job-succeeds", 0),
        ("job-restarts-once", 1),
        ("job-second-pod", 1),
        ("pytorch-restarts", 1),
        ("mpi-succeeds", 0),
    ],
)
def test_recorded_restarts(name: str, count: int) -> None:
    recording = load(name)
    state, _ = drive(recording.changes, recording.rules())
    assert state.restarts == count
