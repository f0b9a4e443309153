# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Pods as the engine sees them: containers with their state, what they ask for, and why one cannot start."""

from __future__ import annotations

import typing as t
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ansible_collections.mlops.eks.plugins.module_utils._core.units import quantity
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document


@dataclass(frozen=True, kw_only=True)
class Container:
    """One container of a pod. `ended` is its last termination, of this instance or the one before."""

    name: str
    image: str
    state: t.Literal["waiting", "running", "terminated"]
    reason: str
    message: str
    restarts: int
    started: str | None
    finished: str | None
    exit_code: int | None
    ended: Document
    init: bool

    @property
    def has_log(self) -> bool:
        """Whether the kubelet can have output of it."""
        return self.state != "waiting" or bool(self.ended)


def containers(pod: Document) -> Iterator[Container]:
    """Yield the init containers, then the containers, in the order of the spec."""
    status = pod.get("status") or {}
    for init, specs, statuses in (
        (True, "initContainers", "initContainerStatuses"),
        (False, "containers", "containerStatuses"),
    ):
        known = {entry["name"]: entry for entry in status.get(statuses) or []}
        for spec in pod["spec"].get(specs) or []:
            yield _container(spec, known.get(spec["name"]) or {}, init=init)


def _container(spec: Document, status: Document, *, init: bool) -> Container:
    state = status.get("state") or {"waiting": {"reason": ""}}
    name, detail = next(iter(state.items()))
    last = (status.get("lastState") or {}).get("terminated") or {}
    return Container(
        name=spec["name"],
        image=spec.get("image", ""),
        state=t.cast(t.Literal["waiting", "running", "terminated"], name),
        reason=str(detail.get("reason") or ""),
        message=str(detail.get("message") or ""),
        restarts=int(status.get("restartCount") or 0),
        started=detail.get("startedAt"),
        finished=detail.get("finishedAt"),
        exit_code=detail.get("exitCode"),
        ended=detail if name == "terminated" else last,
        init=init,
    )


def name(pod: Document) -> str:
    """Return the pod's name."""
    return str(pod["metadata"]["name"])


def phase(pod: Document) -> str:
    """Return the pod's phase, `Pending` when it has none yet."""
    return str((pod.get("status") or {}).get("phase") or "Pending")


def node(pod: Document) -> str | None:
    """Return the node the pod is on, or `None` while it is not scheduled."""
    return t.cast(str | None, pod["spec"].get("nodeName"))


def unschedulable(pod: Document) -> str | None:
    """Return the scheduler's message when it found no node, else `None`."""
    for entry in (pod.get("status") or {}).get("conditions") or []:
        if entry.get("type") == "PodScheduled" and entry.get("reason") == "Unschedulable":
            return str(entry.get("message") or "no node fits")
    return None


def requests(pod: Document) -> dict[str, float]:
    """Return what the pod's containers ask for: cores, bytes, devices."""
    total: dict[str, float] = {}
    for container in pod["spec"].get("containers") or []:
        resources = container.get("resources") or {}
        for key, value in {**(resources.get("limits") or {}), **(resources.get("requests") or {})}.items():
            total[key] = total.get(key, 0.0) + quantity(value)
    return total


def describe(pods: Iterable[Document]) -> str:
    """Return one line about the pods, such as `2 running, 1 pending (ContainerCreating)`; empty without pods."""
    counts: Counter[str] = Counter()
    reasons: dict[str, set[str]] = {}
    for pod in pods:
        counts[word := phase(pod).lower()] += 1
        if word in ("pending", "running"):
            found = {entry.reason for entry in containers(pod) if entry.state == "waiting" and entry.reason}
            found |= {"Unschedulable"} if unschedulable(pod) else set()
            reasons.setdefault(word, set()).update(found - {"PodInitializing"})
    return ", ".join(
        f"{n} {word}" + (f" ({', '.join(sorted(reasons[word]))})" if reasons.get(word) else "")
        for word, n in sorted(counts.items())
    )
