# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""An MPIJob whose launcher waits for a rank that is gone: seen on a native cluster, tests/faults/nodes.py."""

from __future__ import annotations

import typing as t

from fakes.made import BEGIN, Document, condition, ended, pod, runs, stamp, warning
from fakes.replay import drive, ticks

from ansible_collections.mlops.eks.plugins.module_utils._diagnose.causes import Cause, GracePeriods
from ansible_collections.mlops.eks.plugins.module_utils._follow import changes
from ansible_collections.mlops.eks.plugins.module_utils._follow.state import Rules, State
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.table import KINDS, Kind
from ansible_collections.mlops.eks.plugins.module_utils._logs.activity import Output

MPI = KINDS["kubeflow.org/v2beta1", "MPIJob"]
PYTORCH = KINDS["kubeflow.org/v1", "PyTorchJob"]
LOST = {
    "conditions": [
        condition("Ready", "False", 52),
        condition("DisruptionTarget", "True", 60, reason="DeletionByTaintManager", message="Taint manager: deleting"),
    ]
}
SILENT = warning("NodeNotReady", "Pod/digits-worker-1", "Node is not ready", 52)


def rules(kind: Kind = MPI) -> Rules:
    return Rules(kind=kind, name="digits", started=BEGIN, heartbeat=1e6, grace=GracePeriods(lost_rank=60))


def seen(entry: Document, at: float, *, uid: str = "") -> changes.PodSeen:
    entry["metadata"]["uid"] = uid or entry["metadata"]["name"]
    return changes.PodSeen(at=BEGIN + at, entry=entry)


def worker(index: int, **more: t.Any) -> Document:
    labels = {
        "training.kubeflow.org/job-name": "digits",
        "training.kubeflow.org/job-role": "worker",
        "training.kubeflow.org/replica-type": "worker",
        "training.kubeflow.org/replica-index": str(index),
    }
    return pod(f"digits-worker-{index}", runs(5), labels=labels, **more)


def launcher(state: Document | None = None, *, name: str = "digits-launcher-a", **more: t.Any) -> Document:
    labels = {"training.kubeflow.org/job-name": "digits", "training.kubeflow.org/job-role": "launcher"}
    return pod(name, state or runs(10), labels=labels, created=9, **more)


def begun() -> list[changes.Change]:
    entry: Document = {
        "metadata": {"name": "digits", "uid": "u", "creationTimestamp": stamp(0)},
        "spec": {},
        "status": {},
    }
    return [
        changes.WorkloadSeen(at=BEGIN, entry=entry),
        seen(worker(0), 6),
        seen(worker(1), 6),
        seen(launcher(), 10),
        changes.LogActivity(at=BEGIN + 40, output=Output("digits-launcher-a", "step 7")),
    ]


def ending(state: State) -> Cause | None:
    assert state.ending is None or state.ending.outcome == "failed"
    return state.ending.cause if state.ending else None


def test_a_launcher_that_says_nothing_more_after_a_node_was_lost_fails_and_names_the_node() -> None:
    history = [*begun(), seen(worker(1, deleted=60, **LOST), 60)]

    early, _ = drive([*history, *ticks(BEGIN + 60, 59)], rules())
    late, _ = drive([*history, *ticks(BEGIN + 60, 61)], rules())

    assert early.ending is None
    assert early.problem is not None
    cause = ending(late)
    assert cause is not None
    assert (cause.reason, cause.object) == ("NodeLost", "Pod/digits-worker-1")
    assert cause.category == "node_lost"
    assert "node node-a was lost" in cause.message
    assert "cannot take its place" in cause.message


def test_a_replacement_by_the_operator_does_not_end_the_loss() -> None:
    lost = worker(1, phase="Failed", **LOST)
    history = [
        *begun(), seen(lost, 60), changes.PodGone(at=BEGIN + 61, entry=lost),
        seen(worker(1, created=62, node="node-b"), 62, uid="second"), *ticks(BEGIN + 62, 70),
    ]  # fmt: skip

    cause = ending(drive(history, rules())[0])

    assert cause is not None
    assert cause.reason == "NodeLost"
    assert "node-a" in cause.message


def test_a_controller_that_came_later_finds_the_successor_and_the_event() -> None:
    found = [begun()[0], begun()[1], seen(launcher(), 90), seen(worker(1, created=62), 90, uid="second")]
    told = [*found, changes.EventSeen(at=BEGIN + 90, entry=SILENT), *ticks(BEGIN + 90, 61)]

    assert t.cast(Cause, ending(drive(told, rules())[0])).reason == "NodeLost"
    # Without the event all that is known is that it is not the worker the launcher began with.
    assert t.cast(Cause, ending(drive([*found, *ticks(BEGIN + 90, 61)], rules())[0])).reason == "PodDeleted"


def test_a_line_from_any_rank_shows_that_the_others_go_on() -> None:
    lines = [changes.LogActivity(at=BEGIN + at, output=Output("digits-worker-0", "step")) for at in range(100, 400, 50)]
    state, _ = drive([*begun(), seen(worker(1, deleted=60, **LOST), 60), *lines], rules())
    assert state.ending is None


def test_a_new_launcher_knows_the_new_worker() -> None:
    lost = worker(1, phase="Failed", **LOST)
    second = launcher(runs(80), name="digits-launcher-b")
    history = [
        *begun(), changes.PodGone(at=BEGIN + 61, entry=lost),
        seen(worker(1, created=62), 62, uid="second"),
        seen(launcher(ended(1, 70), phase="Failed"), 70), seen(second, 80), *ticks(BEGIN + 80, 500),
    ]  # fmt: skip
    assert drive(history, rules())[0].ending is None


def test_a_node_that_was_silent_for_a_moment_cost_nothing() -> None:
    back = {"conditions": [condition("Ready", "True", 60)]}
    history = [*begun(), changes.EventSeen(at=BEGIN + 53, entry=SILENT), seen(worker(1, **back), 60)]
    state, _ = drive([*history, *ticks(BEGIN + 60, 500)], rules())
    assert state.ending is None
    assert state.problem is None


def test_the_operator_of_pytorch_lets_ranks_join_again() -> None:
    lost = worker(1, phase="Failed", **LOST)
    history = [
        *begun(), changes.PodGone(at=BEGIN + 61, entry=lost), seen(worker(1, created=62), 62, uid="second"),
        *ticks(BEGIN + 62, 500),
    ]  # fmt: skip
    assert drive(history, rules(PYTORCH))[0].ending is None


def test_when_the_launcher_fails_of_it_the_lost_worker_is_to_blame_although_it_has_a_successor() -> None:
    lost = worker(1, phase="Failed", **LOST)
    entry: Document = {
        "metadata": {"name": "digits", "uid": "u", "creationTimestamp": stamp(0)}, "spec": {},
        "status": {"completionTime": "x", "conditions": [condition("Failed", "True", 75, reason="MPIJobFailed")]},
    }  # fmt: skip
    history = [
        *begun(), changes.PodGone(at=BEGIN + 61, entry=lost),
        seen(worker(1, created=62), 62, uid="second"),
        seen(launcher(ended(1, 70), phase="Failed"), 70), changes.WorkloadSeen(at=BEGIN + 75, entry=entry),
    ]  # fmt: skip

    cause = ending(drive(history, rules())[0])

    assert cause is not None
    assert (cause.reason, cause.object) == ("NodeLost", "Pod/digits-worker-1")
