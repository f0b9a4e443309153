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
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.expressions import is_true
from ansible_collections.mlops.eks.plugins.module_utils._kube.pods import Container, Disruption

_SIGNALS = {130: " (SIGINT)", 134: " (SIGABRT)", 137: " (SIGKILL)", 139: " (segmentation fault)", 143: " (SIGTERM)"}
_SIGKILL, _SIGTERM = 137, 143
# Probes for which the kubelet ends a container; an event tells of it at most this many seconds before or after.
_FATAL_PROBES = ("Liveness", "Startup")
_ANNOUNCED = 60.0
# Taints of a node that does not answer (Kubernetes v1.35 pkg/controller/nodelifecycle/node_lifecycle_controller.go).
_LOST_TAINTS = ("node.kubernetes.io/unreachable", "node.kubernetes.io/not-ready")
# Reasons of a node's events that announce the loss of a spot instance: Karpenter's (aws/karpenter-provider-aws
# pkg/controllers/interruption/events/events.go; on the pods as well) and the AWS Node Termination Handler's
# (pkg/observability/k8s-events.go).
_SPOT = ("SpotInterrupted", "SpotInterruption")
# Seconds after such an event within which its node is drained or gone: EC2 gives notice of two minutes.
_SPOT_NOTICE = 300.0
# What takes a single pod off its node for the sake of another, whatever has been announced of the node.
_ALONE = ("Evicted", "PreemptionByScheduler", "PreemptionByKubelet")
_DISRUPTED = {
    "NodeLost": "its node {node} was lost",
    "NodeShutdown": "its node {node} shut down",
    "SpotInterrupted": "EC2 took its spot instance {node} back",
    "Evicted": "the kubelet of node {node} evicted it",
    "EvictionByEvictionAPI": "it was evicted from node {node} by request",
    "TaintEviction": "a NoExecute taint evicted it from node {node}",
    "PreemptionByScheduler": "a pod of higher priority took its place on node {node}",
    "PreemptionByKubelet": "a critical pod took its place on node {node}",
}


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


def killed(container: Container) -> bool:
    """Return whether its last instance was ended by a signal from outside."""
    return container.ended.get("exitCode") in (_SIGKILL, _SIGTERM)


def ran(container: Container) -> float:
    """Return for how many seconds the last ended instance ran."""
    started, finished = container.ended.get("startedAt"), container.ended.get("finishedAt")
    return from_iso(finished) - from_iso(started) if started and finished else 0.0


def of_instance(pod: Document, container: Container, warnings: Iterable[Document]) -> Cause:
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
    began = max(end - max(ran(container), 1.0), end - _ANNOUNCED)
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


def of_pod(
    pod: Document, warnings: Iterable[Document], node: Document | None = None
) -> tuple[Cause, float | None] | None:
    """Return what took a whole pod off its node and when, in seconds since the epoch, or `None`.

    `warnings` are about the pod and its node. A pod that the kubelet refused has the kubelet's word as the reason.
    """
    found = pod_view.disruption(pod)
    if found is None or found.reason == "TaintEviction":
        # A pod that had not been ready before its node was lost looks as if somebody had tainted the node.
        found = _by_node(pod, node) or found
    for event in warnings:
        mine = event["involvedObject"].get("kind") == "Pod"
        if event.get("reason") in _SPOT and (mine or (found and _announced(found, event))):
            return _disrupted(pod, Disruption("SpotInterrupted", str(event.get("message")), events.seen(event)))
        if mine and event.get("reason") == "NodeNotReady" and not found and _silent_since(pod, event):
            found = Disruption("NodeLost", str(event.get("message")), events.seen(event))
    if found:
        return _disrupted(pod, found)
    own = (pod.get("status") or {}).get("reason")
    if pod_view.phase(pod) == "Failed" and own and not any(one.ended for one in pod_view.containers(pod)):
        return Cause.of(str(own), f"Pod/{pod_view.name(pod)}", str(pod["status"].get("message") or own)), None
    return None


def _announced(found: Disruption, event: Document) -> bool:
    """Return whether what took a pod off its node was announced by this event about the node."""
    if found.reason in _ALONE:
        return False
    return found.at is None or -_ANNOUNCED <= found.at - events.seen(event) <= _SPOT_NOTICE


def _by_node(pod: Document, node: Document | None) -> Disruption | None:
    """Return the loss of the node of a pod that nobody has told of it yet."""
    if node is None or pod_view.phase(pod) in ("Succeeded", "Failed"):
        return None
    if node.get("gone"):
        return Disruption("NodeLost", "the node does not exist any more", None)
    for taint in (node.get("spec") or {}).get("taints") or ():
        if taint.get("key") in _LOST_TAINTS:
            at = from_iso(taint["timeAdded"]) if taint.get("timeAdded") else None
            return Disruption("NodeLost", f"it has the taint {taint['key']}", at)
    return None


def _silent_since(pod: Document, event: Document) -> bool:
    """Return whether nothing was heard of the pod since: its node may be back, or it took a lost one's place."""
    return not is_true(pod, "Ready") and events.seen(event) >= pod_view.created(pod)


def _disrupted(pod: Document, found: Disruption) -> tuple[Cause, float | None]:
    what = _DISRUPTED.get(found.reason, "it was taken off node {node}").format(node=pod_view.node(pod) or "?")
    said = f"{what}: {found.message}" if found.message else what
    return Cause.of(found.reason, f"Pod/{pod_view.name(pod)}", said), found.at
