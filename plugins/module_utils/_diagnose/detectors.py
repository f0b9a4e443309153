# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""What keeps a step from going on now: read from pods, warning events and the workload, each with its grace."""

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
# What the kubelet puts before the words of the last try while it waits for the next: the same trouble is told once.
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
    """What is judged: the pods that exist and the warnings about them; what was before `after` is forgiven.

    `fallen` are the pods that had failed when they were deleted.
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
        """The warnings by what they are about."""
        return events.by_subject(self.warnings)

    def about(self, pod: Document) -> tuple[Document, ...]:
        """Return the warnings about a pod and its node."""
        return events.about_pod(self.subjects, pod)


def problems(scene: Snapshot) -> Iterator[Problem]:
    """Yield every trouble that pods and warning events show now."""
    for pod in scene.pods.values():
        if scene.workload is None or scene.kind.is_current(scene.workload, pod):
            yield from _of_pod(pod, scene)
    for attempts in _in_vain(scene):
        if len(attempts) > scene.grace.max_restarts:
            yield _loop(attempts[-1], next(failures(attempts[-1])), len(attempts), scene)
    # Times of events have whole seconds.
    for event in (event for event in scene.warnings if events.seen(event) + 1 > scene.after):
        cause = refusal(event, scene) or mount(event, scene)
        if cause:
            yield _problem(cause, scene.grace)


def _in_vain(scene: Snapshot) -> Iterable[list[Document]]:
    """Return for each role the pods that failed soon, each made after the one before it had ended.

    Ranks that fail together are no attempts: one may have taken the others along.
    """
    found: dict[str, list[Document]] = {}
    # Of a server that is started again in new pods nobody else ever says that it is enough.
    fallen = scene.failed_pods if scene.kind.serves else ()
    ended = (pod for pod in scene.pods.values() if pod_view.phase(pod) == "Failed")
    for pod in sorted((*fallen, *ended), key=pod_view.created):
        ends = [ended_at(one) for one in failures(pod) if run_seconds(one) < _LOOP_SECONDS]
        if ends and max(ends) >= scene.after:
            attempts = found.setdefault(scene.kind.role(pod), [])
            if not attempts or pod_view.created(pod) >= max(map(ended_at, failures(attempts[-1]))):
                attempts.append(pod)
    return found.values()


def reported_failure(subject: str, verdict: Verdict, grace: GracePeriods) -> Iterator[Problem]:
    """Yield the failure that the workload reports and may still take back."""
    if verdict.reason and not verdict.final:
        cause = Cause.of(verdict.reason, subject, verdict.message)
        yield Problem(key=f"doubt {verdict.reason}", grace=grace.failure, cause=cause)


def _problem(cause: Cause, grace: GracePeriods) -> Problem:
    """Return the suspicion of a cause that may go away; its key outlives a change of words."""
    kind = _GRACES.get(cause.reason) or _GRACES[cause.category]
    # Whichever pod it is: they wait for the same nodes.
    subject = "" if cause.reason == "Unschedulable" else f" {cause.object}/{cause.container}"
    return Problem(key=f"{cause.category}{subject}", grace=getattr(grace, kind), cause=cause)


def _of_pod(pod: Document, scene: Snapshot) -> Iterator[Problem]:
    subject = f"Pod/{pod_view.name(pod)}"
    message = pod_view.unschedulable(pod)
    if message:
        reason = patterns.reason_of(message, patterns.SCHEDULING, "Unschedulable")
        yield _problem(Cause.of(reason, subject, message), scene.grace)
    gone = None if scene.kind.serves else disruption_cause(pod, scene.about(pod))
    if gone:
        yield Problem(key=f"gone {subject}", grace=scene.grace.failure, cause=gone[0])
    for container in pod_view.containers(pod):
        yield from _of_container(pod, container, scene)


def _of_container(pod: Document, container: Container, scene: Snapshot) -> Iterator[Problem]:
    waiting = cannot_start(pod, container, scene.about(pod))
    if waiting:
        found = _problem(waiting, scene.grace)
        yield replace(found, grace=0.0) if container.reason in _FINAL and found.grace < math.inf else found
    if not container.ended or ended_at(container) < scene.after:
        return
    if container.ended.get("reason") == "OOMKilled" and _for_good(pod, scene.kind):
        cause = termination_cause(pod, container, scene.about(pod))
        yield Problem(key=f"oom {cause.object}/{container.name}", grace=0.0, cause=cause)
    if container.restarts > scene.grace.max_restarts and _loops(container):
        yield _loop(pod, container, container.restarts, scene)


def cannot_start(pod: Document, container: Container, warnings: tuple[Document, ...]) -> Cause | None:
    """Return why the kubelet cannot start a container, or `None` when it says nothing of the kind."""
    category = lookup(container.reason).category
    if container.state != "waiting" or category not in ("image_pull", "configuration"):
        return None
    said, reason = _BACKS_OFF.sub("", container.message), container.reason
    if category == "image_pull" and reason not in _FINAL:
        # Older kubelets say only 'Back-off pulling image' after the first try.
        heard = (str(event.get("message")) for event in warnings)
        words = (said, *(text for text in heard if container.image in text))
        known = ((patterns.reason_of(text, patterns.IMAGE, ""), text) for text in words)
        reason, said = next((pair for pair in known if pair[0]), (reason, said))
    return of_container(pod, container, reason, said or f"image {container.image}")


def _for_good(pod: Document, kind: Kind) -> bool:
    """Return whether nobody puts something in the place of a container that ran out of memory.

    A server would run out of it again. An operator that notices failed pods starts them anew or says when it gives up.
    """
    return kind.serves or (not kind.replaces_failed_pods and pod["spec"].get("restartPolicy") == "Never")


def _loop(pod: Document, container: Container, times: int, scene: Snapshot) -> Problem:
    last = termination_cause(pod, container, scene.about(pod))
    reason = "CrashLoop" if last.category in ("program", "workload") else last.reason
    cause = replace(last, reason=reason, message=f"It ended {times} times; the last time: {last.message}")
    return Problem(key=f"loop {cause.object}", grace=0.0, cause=cause)


def _loops(container: Container) -> bool:
    """Return whether it fails soon after each start; a server that ends well again and again is as bad."""
    failed = bool(container.ended.get("exitCode")) or container.reason == "CrashLoopBackOff"
    return failed and run_seconds(container) < _LOOP_SECONDS


def refusal(event: Document, scene: Snapshot) -> Cause | None:
    """Return why the API server lets nobody create the pods, or the operator does not want to."""
    about, own = event.get("involvedObject") or {}, str(event.get("reason"))
    said = str(event.get("message") or "")
    validation = lookup(own).category == "validation"
    reason = own if validation else patterns.reason_of(said, patterns.REFUSED, own)
    if about.get("kind") == "Pod" or lookup(reason).category not in ("validation", "admission", "quota"):
        return None
    if scene.pods and not validation:
        return None
    # Two looks of an operator met: what one of them wanted to make, the other had made.
    if said.endswith("already exists"):
        return None
    return Cause.of(reason, f"{about.get('kind')}/{about.get('name')}", said)


def mount(event: Document, scene: Snapshot) -> Cause | None:
    """Return why a pod that waits for a volume does not get it."""
    about, own = event.get("involvedObject") or {}, str(event.get("reason"))
    pod = scene.pods.get(str(about.get("name")))
    if own not in ("FailedMount", "FailedAttachVolume") or pod is None or pod_view.started(pod):
        return None
    said = str(event.get("message") or "")
    return Cause.of(patterns.reason_of(said, patterns.VOLUME, own), f"Pod/{pod_view.name(pod)}", said)


def not_ready(pods: Mapping[str, Document], warnings: Iterable[Document]) -> Cause | None:
    """Return what the newest failed readiness probe said of a pod that runs, but does not serve."""
    for event in sorted(warnings, key=events.seen, reverse=True):
        about, said = event.get("involvedObject") or {}, str(event.get("message") or "")
        pod = pods.get(str(about.get("name")))
        if event.get("reason") == "Unhealthy" and said.startswith("Readiness") and pod and pod_view.unready(pod):
            container = str(about.get("fieldPath") or "").partition("{")[2].rstrip("}")
            return Cause.of("ReadinessProbeFailed", f"Pod/{about['name']}", said, container=container)
    return None
