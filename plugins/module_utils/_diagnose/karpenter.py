# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""What Karpenter does about pods that have no node: which nodes are on their way, and why they are not there.

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
# Of Karpenter 0.32 to 0.37, with the same conditions.
OLDER = ("karpenter.sh/v1beta1",)
# What a node goes through, and what it is until then.
_STAGES = (
    ("Launched", "is being launched"),
    ("Registered", "is launched, but has not joined the cluster"),
    ("Initialized", "has joined the cluster, but is not initialized"),
)
# Reasons of a stage that say only that it has not come yet.
_ORDINARY = ("AwaitingReconciliation", "NotLaunched", "NodeNotFound", "")
_SHOWN = 300
# Seconds before the pods were created in which a launch must have failed to be about nodes of their kind; events live
# for an hour, and a failure is told at most every two minutes.
_RECENT = 300.0


def explain(pods: Sequence[Document], around: Sequence[Document], warnings: Sequence[Document]) -> Iterator[str]:
    """Yield a sentence about the nodes that Karpenter brings for `pods`, or about why it brings none."""
    claims = [claim for claim in around if claim["kind"] == "NodeClaim" and _comes(claim) and _fits(claim, pods)]
    if claims:
        first, more = claims[0], len(claims) - 1
        others = f" (and {more} more node{'s' if more > 1 else ''})" if more else ""
        yield f"Karpenter brings node {_named(first)}{others}: it {_stage(first)}"
        return
    said = [*_launches(pods, around), *_schedulings(warnings)]
    if said:
        # Launches may have been for others: of two that are as new, what is said about our own pods counts.
        yield max(said)[-1]


def _launches(pods: Sequence[Document], around: Sequence[Document]) -> Iterator[tuple[float, int, str]]:
    """Yield when a launch failed that may have been for `pods`, and a sentence about it."""
    since = min(map(pod_view.created, pods)) - _RECENT
    for event in around:
        about = event["involvedObject"].get("kind") if event["kind"] == "Event" else ""
        if about == "NodeClaim" and events.seen(event) >= since:
            why = f"{event.get('reason')}: {str(event.get('message'))[:_SHOWN]}"
            yield events.seen(event), 0, f"Karpenter got no node: {why}"


def _schedulings(warnings: Sequence[Document]) -> Iterator[tuple[float, int, str]]:
    """Yield when no node could be had for one of our pods, and a sentence about it."""
    for event in warnings:
        said = str(event.get("message") or "")
        if event.get("reason") == "FailedScheduling" and said.startswith("Failed to schedule pod"):
            yield events.seen(event), 1, f"Karpenter brings no node: {said.partition(', ')[2][:_SHOWN]}"


def _comes(claim: Document) -> bool:
    return not is_true(claim, "Initialized") and not claim["metadata"].get("deletionTimestamp")


def _fits(claim: Document, pods: Sequence[Document]) -> bool:
    """Return whether the node is for pods that ask for the same devices as one of ours; others' nodes come, too."""
    asked = (claim["spec"].get("resources") or {}).get("requests") or {}
    devices = {key for key in asked if "/" in key}
    return any({key for key in pod_view.requests(pod) if "/" in key} <= devices for pod in pods)


def _named(claim: Document) -> str:
    labels = claim["metadata"].get("labels") or {}
    kind = labels.get("node.kubernetes.io/instance-type")
    detail = ", ".join(filter(None, (kind, labels.get("karpenter.sh/capacity-type"))))
    return f"{claim['metadata']['name']} ({detail})" if detail else str(claim["metadata"]["name"])


def _stage(claim: Document) -> str:
    for kind, words in _STAGES:
        if not is_true(claim, kind):
            found = condition(claim, kind) or {}
            said = str(found.get("message") or "") if found.get("reason") not in _ORDINARY else ""
            return f"{words}: {said[:_SHOWN]}" if said else words
    return "is ready"
