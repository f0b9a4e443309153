# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Accessors of pods: containers and their states, times, requests, and why a pod is not scheduled."""

from __future__ import annotations

import re
import typing as t
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import from_iso
from ansible_collections.mlops.eks.plugins.module_utils._core.units import quantity
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.expressions import condition

State = t.Literal["waiting", "running", "terminated"]
# Details about preemption and dynamic resources in the scheduler's message.
_SCHEDULER_DETAILS = re.compile(
    r"(?<=\.)\s+(?:no new claims to deallocate|preemption: |not found).*|,?\s+preemption: .*"
)


@dataclass(frozen=True, kw_only=True)
class Container:
    """One container of a pod. `ended` is the last termination, of this instance or the one before.

    `sidecar`: an init container that keeps running. `memory`: its limit as in the recipe.
    """

    name: str
    image: str
    state: State
    reason: str
    message: str
    restarts: int
    started: str | None
    finished: str | None
    exit_code: int | None
    ended: Document
    init: bool
    sidecar: bool
    memory: str

    @property
    def has_log(self) -> bool:
        """Whether it has a log."""
        return self.state != "waiting" or bool(self.ended)


# A cache: by uid, the pod and its containers. A thousand pods are read many times a second and change rarely.
_CACHE: dict[str, tuple[Document, tuple[Container, ...]]] = {}
_CACHE_SIZE = 5000


def containers(pod: Document) -> tuple[Container, ...]:
    """Return the init containers, then the containers, in the order of the spec."""
    uid = pod["metadata"].get("uid")
    before, found = _CACHE.get(uid, (None, ()))
    if before is pod:
        return found
    found = tuple(_containers(pod))
    if uid is not None:
        if len(_CACHE) >= _CACHE_SIZE:
            _CACHE.clear()
        _CACHE[uid] = (pod, found)
    return found


def _containers(pod: Document) -> Iterator[Container]:
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
        state=t.cast("State", name),
        reason=str(detail.get("reason") or ""),
        message=str(detail.get("message") or ""),
        restarts=int(status.get("restartCount") or 0),
        started=detail.get("startedAt"),
        finished=detail.get("finishedAt"),
        exit_code=detail.get("exitCode"),
        ended=detail if name == "terminated" else last,
        init=init,
        sidecar=init and spec.get("restartPolicy") == "Always",
        memory=str(((spec.get("resources") or {}).get("limits") or {}).get("memory", "")),
    )


def name(pod: Document) -> str:
    """Return the pod's name."""
    return str(pod["metadata"]["name"])


def created(pod: Document) -> float:
    """Return when it was created, in seconds since the epoch; 0 when unknown."""
    stamp = pod["metadata"].get("creationTimestamp")
    return from_iso(stamp) if stamp else 0.0


def phase(pod: Document) -> str:
    """Return the pod's phase, `Pending` when it has none yet."""
    return str((pod.get("status") or {}).get("phase") or "Pending")


def node(pod: Document) -> str | None:
    """Return the node the pod is on, or `None` while it is not scheduled."""
    return t.cast(str | None, pod["spec"].get("nodeName"))


def deleted_since(pod: Document) -> float | None:
    """Return when its deletion was requested, in seconds since the epoch, or `None`."""
    metadata = pod["metadata"]
    if not metadata.get("deletionTimestamp"):
        return None
    # The stamp is the end of the grace period.
    return from_iso(metadata["deletionTimestamp"]) - float(metadata.get("deletionGracePeriodSeconds") or 0)


def scheduled(pod: Document) -> float | None:
    """Return when it got its node, in seconds since the epoch, or `None` while it has none."""
    if node(pod) is None:
        return None
    found = condition(pod, "PodScheduled") or {}
    return from_iso(found["lastTransitionTime"]) if found.get("lastTransitionTime") else created(pod)


def unschedulable(pod: Document) -> str | None:
    """Return the scheduler's message when no node fits, else `None`."""
    for entry in (pod.get("status") or {}).get("conditions") or []:
        if entry.get("type") == "PodScheduled" and entry.get("reason") == "Unschedulable":
            return _SCHEDULER_DETAILS.sub("", str(entry.get("message") or "no node fits"))
    return None


def gates(pod: Document) -> tuple[str, ...]:
    """Return the names of its scheduling gates."""
    return tuple(str(gate.get("name")) for gate in pod["spec"].get("schedulingGates") or ())


def claims(pod: Document) -> tuple[str, ...]:
    """Return the names of the PersistentVolumeClaims it mounts."""
    volumes = pod["spec"].get("volumes") or ()
    return tuple(str(one["persistentVolumeClaim"]["claimName"]) for one in volumes if one.get("persistentVolumeClaim"))


def started(pod: Document) -> bool:
    """Return whether its volumes are mounted, which happens before the sandbox of the pod is created."""
    sandbox = condition(pod, "PodReadyToStartContainers") or {}
    return sandbox.get("status") == "True" or any(one.state != "waiting" for one in containers(pod))


def unready(pod: Document) -> bool:
    """Return whether it runs but is not ready."""
    return phase(pod) == "Running" and (condition(pod, "Ready") or {}).get("status") == "False"


def requests(pod: Document) -> dict[str, float]:
    """Return the requests of the pod's containers: cores, bytes, devices."""
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
