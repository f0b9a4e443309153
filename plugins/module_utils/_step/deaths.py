# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""What a container or a whole pod died of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import from_iso
from ansible_collections.mlops.eks.plugins.module_utils._kube import pods as pod_view
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document
from ansible_collections.mlops.eks.plugins.module_utils._kube.pods import Container, Disruption
from ansible_collections.mlops.eks.plugins.module_utils._step import events
from ansible_collections.mlops.eks.plugins.module_utils._step.causes import Cause, of_container, sentence

_SIGNALS = {130: " (SIGINT)", 134: " (SIGABRT)", 137: " (SIGKILL)", 139: " (segmentation fault)", 143: " (SIGTERM)"}
# Exit codes of SIGKILL and SIGTERM: somebody else wanted it to end.
_KILLED = (137, 143)
# The kubelet tells of a failed probe at most this many seconds before it kills the container for it.
_PROBE_SECONDS = 60.0
# Reasons of a node's events that announce the loss of a spot instance: Karpenter's (aws/karpenter-provider-aws
# pkg/controllers/interruption/events/events.go; on the pods as well) and the AWS Node Termination Handler's
# (pkg/observability/k8s-events.go).
_SPOT = ("SpotInterrupted", "SpotInterruption")
_DISRUPTED = {
    "NodeLost": "its node {node} was lost",
    "NodeShutdown": "its node {node} shut down",
    "SpotInterrupted": "EC2 took its spot instance {node} back",
    "Evicted": "the kubelet of node {node} evicted it",
    "EvictionByEvictionAPI": "it was evicted from node {node} by request",
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


def ran(container: Container) -> float:
    """Return for how many seconds the last ended instance ran."""
    started, finished = container.ended.get("startedAt"), container.ended.get("finishedAt")
    return from_iso(finished) - from_iso(started) if started and finished else 0.0


def of_instance(pod: Document, container: Container, warnings: Iterable[Document]) -> Cause:
    """Return why a container's last instance ended; a failed probe shows only in the pod's events."""
    code, own = container.ended.get("exitCode"), str(container.ended.get("reason") or "Error")
    if own == "OOMKilled":
        limit = f" of {container.memory}" if container.memory else ""
        said = f"it used more memory than its limit{limit} and was killed (exit code {code})"
        return of_container(pod, container, own, said)
    probe = _failed_probe(pod, container, warnings)
    if probe:
        said = f"{probe[1]} The kubelet ended it (exit code {code}{_SIGNALS.get(code or 0, '')})."
        return of_container(pod, container, probe[0], said)
    what = "sidecar" if container.sidecar else "init container" if container.init else "it"
    words = sentence(str(container.ended.get("message") or "").strip())
    said = f"{what} ended with exit code {code}{_SIGNALS.get(code or 0, '')}. {words}"
    return of_container(pod, container, _own_reason(container, own, code), said)


def _own_reason(container: Container, reason: str, code: int | None) -> str:
    if reason != "Error":
        return reason
    if container.init:
        return "SidecarFailed" if container.sidecar else "InitContainerFailed"
    return "Killed" if code in _KILLED else reason


def _failed_probe(pod: Document, container: Container, warnings: Iterable[Document]) -> tuple[str, str] | None:
    """Return reason and words of the probe that this instance was ended for."""
    end = ended_at(container)
    for event in warnings:
        about, said = event.get("involvedObject") or {}, str(event.get("message") or "")
        kind = said.partition(" ")[0]
        if (
            event.get("reason") == "Unhealthy"
            and kind in ("Liveness", "Startup")
            and about.get("name") == pod_view.name(pod)
            and f"{{{container.name}}}" in str(about.get("fieldPath") or f"{{{container.name}}}")
            and end - max(ran(container), 1.0) <= events.seen(event) <= end + _PROBE_SECONDS
            and end - events.seen(event) <= _PROBE_SECONDS
        ):
            return f"{kind}ProbeFailed", sentence(said)
    return None


def of_pod(pod: Document, warnings: Iterable[Document]) -> tuple[Cause, float | None] | None:
    """Return what took a whole pod off its node and when, in seconds since the epoch, or `None`.

    A pod that the kubelet refused or ended as a whole has the kubelet's own word as the reason.
    """
    found = pod_view.disruption(pod)
    for event in warnings:
        about = event.get("involvedObject") or {}
        mine = about.get("kind") == "Pod" and about.get("name") == pod_view.name(pod)
        mine = mine or (about.get("kind") == "Node" and about.get("name") == pod_view.node(pod))
        if mine and event.get("reason") in _SPOT and (found or about["kind"] == "Pod"):
            return _disrupted(pod, Disruption("SpotInterrupted", str(event.get("message")), events.seen(event)))
        if mine and event.get("reason") == "NodeNotReady" and not found:
            found = Disruption("NodeLost", str(event.get("message")), events.seen(event))
    if found:
        return _disrupted(pod, found)
    own = (pod.get("status") or {}).get("reason")
    if pod_view.phase(pod) == "Failed" and own and not any(one.ended for one in pod_view.containers(pod)):
        return Cause.of(str(own), f"Pod/{pod_view.name(pod)}", str(pod["status"].get("message") or own)), None
    return None


def _disrupted(pod: Document, found: Disruption) -> tuple[Cause, float | None]:
    what = _DISRUPTED.get(found.reason, "it was taken off node {node}").format(node=pod_view.node(pod) or "?")
    said = f"{what}: {found.message}" if found.message else what
    return Cause.of(found.reason, f"Pod/{pod_view.name(pod)}", said), found.at
