"""Small made-up changes of one workload named `digits`, for the rules of the reducer; real ones are in fakes.replay."""

from __future__ import annotations

import typing as t
from datetime import UTC, datetime

from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds import KINDS
from ansible_collections.mlops.eks.plugins.module_utils._step import changes
from ansible_collections.mlops.eks.plugins.module_utils._step.state import Rules, State

BEGIN = 1_000_000.0
JOB = KINDS["batch/v1", "Job"]
SERVER = KINDS["apps/v1", "Deployment"]
Document = dict[str, t.Any]


def stamp(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def rules(**more: t.Any) -> Rules:
    return Rules(**{"kind": JOB, "name": "digits", "started": BEGIN, "heartbeat": 1e9, **more})


def workload(
    after: float, *conditions: str, kind: str = "Job", created: float = BEGIN, **more: t.Any
) -> changes.Change:
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
    after: float, state: Document, *, name: str = "digits-x", last: Document | None = None, **more: t.Any
) -> changes.Change:
    status = {"name": "main", "state": state, "lastState": last or {}, "restartCount": more.pop("restarts", 0)}
    entry = {
        "metadata": {"name": name, "labels": {}},
        "spec": {"nodeName": "n", "restartPolicy": "Never", "containers": [{"name": "main", "image": "i"}]},
        "status": {"phase": more.pop("phase", "Pending"), "containerStatuses": [status], **more},
    }
    return changes.PodSeen(at=BEGIN + after, entry=entry)


def event(
    after: float, reason: str, *, about: str = "Job/digits", seen: float = BEGIN + 1, **more: t.Any
) -> changes.Change:
    kind, _, name = about.partition("/")
    entry = {
        "metadata": {},
        "type": "Warning",
        "reason": reason,
        "message": more.get("message", "it said so"),
        "involvedObject": {"kind": kind, "name": name},
        "lastTimestamp": stamp(seen),
        **{key: value for key, value in more.items() if key != "message"},
    }
    return changes.EventSeen(at=BEGIN + after, entry=entry)


PULL = {"waiting": {"reason": "ErrImagePull", "message": "no such image"}}
BACK_OFF = {"waiting": {"reason": "ImagePullBackOff", "message": "back-off"}}
RUNS: Document = {"running": {"startedAt": stamp(BEGIN)}}


def dead(code: int, after: float, *, ran: float = 1.0, reason: str = "Error") -> Document:
    times = {"startedAt": stamp(BEGIN + after - ran), "finishedAt": stamp(BEGIN + after)}
    return {"terminated": {"exitCode": code, "reason": reason, **times}}


def outcome(state: State) -> str | None:
    return state.ending.outcome if state.ending else None


def reason(state: State) -> str:
    return t.cast(t.Any, state.ending).cause.reason
