# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Which container is to blame when a step failed, and what it died of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import from_iso
from ansible_collections.mlops.eks.plugins.module_utils._kube import pods as pod_view
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document
from ansible_collections.mlops.eks.plugins.module_utils._kube.pods import Container
from ansible_collections.mlops.eks.plugins.module_utils._step.causes import Cause, of_container, sentence

# Exit codes of SIGKILL and SIGTERM.
_KILLED = (137, 143)


def first_failure(pods: Mapping[str, Document]) -> Cause | None:
    """Return the cause of the container that failed first: the others suffer from it."""
    # Of those that ended in the same second, one that was killed was rather a victim.
    found = [
        ((when(container), container.ended["exitCode"] in _KILLED, pod_view.name(pod)), pod, container)
        for pod in pods.values()
        for container in failures(pod)
    ]
    if not found:
        return None
    _, pod, container = min(found, key=lambda one: one[0])
    return ended(pod, container)


def ended(pod: Document, container: Container) -> Cause:
    """Return why a container's last instance ended."""
    code, reason = container.ended.get("exitCode"), str(container.ended.get("reason") or "Error")
    if reason == "OOMKilled":
        limit = _limit(pod, container.name)
        message = (
            f"it used more memory than its limit{f' of {limit}' if limit else ''} and was killed (exit code {code})."
        )
        return of_container(pod, container, reason, message)
    said = str(container.ended.get("message") or "").strip()
    message = f"it ended with exit code {code}{_signal(code)}." + (f" {sentence(said)}" if said else "")
    return of_container(pod, container, reason, message)


def failures(pod: Document) -> Iterator[Container]:
    """Yield the containers of which an instance failed."""
    for container in pod_view.containers(pod):
        if container.ended.get("exitCode"):
            yield container


def ran(container: Container) -> float:
    """Return for how many seconds the last ended instance ran."""
    started, finished = container.ended.get("startedAt"), container.ended.get("finishedAt")
    return from_iso(finished) - from_iso(started) if started and finished else 0.0


def when(container: Container) -> float:
    """Return when the last instance ended, in seconds since the epoch."""
    finished = container.ended.get("finishedAt")
    return from_iso(finished) if finished else float("inf")


def _limit(pod: Document, name: str) -> str:
    for container in pod["spec"]["containers"]:
        if container["name"] == name:
            return str(((container.get("resources") or {}).get("limits") or {}).get("memory", ""))
    return ""


def _signal(code: int | None) -> str:
    names = {130: " (SIGINT)", 134: " (SIGABRT)", 137: " (SIGKILL)", 139: " (segmentation fault)", 143: " (SIGTERM)"}
    return names.get(code or 0, "")
