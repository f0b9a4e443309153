# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""What keeps a step from going on now: read from pods, warning events and the workload, each with its grace."""

from __future__ import annotations

import re
import typing as t
from collections.abc import Iterator, Mapping
from dataclasses import replace

from ansible_collections.mlops.eks.plugins.module_utils._kube import pods as pod_view
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document
from ansible_collections.mlops.eks.plugins.module_utils._kube.expressions import condition
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds import Verdict
from ansible_collections.mlops.eks.plugins.module_utils._kube.pods import Container
from ansible_collections.mlops.eks.plugins.module_utils._step import reasons
from ansible_collections.mlops.eks.plugins.module_utils._step.blame import ended, failures, ran, when
from ansible_collections.mlops.eks.plugins.module_utils._step.causes import (
    Cause,
    Patience,
    Suspicion,
    of_container,
)

# A container that ran longer than this before it failed is not in a crash loop (the kubelet's own reset time).
_LOOP_SECONDS = 600.0


# Reasons of a waiting container (kubelet `pkg/kubelet/images/types.go`, `container/sync_result.go`).
# Each with the trouble it is a sign of and the patience it deserves.
_WAITING: Mapping[str, tuple[str, t.Literal["image", "config", "none"]]] = {
    "ErrImagePull": ("image", "image"),
    "ImagePullBackOff": ("image", "image"),
    "ErrImageNeverPull": ("image", "none"),
    "InvalidImageName": ("image", "none"),
    "ImageInspectError": ("image", "image"),
    "RegistryUnavailable": ("image", "image"),
    "SignatureValidationFailed": ("image", "image"),
    "CreateContainerConfigError": ("config", "config"),
    "CreateContainerError": ("config", "config"),
    "RunContainerError": ("config", "config"),
}
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
            yield _loop(pod, next(iter(failures(pod))), quick_failures)
    for event in warnings:
        found = _of_event(event, pods, patience)
        if found:
            yield found


def doubts(subject: str, verdict: Verdict, patience: Patience) -> Iterator[Suspicion]:
    """Yield the failure that the workload reports and may still take back."""
    if verdict.reason and not verdict.final:
        cause = Cause.of(verdict.reason, subject, verdict.message)
        yield Suspicion(key=f"doubt {verdict.reason}", grace=patience.doubtful, cause=cause)


def _of_pod(pod: Document, patience: Patience, after: float) -> Iterator[Suspicion]:
    name = pod_view.name(pod)
    graces = {"image": patience.image, "config": patience.config, "none": 0.0}
    message = pod_view.unschedulable(pod)
    if message:
        yield _unschedulable(name, message, patience)
    for container in pod_view.containers(pod):
        if container.state == "waiting" and container.reason in _WAITING:
            trouble, grace = _WAITING[container.reason]
            cause = of_container(pod, container, container.reason, container.message or f"image {container.image}")
            yield Suspicion(key=f"{trouble} {name}/{container.name}", grace=graces[grace], cause=cause)
        if container.ended.get("reason") == "OOMKilled" and when(container) >= after:
            yield Suspicion(key=f"oom {name}/{container.name}", grace=0.0, cause=ended(pod, container))
        if container.restarts > patience.max_restarts and when(container) >= after and _loops(container):
            yield _loop(pod, container, container.restarts)


def _unschedulable(name: str, message: str, patience: Patience) -> Suspicion:
    subject = f"Pod/{name}"
    if _MISSING_CLAIM.search(message):
        return Suspicion(key=f"claim {name}", grace=patience.config, cause=Cause.of("VolumeClaim", subject, message))
    cause = Cause.of("Unschedulable", subject, message)
    return Suspicion(key="unschedulable", grace=patience.unschedulable, cause=cause)


def _loop(pod: Document, container: Container, times: int) -> Suspicion:
    last = ended(pod, container)
    cause = replace(last, reason="CrashLoop", message=f"It ended {times} times; the last time: {last.message}")
    return Suspicion(key=f"loop {cause.object}", grace=0.0, cause=cause)


def _loops(container: Container) -> bool:
    """Return whether it fails soon after each start; a server that ends well again and again is as bad."""
    failed = bool(container.ended.get("exitCode")) or container.reason == "CrashLoopBackOff"
    return failed and ran(container) < _LOOP_SECONDS


def _of_event(event: Document, pods: Mapping[str, Document], patience: Patience) -> Suspicion | None:
    about, reason = event.get("involvedObject") or {}, str(event.get("reason"))
    name, message = str(about.get("name")), str(event.get("message") or "")
    subject = f"{about.get('kind')}/{name}"
    match reason:
        case "FailedMount":
            holds = name in pods and _not_started(pods[name]) and "not found" in message
        case "FailedCreate":
            holds = not pods
        case _:
            holds = reasons.lookup(reason).category == "validation"
    if not holds:
        return None
    return Suspicion(key=f"{reason} {subject}", grace=patience.config, cause=Cause.of(reason, subject, message))


def _failed_quickly(pod: Document) -> bool:
    return any(ran(container) < _LOOP_SECONDS for container in failures(pod))


def _not_started(pod: Document) -> bool:
    """Return whether its volumes may still be missing: they are mounted before the pod's sandbox is made."""
    sandbox = condition(pod, "PodReadyToStartContainers") or {}
    return sandbox.get("status") != "True" and all(one.state == "waiting" for one in pod_view.containers(pod))
