"""Small made-up changes of one workload named `digits`, for the rules of the reducer; real ones are in fakes.replay."""

from __future__ import annotations

import typing as t

from fakes.made import BEGIN, Document, container, runs, stamp, waits, warning
from fakes.made import pod as made_pod

from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds import KINDS
from ansible_collections.mlops.eks.plugins.module_utils._step import changes
from ansible_collections.mlops.eks.plugins.module_utils._step.state import Rules, State

JOB = KINDS["batch/v1", "Job"]
SERVER = KINDS["apps/v1", "Deployment"]


def rules(**more: t.Any) -> Rules:
    return Rules(**{"kind": JOB, "name": "digits", "started": BEGIN, "heartbeat": 1e9, **more})


def workload(after: float, *conditions: str, kind: str = "Job", created: float = 0.0, **more: t.Any) -> changes.Change:
    status = {"conditions": [{"type": one, "status": "True"} for one in conditions]}
    entry = {
        "kind": kind,
        "metadata": {"name": "digits", "creationTimestamp": stamp(created)},
        "spec": {},
        "status": status,
        **more,
    }
    return changes.WorkloadSeen(at=BEGIN + after, entry=entry)


def pod(
    after: float,
    state: Document,
    *,
    name: str = "digits-x",
    phase: str = "Pending",
    last: Document | None = None,
    restarts: int = 0,
    **more: t.Any,
) -> changes.Change:
    status = container("main", state, last=last, restarts=restarts)
    return changes.PodSeen(at=BEGIN + after, entry=made_pod(name, status, phase=phase, **more))


def event(
    after: float, reason: str, *, about: str = "Job/digits", seen: float = 1.0, message: str = "it said so", **more: str
) -> changes.Change:
    return changes.EventSeen(at=BEGIN + after, entry={**warning(reason, about, message, seen), **more})


PULL = waits("ErrImagePull", "no such image")
BACK_OFF = waits("ImagePullBackOff", "back-off")
RUNS = runs()


def outcome(state: State) -> str | None:
    return state.ending.outcome if state.ending else None


def reason(state: State) -> str:
    return t.cast(t.Any, state.ending).cause.reason
