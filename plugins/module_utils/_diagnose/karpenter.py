# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""What Karpenter does for pods that have no node: which nodes it launches, or why it launches none.

Source: kubernetes-sigs/karpenter pkg/apis/v1/nodeclaim_status.go (conditions), pkg/controllers/nodeclaim/lifecycle
(their reasons and the events of a failed launch), pkg/controllers/provisioning/scheduling/events.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ansible_collections.mlops.eks.plugins.module_utils._diagnose import events
from ansible_collections.mlops.eks.plugins.module_utils._kube import pods as pod_view
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.expressions import condition, is_true

API_VERSION, PLURAL = "karpenter.sh/v1", "nodeclaims"
# Karpenter 0.32 to 0.37, with the same conditions.
OLDER = ("karpenter.sh/v1beta1",)
# The conditions of a NodeClaim in their order, and the text while each is missing.
_STAGES = (
    ("Launched", "is being launched"),
    ("Registered", "is launched, but has not joined the cluster"),
    ("Initialized", "has joined the cluster, but is not initialized"),
)
# Reasons that only say that the condition is not reached yet.
_ORDINARY = ("AwaitingReconciliation", "NotLaunched", "NodeNotFound", "")
_SHOWN = 300
# Launches that failed earlier than this before the pods were created were for others. Events exist for an hour, and
# Karpenter reports a failure at most every two minutes.
_RECENT = 300.0


def explain(pods: Sequence[Document], context: Sequence[Document], warnings: Sequence[Document]) -> Iterator[str]:
    """Yield a sentence about the nodes that Karpenter launches for `pods`, or why it launches none."""
    claims = [claim for claim in context if claim["kind"] == "NodeClaim" and _is_starting(claim) and _fits(claim, pods)]
    if claims:
        first, more = claims[0], len(claims) - 1
        others = f" (and {more} more node{'s' if more > 1 else ''})" if more else ""
        yield f"Karpenter brings node {_named(first)}{others}: it {_stage(first)}"
        return
    failures = [*_failed_launches(pods, context), *_failed_schedulings(warnings)]
    if failures:
        # A launch may be for other pods: an equally new event about our own pods takes precedence.
        yield max(failures)[-1]


def _failed_launches(pods: Sequence[Document], context: Sequence[Document]) -> Iterator[tuple[float, int, str]]:
    """Yield for each failed launch that may be for `pods` its time, precedence and sentence."""
    since = min(map(pod_view.created, pods)) - _RECENT
    for event in context:
        about = event["involvedObject"].get("kind") if event["kind"] == "Event" else ""
        if about == "NodeClaim" and events.seen(event) >= since:
            why = f"{event.get('reason')}: {str(event.get('message'))[:_SHOWN]}"
            yield events.seen(event), 0, f"Karpenter got no node: {why}"


def _failed_schedulings(warnings: Sequence[Document]) -> Iterator[tuple[float, int, str]]:
    """Yield the same for each of our pods that fits no NodePool."""
    for event in warnings:
        message = str(event.get("message") or "")
        if event.get("reason") == "FailedScheduling" and message.startswith("Failed to schedule pod"):
            yield events.seen(event), 1, f"Karpenter brings no node: {message.partition(', ')[2][:_SHOWN]}"


def _is_starting(claim: Document) -> bool:
    return not is_true(claim, "Initialized") and not claim["metadata"].get("deletionTimestamp")


def _fits(claim: Document, pods: Sequence[Document]) -> bool:
    """Return whether the node is for pods with the same devices as one of ours."""
    asked = (claim["spec"].get("resources") or {}).get("requests") or {}
    devices = {key for key in asked if "/" in key}
    return any({key for key in pod_view.requests(pod) if "/" in key} <= devices for pod in pods)


def _named(claim: Document) -> str:
    labels = claim["metadata"].get("labels") or {}
    kind = labels.get("node.kubernetes.io/instance-type")
    detail = ", ".join(filter(None, (kind, labels.get("karpenter.sh/capacity-type"))))
    return f"{claim['metadata']['name']} ({detail})" if detail else str(claim["metadata"]["name"])


def _stage(claim: Document) -> str:
    for kind, text in _STAGES:
        if not is_true(claim, kind):
            found = condition(claim, kind) or {}
            message = str(found.get("message") or "") if found.get("reason") not in _ORDINARY else ""
            return f"{text}: {message[:_SHOWN]}" if message else text
    return "is ready"
