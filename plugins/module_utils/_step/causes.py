# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Why a step cannot go on, or why it failed: read from pods and events, in words with a remedy."""

from __future__ import annotations

import re
import typing as t
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import from_iso
from ansible_collections.mlops.eks.plugins.module_utils._kube import pods as pod_view
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document
from ansible_collections.mlops.eks.plugins.module_utils._kube.expressions import condition
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds import Verdict
from ansible_collections.mlops.eks.plugins.module_utils._kube.pods import Container

# A container that ran longer than this before it failed is not in a crash loop (the kubelet's own reset time).
_LOOP_SECONDS = 600.0


@dataclass(frozen=True, kw_only=True)
class Cause:
    """What went wrong with which object, and what to do about it. `log_tail` is filled in with the evidence."""

    reason: str
    object: str
    message: str
    remedy: str
    container: str = ""
    log_tail: tuple[str, ...] = ()

    def with_log(self, lines: tuple[str, ...]) -> Cause:
        """Return this cause with the last lines of its container."""
        return replace(self, log_tail=lines)

    def to_record(self) -> dict[str, t.Any]:
        """Return plain data."""
        return {**asdict(self), "log_tail": list(self.log_tail)}

    def __str__(self) -> str:
        where = f"{self.object} ({self.container})" if self.container else self.object
        return f"{where}: {self.reason}: {self.message} {self.remedy}".strip()


@dataclass(frozen=True, kw_only=True)
class Patience:
    """How many seconds each kind of trouble may last before it fails the step."""

    image: float = 30.0
    config: float = 15.0
    unschedulable: float = 900.0
    doubtful: float = 300.0
    max_restarts: int = 5


@dataclass(frozen=True, kw_only=True)
class Suspicion:
    """A trouble seen now. It fails the step when the same `key` has been seen for `grace` seconds."""

    key: str
    grace: float
    cause: Cause


class _Waiting(t.NamedTuple):
    trouble: str
    grace: t.Literal["image", "config", "none"]
    remedy: str


_IMAGE = "Check the image name and tag, and that the nodes may pull from its registry."
_CONFIG = "Create the Secret, ConfigMap or key it names, or correct the recipe."
_RUNTIME = "Check command, args and mounts of this container in the recipe."
# Reasons of a waiting container (kubelet `pkg/kubelet/images/types.go`, `container/sync_result.go`).
_REASONS: Mapping[str, _Waiting] = {
    "ErrImagePull": _Waiting("image", "image", _IMAGE),
    "ImagePullBackOff": _Waiting("image", "image", _IMAGE),
    "ErrImageNeverPull": _Waiting("image", "none", _IMAGE),
    "InvalidImageName": _Waiting("image", "none", _IMAGE),
    "ImageInspectError": _Waiting("image", "image", _IMAGE),
    "RegistryUnavailable": _Waiting("image", "image", _IMAGE),
    "CreateContainerConfigError": _Waiting("config", "config", _CONFIG),
    "CreateContainerError": _Waiting("config", "config", _RUNTIME),
    "RunContainerError": _Waiting("config", "config", _RUNTIME),
}
# Exit codes of SIGKILL and SIGTERM.
_KILLED = (137, 143)
_MISSING_CLAIM = re.compile(r'persistentvolumeclaim "([^"]+)" (not found|is being deleted)|unbound immediate Persist')


def suspicions(
    pods: Mapping[str, Document], warnings: tuple[Document, ...], patience: Patience, *, after: float = 0.0
) -> Iterator[Suspicion]:
    """Yield every trouble that pods and warning events show now; containers that ended before `after` are forgiven."""
    quick_failures = 0
    for pod in pods.values():
        yield from _of_pod(pod, patience, after)
        quick_failures += pod_view.phase(pod) == "Failed" and _failed_quickly(pod)
        if quick_failures > patience.max_restarts:
            yield _loop(pod, next(iter(_failures(pod))), quick_failures)
    for event in warnings:
        found = _of_event(event, pods, patience)
        if found:
            yield found


def doubts(subject: str, verdict: Verdict, patience: Patience) -> Iterator[Suspicion]:
    """Yield the failure that the workload reports and may still take back."""
    if verdict.reason and not verdict.final:
        remedy = "Run the step again; if its nodes run out of memory or disk, ask for more."
        cause = Cause(reason=verdict.reason, object=subject, message=_sentence(verdict.message), remedy=remedy)
        yield Suspicion(key=f"doubt {verdict.reason}", grace=patience.doubtful, cause=cause)


def _of_pod(pod: Document, patience: Patience, after: float) -> Iterator[Suspicion]:
    name = pod_view.name(pod)
    graces = {"image": patience.image, "config": patience.config, "none": 0.0}
    message = pod_view.unschedulable(pod)
    if message:
        yield _unschedulable(name, message, patience)
    for container in pod_view.containers(pod):
        row = _REASONS.get(container.reason) if container.state == "waiting" else None
        if row:
            cause = _cause(
                pod, container, container.reason, container.message or f"image {container.image}", row.remedy
            )
            yield Suspicion(key=f"{row.trouble} {name}/{container.name}", grace=graces[row.grace], cause=cause)
        if container.ended.get("reason") == "OOMKilled" and _when(container) >= after:
            yield Suspicion(key=f"oom {name}/{container.name}", grace=0.0, cause=ended(pod, container))
        if container.restarts > patience.max_restarts and _when(container) >= after and _loops(container):
            yield _loop(pod, container, container.restarts)


def _unschedulable(name: str, message: str, patience: Patience) -> Suspicion:
    claim = _MISSING_CLAIM.search(message)
    if claim:
        remedy = "Create the PersistentVolumeClaim or correct 'pvc' in the recipe."
        cause = Cause(reason="VolumeClaim", object=f"Pod/{name}", message=_sentence(message), remedy=remedy)
        return Suspicion(key=f"claim {name}", grace=patience.config, cause=cause)
    remedy = "Lower the resources in the recipe, or add nodes that fit (node_type, tolerations)."
    cause = Cause(reason="Unschedulable", object=f"Pod/{name}", message=_sentence(message), remedy=remedy)
    return Suspicion(key="unschedulable", grace=patience.unschedulable, cause=cause)


def _loop(pod: Document, container: Container, times: int) -> Suspicion:
    last = ended(pod, container)
    cause = replace(last, reason="CrashLoop", message=f"It ended {times} times; the last time: {last.message}")
    return Suspicion(key=f"loop {cause.object}", grace=0.0, cause=cause)


def _loops(container: Container) -> bool:
    """Return whether it fails soon after each start; a server that ends well again and again is as bad."""
    failed = bool(container.ended.get("exitCode")) or container.reason == "CrashLoopBackOff"
    return failed and _ran(container) < _LOOP_SECONDS


def _of_event(event: Document, pods: Mapping[str, Document], patience: Patience) -> Suspicion | None:
    about, message = event.get("involvedObject") or {}, _sentence(str(event.get("message") or ""))
    subject, name = f"{about.get('kind')}/{about.get('name')}", str(about.get("name"))
    match event.get("reason"):
        case "FailedMount" if name in pods and _not_started(pods[name]) and "not found" in message:
            remedy = "Create the Secret, ConfigMap or claim it names, or correct the recipe."
        case "FailedCreate" if not pods:
            remedy = "Raise the quota, or correct what the admission webhook refuses."
        case "ValidationError" | "InvalidPyTorchJob" | "FailedValidation":
            remedy = "Correct the values of the recipe that this field comes from."
        case _:
            return None
    cause = Cause(reason=str(event["reason"]), object=subject, message=message, remedy=remedy)
    return Suspicion(key=f"{event['reason']} {subject}", grace=patience.config, cause=cause)


def first_failure(pods: Mapping[str, Document]) -> Cause | None:
    """Return the cause of the container that failed first: the others suffer from it."""
    # Of those that ended in the same second, one that was killed was rather a victim.
    failures = [
        ((_when(found), found.ended["exitCode"] in _KILLED), pod, found)
        for pod in pods.values()
        for found in _failures(pod)
    ]
    if not failures:
        return None
    _, pod, container = min(failures, key=lambda failure: (*failure[0], pod_view.name(failure[1])))
    return ended(pod, container)


def ended(pod: Document, container: Container) -> Cause:
    """Return why a container's last instance ended."""
    code, reason = container.ended.get("exitCode"), str(container.ended.get("reason") or "Error")
    if reason == "OOMKilled":
        limit = _limit(pod, container.name)
        message = (
            f"it used more memory than its limit{f' of {limit}' if limit else ''} and was killed (exit code {code})."
        )
        return _cause(pod, container, reason, message, "Raise resources.limits.memory or make the program use less.")
    said = str(container.ended.get("message") or "").strip()
    message = f"it ended with exit code {code}{_signal(code)}." + (f" {_sentence(said)}" if said else "")
    return _cause(pod, container, reason, message, "Its last lines say why.")


def _failures(pod: Document) -> Iterator[Container]:
    for container in pod_view.containers(pod):
        if container.ended.get("exitCode"):
            yield container


def _failed_quickly(pod: Document) -> bool:
    return any(_ran(container) < _LOOP_SECONDS for container in _failures(pod))


def _ran(container: Container) -> float:
    started, finished = container.ended.get("startedAt"), container.ended.get("finishedAt")
    return from_iso(finished) - from_iso(started) if started and finished else 0.0


def _when(container: Container) -> float:
    finished = container.ended.get("finishedAt")
    return from_iso(finished) if finished else float("inf")


def _not_started(pod: Document) -> bool:
    """Return whether its volumes may still be missing: they are mounted before the pod's sandbox is made."""
    sandbox = condition(pod, "PodReadyToStartContainers") or {}
    return sandbox.get("status") != "True" and all(one.state == "waiting" for one in pod_view.containers(pod))


def _limit(pod: Document, name: str) -> str:
    for container in pod["spec"]["containers"]:
        if container["name"] == name:
            return str(((container.get("resources") or {}).get("limits") or {}).get("memory", ""))
    return ""


def _signal(code: int | None) -> str:
    names = {130: " (SIGINT)", 134: " (SIGABRT)", 137: " (SIGKILL)", 139: " (segmentation fault)", 143: " (SIGTERM)"}
    return names.get(code or 0, "")


def _cause(pod: Document, container: Container, reason: str, message: str, remedy: str) -> Cause:
    subject = f"Pod/{pod_view.name(pod)}"
    return Cause(reason=reason, object=subject, container=container.name, message=_sentence(message), remedy=remedy)


def _sentence(text: str) -> str:
    line = " ".join(text.split())
    return line if line.endswith(".") or not line else f"{line}."
