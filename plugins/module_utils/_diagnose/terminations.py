# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""What a container or a whole pod died of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import from_iso
from ansible_collections.mlops.eks.plugins.module_utils._diagnose import events
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.causes import Cause, of_container, sentence
from ansible_collections.mlops.eks.plugins.module_utils._kube import pods as pod_view
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document
from ansible_collections.mlops.eks.plugins.module_utils._kube.pods import Container

_SIGNALS = {130: " (SIGINT)", 134: " (SIGABRT)", 137: " (SIGKILL)", 139: " (segmentation fault)", 143: " (SIGTERM)"}
_SIGKILL, _SIGTERM = 137, 143
# Probes for which the kubelet ends a container; an event tells of it at most this many seconds before or after.
_FATAL_PROBES = ("Liveness", "Startup")
_ANNOUNCED = 60.0


def failures(pod: Document) -> Iterator[Container]:
    """Yield the containers of which an instance failed; a sidecar that is ended after the others did not fail."""
    found = list(pod_view.containers(pod))
    mains = [one for one in found if not one.init]
    over = all(one.state == "terminated" for one in mains) and max((ended_at(one) for one in mains), default=0.0)
    for one in found:
        if one.ended.get("exitCode") and not (one.sidecar and over and ended_at(one) >= over):
            yield one


def ended_at(container: Container) -> float:
    """Return when the last instance ended, in seconds since the epoch."""
    finished = container.ended.get("finishedAt")
    return from_iso(finished) if finished else float("inf")


def was_killed(container: Container) -> bool:
    """Return whether its last instance was ended by a signal from outside."""
    return container.ended.get("exitCode") in (_SIGKILL, _SIGTERM)


def run_seconds(container: Container) -> float:
    """Return for how many seconds the last ended instance ran."""
    started, finished = container.ended.get("startedAt"), container.ended.get("finishedAt")
    return from_iso(finished) - from_iso(started) if started and finished else 0.0


def termination_cause(pod: Document, container: Container, warnings: Iterable[Document]) -> Cause:
    """Return why a container's last instance ended; `warnings` are about its pod and its node.

    A failed probe and the memory of the node show only there.
    """
    code, own = container.ended.get("exitCode"), str(container.ended.get("reason") or "Error")
    if own == "OOMKilled":
        limit = f" of {container.memory}" if container.memory else ""
        said = f"it used more memory than its limit{limit} and was killed (exit code {code})"
        return of_container(pod, container, own, said)
    how = f"exit code {code}{_SIGNALS.get(code or 0, '')}"
    told = _told(container, warnings, ended_at(container))
    if told:
        return of_container(pod, container, told[0], f"{told[1]} It was ended ({how}).")
    what = "sidecar" if container.sidecar else "init container" if container.init else "it"
    reason, words = _own_reason(container, own, code), sentence(str(container.ended.get("message") or "").strip())
    if reason == "Killed" and code == _SIGKILL and container.memory:
        # containerd 1.6 begins to listen for a want of memory a moment after the start: on a busy machine too late.
        words += f" Runtimes do not always tell who was killed for a memory limit; its limit is {container.memory}."
    return of_container(pod, container, reason, f"{what} ended with {how}. {words}")


def _told(container: Container, warnings: Iterable[Document], end: float) -> tuple[str, str] | None:
    """Return reason and words of the event that announced the end of this instance."""
    began = max(end - max(run_seconds(container), 1.0), end - _ANNOUNCED)
    for event in warnings:
        said, at = str(event.get("message") or ""), events.seen(event)
        if not began <= at <= end + _ANNOUNCED:
            continue
        kind, path = said.partition(" ")[0], str(event["involvedObject"].get("fieldPath") or "")
        if (
            event.get("reason") == "Unhealthy"
            and kind in _FATAL_PROBES
            and path in ("", f"spec.containers{{{container.name}}}")
        ):
            return f"{kind}ProbeFailed", sentence(said)
        if event.get("reason") == "SystemOOM" and container.ended.get("exitCode") == _SIGKILL:
            return "SystemOOM", sentence(f"its node ran out of memory: {said}")
    return None


def _own_reason(container: Container, reason: str, code: int | None) -> str:
    if reason != "Error":
        return reason
    if container.init:
        return "SidecarFailed" if container.sidecar else "InitContainerFailed"
    return "Killed" if code in (_SIGKILL, _SIGTERM) else reason
