"""Small made-up pods and events, shaped as the API server shows them. Times are seconds after `BEGIN`."""

from __future__ import annotations

import typing as t
from datetime import UTC, datetime

BEGIN = 1_000_000.0
Document = dict[str, t.Any]


def stamp(after: float) -> str:
    """Return the moment as the API server writes it, in whole seconds."""
    return datetime.fromtimestamp(BEGIN + after, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def ended(code: int, after: float, *, reason: str = "Error", ran: float = 60.0, **more: t.Any) -> Document:
    """Return the state of a container that ended."""
    times = {"startedAt": stamp(after - ran), "finishedAt": stamp(after)}
    return {"terminated": {"exitCode": code, "reason": reason, **times, **more}}


def runs(after: float = 0.0) -> Document:
    """Return the state of a container that runs."""
    return {"running": {"startedAt": stamp(after)}}


def waits(reason: str, message: str = "") -> Document:
    """Return the state of a container that waits."""
    return {"waiting": {"reason": reason, "message": message}}


def container(name: str, state: Document, *, last: Document | None = None, restarts: int = 0) -> Document:
    """Return the status of one container."""
    return {"name": name, "state": state, "lastState": last or {}, "restartCount": restarts}


def condition(kind: str, status: str, after: float, *, reason: str = "", message: str = "") -> Document:
    """Return one condition."""
    since = {"lastTransitionTime": stamp(after)}
    return {"type": kind, "status": status, "reason": reason, "message": message, **since}


def pod(
    name: str,
    *states: Document,
    phase: str = "Running",
    restart: str = "Never",
    node: str | None = "node-a",
    limit: str = "",
    created: float = 0.0,
    deleted: float | None = None,
    init: tuple[Document, ...] = (),
    labels: Document | None = None,
    spec: Document | None = None,
    **status: t.Any,
) -> Document:
    """Return a pod; `states` are container statuses, or the state of its only container `main`."""
    statuses = [one if "name" in one else container("main", one) for one in states]
    resources = {"limits": {"memory": limit}} if limit else {}
    metadata: Document = {"name": name, "uid": name, "labels": labels or {}, "creationTimestamp": stamp(created)}
    if deleted is not None:
        metadata |= {"deletionTimestamp": stamp(deleted + 30), "deletionGracePeriodSeconds": 30}
    names = [one["name"] for one in statuses] or ["main"]
    return {
        "metadata": metadata,
        "spec": {
            "nodeName": node,
            "restartPolicy": restart,
            "containers": [{"name": one, "image": "registry/image:1", "resources": resources} for one in names],
            "initContainers": [{"name": one["name"], **one.pop("spec", {})} for one in init],
            **(spec or {}),
        },
        "status": {"phase": phase, "containerStatuses": statuses, "initContainerStatuses": list(init), **status},
    }


def warning(reason: str, about: str, message: str, after: float = 0.0, **involved: t.Any) -> Document:
    """Return a warning event."""
    kind, _, name = about.partition("/")
    return {
        "metadata": {},
        "type": "Warning",
        "reason": reason,
        "message": message,
        "involvedObject": {"kind": kind, "name": name, **involved},
        "lastTimestamp": stamp(after),
    }
