# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Detectors: the current problems of a step, from pods, warning events and the workload, each with its grace period."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from ansible_collections.mlops.eks.plugins.module_utils._diagnose import events, patterns
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.causes import (
    Cause,
    GracePeriods,
    Problem,
    of_container,
)
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.disruptions import disruption_cause
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.reasons import lookup
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.terminations import (
    ended_at,
    failures,
    run_seconds,
    termination_cause,
)
from ansible_collections.mlops.eks.plugins.module_utils._kube import pods as pod_view
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.table import Kind, Verdict
from ansible_collections.mlops.eks.plugins.module_utils._kube.pods import Container

# A container that ran longer than this before it failed is not in a crash loop (the kubelet's own reset time).
_LOOP_SECONDS = 600.0
# Reasons of a waiting container that do not go away by waiting (kubelet `pkg/kubelet/images/types.go`).
_FINAL = ("ErrImageNeverPull", "InvalidImageName")
# The prefix that the kubelet adds while it waits to pull again; without it, the messages are the same.
_BACKS_OFF = re.compile(r'^Back-off pulling image "[^"]*": \w+: ')
# The grace period of a problem: by its category or, where that is too coarse, by its reason.
_GRACES: Mapping[str, str] = {
    "image_pull": "image",
    "configuration": "config",
    "scheduling": "unschedulable",
    "validation": "config",
    "admission": "config",
    "quota": "unschedulable",
    "volume": "volume",
    "ClaimUnbound": "unschedulable",
    "VolumeClaim": "config",
    "VolumeSourceMissing": "config",
    "WebhookUnreachable": "failure",
}


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """What the detectors read: existing pods and the warnings about them. What happened before `after` is ignored.

    `failed_pods` are those that had failed when they were deleted.
    """

    kind: Kind
    workload: Document | None
    pods: Mapping[str, Document]
    failed_pods: tuple[Document, ...] = ()
    warnings: tuple[Document, ...] = ()
    grace: GracePeriods = field(default_factory=GracePeriods)
    after: float = 0.0

    @cached_property
    def subjects(self) -> Mapping[str, tuple[Document, ...]]:
        """The warnings by the object they are about."""
        return events.by_subject(self.warnings)

    def about(self, pod: Document) -> tuple[Document, ...]:
        """Return the warnings about a pod and its node."""
        return events.about_pod(self.subjects, pod)


def problems(snapshot: Snapshot) -> Iterator[Problem]:
    """Yield every problem that pods and warning events show now."""
    for pod in snapshot.pods.values():
        if snapshot.workload is None or snapshot.kind.is_current(snapshot.workload, pod):
            yield from _of_pod(pod, snapshot)
    for attempts in _failed_attempts(snapshot):
        if len(attempts) > snapshot.grace.max_restarts:
            yield _loop(attempts[-1], next(failures(attempts[-1])), len(attempts), snapshot)
    # Event times have whole seconds.
    for event in (event for event in snapshot.warnings if events.seen(event) + 1 > snapshot.after):
        cause = refusal(event, snapshot) or mount(event, snapshot)
        if cause:
            yield _problem(cause, snapshot.grace)


def _failed_attempts(snapshot: Snapshot) -> Iterable[list[Document]]:
    """Return for each role the pods that failed early, each created after the end of the one before.

    Ranks that fail together count once: the failure of one may end the others.
    """
    found: dict[str, list[Document]] = {}
    # No controller gives up a server whose pods are replaced again and again.
    deleted = snapshot.failed_pods if snapshot.kind.serves else ()
    ended = (pod for pod in snapshot.pods.values() if pod_view.phase(pod) == "Failed")
    for pod in sorted((*deleted, *ended), key=pod_view.created):
        ends = [ended_at(one) for one in failures(pod) if run_seconds(one) < _LOOP_SECONDS]
        if ends and max(ends) >= snapshot.after:
            attempts = found.setdefault(snapshot.kind.role(pod), [])
            if not attempts or pod_view.created(pod) >= max(map(ended_at, failures(attempts[-1]))):
                attempts.append(pod)
    return found.values()


def reported_failure(subject: str, verdict: Verdict, grace: GracePeriods) -> Iterator[Problem]:
    """Yield the failure that the workload reports but may still revoke."""
    if verdict.reason and not verdict.final:
        cause = Cause.of(verdict.reason, subject, verdict.message)
        yield Problem(key=f"doubt {verdict.reason}", grace=grace.failure, cause=cause)


def _problem(cause: Cause, grace: GracePeriods) -> Problem:
    """Return the problem of a cause that may go away; its key does not change with the message."""
    kind = _GRACES.get(cause.reason) or _GRACES[cause.category]
    # One key for all unschedulable pods: they wait for the same nodes.
    subject = "" if cause.reason == "Unschedulable" else f" {cause.object}/{cause.container}"
    return Problem(key=f"{cause.category}{subject}", grace=getattr(grace, kind), cause=cause)


def _of_pod(pod: Document, snapshot: Snapshot) -> Iterator[Problem]:
    subject = f"Pod/{pod_view.name(pod)}"
    message = pod_view.unschedulable(pod)
    if message:
        reason = patterns.reason_of(message, patterns.SCHEDULING, "Unschedulable")
        yield _problem(Cause.of(reason, subject, message), snapshot.grace)
    disrupted = None if snapshot.kind.serves else disruption_cause(pod, snapshot.about(pod))
    if disrupted:
        yield Problem(key=f"gone {subject}", grace=snapshot.grace.failure, cause=disrupted[0])
    for container in pod_view.containers(pod):
        yield from _of_container(pod, container, snapshot)


def _of_container(pod: Document, container: Container, snapshot: Snapshot) -> Iterator[Problem]:
    waiting = cannot_start(pod, container, snapshot.about(pod))
    if waiting:
        found = _problem(waiting, snapshot.grace)
        yield replace(found, grace=0.0) if container.reason in _FINAL and found.grace < math.inf else found
    if not container.ended or ended_at(container) < snapshot.after:
        return
    if container.ended.get("reason") == "OOMKilled" and _is_final(pod, snapshot.kind):
        cause = termination_cause(pod, container, snapshot.about(pod))
        yield Problem(key=f"oom {cause.object}/{container.name}", grace=0.0, cause=cause)
    if container.restarts > snapshot.grace.max_restarts and _is_crash_loop(container):
        yield _loop(pod, container, container.restarts, snapshot)


def cannot_start(pod: Document, container: Container, warnings: tuple[Document, ...]) -> Cause | None:
    """Return why the kubelet cannot start a container, or `None`."""
    category = lookup(container.reason).category
    if container.state != "waiting" or category not in ("image_pull", "configuration"):
        return None
    message, reason = _BACKS_OFF.sub("", container.message), container.reason
    if category == "image_pull" and reason not in _FINAL:
        # Older kubelets report only 'Back-off pulling image' after the first try.
        texts = (message, *(text for event in warnings if container.image in (text := str(event.get("message")))))
        known = ((patterns.reason_of(text, patterns.IMAGE, ""), text) for text in texts)
        reason, message = next((pair for pair in known if pair[0]), (reason, message))
    return of_container(pod, container, reason, message or f"image {container.image}")


def _is_final(pod: Document, kind: Kind) -> bool:
    """Return whether a container that ran out of memory fails the step at once.

    A server would run out of memory again. An operator that watches failed pods replaces them or fails the workload.
    """
    return kind.serves or (not kind.replaces_failed_pods and pod["spec"].get("restartPolicy") == "Never")


def _loop(pod: Document, container: Container, times: int, snapshot: Snapshot) -> Problem:
    last = termination_cause(pod, container, snapshot.about(pod))
    reason = "CrashLoop" if last.category in ("program", "workload") else last.reason
    cause = replace(last, reason=reason, message=f"It ended {times} times; the last time: {last.message}")
    return Problem(key=f"loop {cause.object}", grace=0.0, cause=cause)


def _is_crash_loop(container: Container) -> bool:
    """Return whether it ends soon after each start, with an error or, in CrashLoopBackOff, without."""
    failed = bool(container.ended.get("exitCode")) or container.reason == "CrashLoopBackOff"
    return failed and run_seconds(container) < _LOOP_SECONDS


def refusal(event: Document, snapshot: Snapshot) -> Cause | None:
    """Return why the API server, or the operator, refuses to create the pods."""
    about, event_reason = event.get("involvedObject") or {}, str(event.get("reason"))
    message = str(event.get("message") or "")
    validation = lookup(event_reason).category == "validation"
    reason = event_reason if validation else patterns.reason_of(message, patterns.REFUSED, event_reason)
    if about.get("kind") == "Pod" or lookup(reason).category not in ("validation", "admission", "quota"):
        return None
    if snapshot.pods and not validation:
        return None
    # Two reconciliations of an operator created the same object at the same time.
    if message.endswith("already exists"):
        return None
    return Cause.of(reason, f"{about.get('kind')}/{about.get('name')}", message)


def mount(event: Document, snapshot: Snapshot) -> Cause | None:
    """Return why a pod that waits for a volume does not get it."""
    about, reason = event.get("involvedObject") or {}, str(event.get("reason"))
    pod = snapshot.pods.get(str(about.get("name")))
    if reason not in ("FailedMount", "FailedAttachVolume") or pod is None or pod_view.started(pod):
        return None
    message = str(event.get("message") or "")
    return Cause.of(patterns.reason_of(message, patterns.VOLUME, reason), f"Pod/{pod_view.name(pod)}", message)


def not_ready(pods: Mapping[str, Document], warnings: Iterable[Document]) -> Cause | None:
    """Return the newest failed readiness probe of a pod that runs but is not ready."""
    for event in sorted(warnings, key=events.seen, reverse=True):
        about, message = event.get("involvedObject") or {}, str(event.get("message") or "")
        pod = pods.get(str(about.get("name")))
        if event.get("reason") == "Unhealthy" and message.startswith("Readiness") and pod and pod_view.unready(pod):
            container = str(about.get("fieldPath") or "").partition("{")[2].rstrip("}")
            return Cause.of("ReadinessProbeFailed", f"Pod/{about['name']}", message, container=container)
    return None
