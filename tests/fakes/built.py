"""Small made-up changes of one workload named `digits`, for the rules of the reducer; real ones are in fakes.replay."""

from __future__ import annotations

import typing as t

from fakes.made import BEGIN, Document, container, runs, stamp, waits, warning
from fakes.made import pod as made_pod

from ansible_collections.mlops.eks.plugins.module_utils._follow import changes
from ansible_collections.mlops.eks.plugins.module_utils._follow.state import Rules, State
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.table import KINDS
from ansible_collections.mlops.eks.plugins.module_utils._ledger.ledger import Entry

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


def entry(step: str = "train", outcome: str = "succeeded", **more: t.Any) -> Entry:
    """Return an entry of a ledger."""
    base = {
        "identity": "i",
        "run_id": "r1",
        "pipeline": "digits",
        "helm_release": "digits",
        "controller": "h",
        "started": "2026-11-21T09:00:00.000Z",
        "finished": "2026-11-21T09:02:05.000Z",
    }
    return Entry(**{**base, "step": step, "outcome": outcome, **more})
