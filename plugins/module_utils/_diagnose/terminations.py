# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Terminations: why a container ended."""

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
# Probes whose failure ends a container; their event is at most this many seconds before or after.
_FATAL_PROBES = ("Liveness", "Startup")
_EVENT_SECONDS = 60.0


def failures(pod: Document) -> Iterator[Container]:
    """Yield the containers with a failed instance; a sidecar that is stopped after the main containers did not fail."""
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
    """Return whether its last instance was ended by SIGKILL or SIGTERM."""
    return container.ended.get("exitCode") in (_SIGKILL, _SIGTERM)


def run_seconds(container: Container) -> float:
    """Return for how many seconds the last ended instance ran."""
    started, finished = container.ended.get("startedAt"), container.ended.get("finishedAt")
    return from_iso(finished) - from_iso(started) if started and finished else 0.0


def termination_cause(pod: Document, container: Container, warnings: Iterable[Document]) -> Cause:
    """Return why a container's last instance ended.

    `warnings` are about its pod and node: only they show a failed probe or a node that ran out of memory.
    """
    code, reason = container.ended.get("exitCode"), str(container.ended.get("reason") or "Error")
    if reason == "OOMKilled":
        limit = f" of {container.memory}" if container.memory else ""
        message = f"it used more memory than its limit{limit} and was killed (exit code {code})"
        return of_container(pod, container, reason, message)
    how = f"exit code {code}{_SIGNALS.get(code or 0, '')}"
    if announced := _announced(container, warnings, ended_at(container)):
        return of_container(pod, container, announced[0], f"{announced[1]} It was ended ({how}).")
    what = "sidecar" if container.sidecar else "init container" if container.init else "it"
    reason, message = _specific_reason(container, reason, code), sentence(str(container.ended.get("message") or ""))
    if reason == "Killed" and code == _SIGKILL and container.memory:
        # containerd 1.6 subscribes to out-of-memory events shortly after the start, which may be too late.
        message += f" Runtimes do not always report a kill for a memory limit; its limit is {container.memory}."
    return of_container(pod, container, reason, f"{what} ended with {how}. {message}")


def _announced(container: Container, warnings: Iterable[Document], end: float) -> tuple[str, str] | None:
    """Return the reason and message of the event that announced the end of this instance."""
    began = max(end - max(run_seconds(container), 1.0), end - _EVENT_SECONDS)
    for event in warnings:
        message, at = str(event.get("message") or ""), events.seen(event)
        if not began <= at <= end + _EVENT_SECONDS:
            continue
        kind, path = message.partition(" ")[0], str(event["involvedObject"].get("fieldPath") or "")
        if (
            event.get("reason") == "Unhealthy"
            and kind in _FATAL_PROBES
            and path in ("", f"spec.containers{{{container.name}}}")
        ):
            return f"{kind}ProbeFailed", sentence(message)
        if event.get("reason") == "SystemOOM" and container.ended.get("exitCode") == _SIGKILL:
            return "SystemOOM", sentence(f"its node ran out of memory: {message}")
    return None


def _specific_reason(container: Container, reason: str, code: int | None) -> str:
    if reason != "Error":
        return reason
    if container.init:
        return "SidecarFailed" if container.sidecar else "InitContainerFailed"
    return "Killed" if code in (_SIGKILL, _SIGTERM) else reason
