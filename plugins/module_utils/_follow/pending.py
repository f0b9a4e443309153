# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Why a step does not run yet, in one or two sentences.

The reasons come from watched objects (pods, warnings) and from those fetched while a step waits: Kueue's Workloads,
Karpenter's NodeClaims, PersistentVolumeClaims and quotas.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

from ansible_collections.mlops.eks.plugins.module_utils._diagnose import events, karpenter
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.capacity import Capacity, why_no_node
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.causes import Cause, Problem, sentence
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.detectors import (
    Snapshot,
    cannot_start,
    mount,
    not_ready,
    refusal,
)
from ansible_collections.mlops.eks.plugins.module_utils._follow.state import Rules, State
from ansible_collections.mlops.eks.plugins.module_utils._kube import pods as pod_view
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds import kueue

# Seconds a step waits before the reason is printed.
EXPLAIN_AFTER = 5.0
_QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
# Events of a claim that waits for its pod.
_CLAIM_WAITS = ("WaitForFirstConsumer", "WaitForPodScheduled")
_MAX_SENTENCES = 2
# Events of the cluster autoscaler: cluster-autoscaler/processors/status/eventing_scale_up_processor.go.
_SCALE_UP = {
    "TriggeredScaleUp": "The cluster autoscaler makes a group larger",
    "NotTriggerScaleUp": "The cluster autoscaler adds no node",
}


def is_waiting(state: State, at: float) -> bool:
    """Return whether the step, or a part of it, has been pending for a while."""
    if not state.running and at - state.running_since >= EXPLAIN_AFTER:
        return True
    return any(at - pod_view.created(pod) >= EXPLAIN_AFTER for pod in _pending(state))


def to_fetch(state: State) -> frozenset[str]:
    """Return what to fetch to explain the waiting: any of `queue, nodes, groups, claims, quotas`."""
    pods, found = _pending(state), set()
    labels = ((state.workload or {}).get("metadata") or {}).get("labels") or {}
    if state.verdict.state == "suspended" or _QUEUE_LABEL in labels or any(map(pod_view.gates, pods)):
        found.add("queue")
    if any(map(pod_view.unschedulable, pods)):
        found |= {"nodes", "groups"}
    if any(not pod_view.started(pod) and pod_view.claims(pod) for pod in pods):
        found.add("claims")
    if any("exceeded quota" in str(event.get("message")) for event in state.warnings.values()) and not state.live:
        found.add("quotas")
    return frozenset(found)


def why(state: State, rules: Rules) -> str:
    """Return why the step waits, empty when that is unknown."""
    snapshot = Snapshot(
        kind=rules.kind, workload=state.workload, pods=state.live, warnings=tuple(state.warnings.values())
    )
    sentences: dict[str, None] = {}
    for text in _sentences(state, snapshot):
        sentences[sentence(text[:1].upper() + text[1:])] = None
        if len(sentences) == _MAX_SENTENCES:
            break
    if not sentences and not state.live and state.workload is not None:
        return "No pod of it exists yet: its controller has not created any."
    return " ".join(sentences)


def endless_waits(state: State, rules: Rules) -> Iterator[Problem]:
    """Yield a problem when waiting cannot help: no node can ever run a pod, or Kueue deactivated the workload."""
    for name, message in _unplaceable(state):
        if not state.running:
            # One key for all pods: one of them is enough.
            cause = Cause.of("NoMatchingNode", f"Pod/{name}", message)
            yield Problem(key="no node", grace=rules.grace.infeasible, cause=cause)
    yield from _deactivated(state, rules)


def infeasible(state: State, capacity: Capacity | None, rules: Rules) -> dict[str, str]:
    """Return by pod without a node why no node, existing or possible, can run it; empty where one may.

    One may where a pod of the same role had a node.
    """
    known = [*state.pods.values(), *state.replaced_pods.values(), *state.failed_pods]
    placed = {rules.kind.role(pod) for pod in known if pod_view.node(pod)}
    return {
        name: "" if rules.had_nodes or rules.kind.role(pod) in placed else why_no_node(pod, capacity)
        for name, pod in state.live.items()
        if pod_view.unschedulable(pod)
    }


def _unplaceable(state: State) -> list[tuple[str, str]]:
    """Return the pods without a node that no node can ever run, each with the reason."""
    live = state.live
    return [
        (name, message)
        for name, message in state.infeasible.items()
        if message and name in live and pod_view.unschedulable(live[name])
    ]


def capacity_interval(state: State, *, short: float, long: float) -> float:
    """Return the seconds until the capacity must be fetched again: infinite when every pod has a node."""
    waiting = [name for name, pod in state.live.items() if pod_view.unschedulable(pod)]
    if not waiting:
        return math.inf
    return long if all(state.infeasible.get(name) == "" for name in waiting) else short


def _deactivated(state: State, rules: Rules) -> Iterator[Problem]:
    """Yield a problem when Kueue deactivated the Workload: only a person can activate it again."""
    # The context is not fetched again once the workload runs.
    waiting = state.workload and state.context and not state.running
    if waiting and (message := kueue.deactivated(*_queue_arguments(state))):
        cause = Cause.of("Deactivated", f"{rules.kind.kind}/{rules.name}", message)
        yield Problem(key="deactivated", grace=rules.grace.failure, cause=cause)


def _sentences(state: State, snapshot: Snapshot) -> Iterator[str]:
    pods = _pending(state)
    yield from _queued(state)
    yield from _refused(state, snapshot)
    for name, message in _unplaceable(state)[:1]:
        yield f"Pod/{name}: {message}"
    yield from _unscheduled(pods, len(state.live))
    yield from _unbound(pods, state.context)
    if any(map(pod_view.unschedulable, pods)):
        yield from karpenter.explain(pods, state.context, snapshot.warnings)
        yield from _scale_ups(pods, state.context)
    yield from _starting(pods, snapshot)
    cause = not_ready(snapshot.pods, snapshot.warnings)
    if cause:
        yield f"{cause.object} is not ready: {cause.message}"


def _pending(state: State) -> list[Document]:
    return [
        pod
        for pod in state.live.values()
        if pod_view.phase(pod) == "Pending" and not pod["metadata"].get("deletionTimestamp")
    ]


def _queued(state: State) -> Iterator[str]:
    if state.workload is None:
        return
    if reason := kueue.why_held(*_queue_arguments(state)):
        yield reason
    elif state.verdict.state == "suspended":
        yield "it is suspended and runs once it is resumed"


def _queue_arguments(state: State) -> tuple[list[Document], Document, list[str]]:
    """Return all of Kueue's Workloads, the followed workload, and the uids of its pods."""
    owners = [str(pod["metadata"].get("uid")) for pod in state.live.values()]
    return [one for one in state.context if one["kind"] == "Workload"], state.workload or {}, owners


def _refused(state: State, snapshot: Snapshot) -> Iterator[str]:
    for event in reversed(snapshot.warnings):
        cause = refusal(event, snapshot)
        if cause:
            now = "; ".join(_quota_use(state.context)) if cause.category == "quota" else ""
            yield f"{cause.object}: {cause.reason}: {cause.message.rstrip('.')}{f'; now {now}' if now else ''}"
            return


def _quota_use(context: tuple[Document, ...]) -> Iterator[str]:
    """Yield what is used of each quota."""
    for quota in context:
        if quota["kind"] != "ResourceQuota":
            continue
        status = quota.get("status") or {}
        hard, used = status.get("hard") or {}, status.get("used") or {}
        amounts = ", ".join(f"{used.get(key, '0')} of {limit} {key}" for key, limit in sorted(hard.items()))
        yield f"quota {quota['metadata']['name']} has used {amounts}"


def _unscheduled(pods: list[Document], total: int) -> Iterator[str]:
    messages = Counter(pod_view.unschedulable(pod) or "" for pod in pods)
    messages.pop("", None)
    for message, count in messages.most_common(1):
        yield f"{_pods(count, total)} no node: {message}"
    gated = [pod for pod in pods if pod_view.gates(pod)]
    if gated:
        names = ", ".join(sorted({name for pod in gated for name in pod_view.gates(pod)}))
        yield f"{_pods(len(gated), total)} scheduling gates: {names}"


def _scale_ups(pods: list[Document], context: tuple[Document, ...]) -> Iterator[str]:
    """Yield the last message of the cluster autoscaler about one of our pods."""
    names = set(map(pod_view.name, pods))
    scale_ups = [one for one in context if one["kind"] == "Event" and one.get("reason") in _SCALE_UP]
    ours = [one for one in scale_ups if one["involvedObject"].get("name") in names]
    for event in sorted(ours, key=events.seen)[-1:]:
        text = str(event.get("message") or "")
        yield f"{_SCALE_UP[str(event['reason'])]}: {text.partition(': ')[2] or text}"


def _pods(count: int, total: int) -> str:
    """Return `its pod has`, `2 of 8 pods have`."""
    if total == 1:
        return "its pod has"
    return f"{count} of {total} pods {'has' if count == 1 else 'have'}"


def _unbound(pods: list[Document], context: tuple[Document, ...]) -> Iterator[str]:
    wanted = {name for pod in pods for name in pod_view.claims(pod)}
    claim_events = {
        str(event["involvedObject"].get("name")): event
        for event in context
        if event["kind"] == "Event" and event["involvedObject"].get("kind") == "PersistentVolumeClaim"
    }
    for claim in context:
        name = str(claim["metadata"].get("name"))
        if claim["kind"] != "PersistentVolumeClaim" or name not in wanted or claim["status"].get("phase") == "Bound":
            continue
        event = claim_events.get(name) or {}
        if event.get("reason") in _CLAIM_WAITS:
            continue
        storage = claim["spec"].get("storageClassName") or "none"
        yield f"claim {name} (storage class {storage}) is not bound: {event.get('message') or 'no event says why'}"


def _starting(pods: list[Document], snapshot: Snapshot) -> Iterator[str]:
    placed = [pod for pod in pods if pod_view.node(pod) and not pod_view.unschedulable(pod)]
    sentences = [*_blocked(placed, snapshot)] or [*_initializing(placed)]
    if placed and not sentences:
        sentences = [f"{_pods(len(placed), len(snapshot.pods))} a node; images and volumes are being prepared"]
    yield from sentences


def _blocked(pods: list[Document], snapshot: Snapshot) -> Iterator[str]:
    for pod in pods:
        for container in pod_view.containers(pod):
            cause = cannot_start(pod, container, snapshot.about(pod))
            if cause:
                yield f"{cause.object} ({container.name}) cannot start: {cause.reason}: {cause.message}"
    for event in reversed(snapshot.warnings):
        cause = mount(event, snapshot)
        if cause:
            yield f"{cause.object} waits for a volume: {cause.reason}: {cause.message}"


def _initializing(pods: list[Document]) -> Iterator[str]:
    for pod in pods:
        for container in pod_view.containers(pod):
            if container.init and not container.sidecar and container.state == "running":
                yield f"init container {container.name} of Pod/{pod_view.name(pod)} runs"
