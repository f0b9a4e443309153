# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Disruptions: recognise why a pod lost its node: a lost node, a spot interruption, an eviction or a preemption.

Sources: Kubernetes v1.35 "Disruptions" (condition DisruptionTarget) and the files named below; Karpenter
aws/karpenter-provider-aws pkg/controllers/interruption/events/events.go; AWS Node Termination Handler
pkg/observability/k8s-events.go.
"""

from __future__ import annotations

import typing as t
from collections.abc import Iterable

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import from_iso
from ansible_collections.mlops.eks.plugins.module_utils._diagnose import events
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.causes import Cause
from ansible_collections.mlops.eks.plugins.module_utils._kube import pods as pod_view
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.expressions import condition, is_true

# Reasons of DisruptionTarget for a lost node (pkg/controller/podgc/gc_controller.go). The first one is also set for a
# NoExecute taint on a healthy node (pkg/controller/tainteviction/taint_eviction.go).
_TAINTED = "DeletionByTaintManager"
_NODE_LOST = (_TAINTED, "DeletionByPodGC")
# Taints of a node that does not answer (pkg/controller/nodelifecycle/node_lifecycle_controller.go).
_NODE_LOST_TAINTS = ("node.kubernetes.io/unreachable", "node.kubernetes.io/not-ready")
# Status reasons that the kubelet sets on a pod that it ended (pkg/kubelet/{eviction,nodeshutdown,preemption}), and
# older control planes on a pod whose node is silent (pkg/util/node/node.go).
_BY_STATUS = {
    "Evicted": "Evicted",
    "Terminated": "NodeShutdown",
    "NodeShutdown": "NodeShutdown",
    "Preempting": "PreemptionByKubelet",
    "NodeLost": "NodeLost",
}
# Event reasons for the interruption of a spot instance, on its node; Karpenter's also on the pods.
_SPOT = ("SpotInterrupted", "SpotInterruption")
# Seconds in which the node is drained or gone: EC2 gives a notice of two minutes. Clocks differ by the second number.
_SPOT_NOTICE, _CLOCK_SKEW = 300.0, 60.0
# Disruptions of a single pod, which an event about the node does not explain.
_SINGLE_POD = ("Evicted", "PreemptionByScheduler", "PreemptionByKubelet")
_MESSAGES = {
    "NodeLost": "its node {node} was lost",
    "NodeShutdown": "its node {node} shut down",
    "SpotInterrupted": "EC2 took its spot instance {node} back",
    "Evicted": "the kubelet of node {node} evicted it",
    "EvictionByEvictionAPI": "it was evicted from node {node} by request",
    "TaintEviction": "a NoExecute taint evicted it from node {node}",
    "PreemptionByScheduler": "a pod of higher priority took its place on node {node}",
    "PreemptionByKubelet": "a critical pod took its place on node {node}",
}


class Disruption(t.NamedTuple):
    """What took a pod off its node; `at` in seconds since the epoch, `None` when unknown."""

    reason: str
    message: str
    at: float | None


def disruption(pod: Document) -> Disruption | None:
    """Return the disruption that the pod's own status shows, or `None`."""
    status, target = pod.get("status") or {}, condition(pod, "DisruptionTarget") or {}
    at, ready, reason = _since(target), condition(pod, "Ready") or {}, str(target.get("reason") or "")
    if reason == _TAINTED and (ready.get("status") == "True" or ready.get("reason")):
        # The kubelet answers, so the node is not lost.
        reason = "TaintEviction"
    if ready.get("status") == "False" and (at is None or reason in _NODE_LOST):
        # Pods of a silent node are set to not ready long before they are deleted.
        at = min(filter(None, (at, _since(ready))), default=None)
    message = str(status.get("message") or "")
    if status.get("reason") in _BY_STATUS:
        return Disruption(_BY_STATUS[status["reason"]], message or str(target.get("message") or ""), at)
    if pod_view.phase(pod) == "Unknown":
        return Disruption("NodeLost", message or "its state is unknown, its node is silent", at)
    if target.get("status") != "True":
        return None
    return Disruption("NodeLost" if reason in _NODE_LOST else reason, str(target.get("message") or message), at)


def _since(found: Document) -> float | None:
    return from_iso(found["lastTransitionTime"]) if found.get("lastTransitionTime") else None


def node_is_silent(pod: Document) -> bool:
    """Return whether the pod's node is lost or does not answer.

    The control plane sets the pods of a silent node to not ready without a reason; a kubelet always gives one
    (pkg/controller/util/node/controller_utils.go, MarkPodsNotReady).
    """
    ready, found = condition(pod, "Ready") or {}, disruption(pod)
    unready = ready.get("status") == "False" and not ready.get("reason")
    return unready or (found is not None and found.reason == "NodeLost")


def disruption_cause(
    pod: Document, warnings: Iterable[Document], node: Document | None = None
) -> tuple[Cause, float | None] | None:
    """Return the cause that took the pod off its node and its time in seconds since the epoch, or `None`.

    `warnings` are about the pod and its node. For a pod that the kubelet refused, the reason is the kubelet's.
    """
    found = disruption(pod)
    if found is None or found.reason == "TaintEviction":
        # A pod that was not ready before its node was lost looks like one evicted by a taint.
        found = _lost_node(pod, node) or found
    for event in warnings:
        about_pod = event["involvedObject"].get("kind") == "Pod"
        if event.get("reason") in _SPOT and (about_pod or (found and _announced(found, event))):
            return _cause(pod, Disruption("SpotInterrupted", str(event.get("message")), events.seen(event)))
        if about_pod and event.get("reason") == "NodeNotReady" and not found and _silent_since(pod, event):
            found = Disruption("NodeLost", str(event.get("message")), events.seen(event))
    if found:
        return _cause(pod, found)
    reason = (pod.get("status") or {}).get("reason")
    if pod_view.phase(pod) == "Failed" and reason and not any(one.ended for one in pod_view.containers(pod)):
        return Cause.of(str(reason), f"Pod/{pod_view.name(pod)}", str(pod["status"].get("message") or reason)), None
    return None


def _lost_node(pod: Document, node: Document | None) -> Disruption | None:
    """Return the loss of the node, for an unfinished pod whose status does not show it yet."""
    if node is None or pod_view.phase(pod) in ("Succeeded", "Failed"):
        return None
    if node.get("gone"):
        return Disruption("NodeLost", "the node does not exist any more", None)
    for taint in (node.get("spec") or {}).get("taints") or ():
        if taint.get("key") in _NODE_LOST_TAINTS:
            at = from_iso(taint["timeAdded"]) if taint.get("timeAdded") else None
            return Disruption("NodeLost", f"it has the taint {taint['key']}", at)
    return None


def _announced(found: Disruption, event: Document) -> bool:
    """Return whether this event about the node announced the disruption."""
    if found.reason in _SINGLE_POD:
        return False
    return found.at is None or -_CLOCK_SKEW <= found.at - events.seen(event) <= _SPOT_NOTICE


def _silent_since(pod: Document, event: Document) -> bool:
    """Return whether the node is silent since the event: it did not come back, and the pod is no later replacement."""
    return not is_true(pod, "Ready") and events.seen(event) >= pod_view.created(pod)


def _cause(pod: Document, found: Disruption) -> tuple[Cause, float | None]:
    text = _MESSAGES.get(found.reason, "it was taken off node {node}").format(node=pod_view.node(pod) or "?")
    message = f"{text}: {found.message}" if found.message else text
    return Cause.of(found.reason, f"Pod/{pod_view.name(pod)}", message), found.at
