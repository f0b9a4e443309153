# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Why a step does not run yet, in one or two sentences with the numbers of whoever holds it back.

It joins what is watched (pods, warnings) with what is fetched while a step waits: Kueue's Workloads, Karpenter's
NodeClaims, claims and quotas. What could not be fetched is not spoken of.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

from ansible_collections.mlops.eks.plugins.module_utils._diagnose import events, karpenter
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.capacity import Capacity, keeps_from
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

# A step that waits less than this many seconds needs no explanation.
PATIENCE = 5.0
_QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
# Events of a claim that say only that it waits for its pod.
_CLAIM_WAITS = ("WaitForFirstConsumer", "WaitForPodScheduled")
_SENTENCES = 2
# What the cluster autoscaler says about a pod: cluster-autoscaler/processors/status/eventing_scale_up_processor.go.
_GROWS = {
    "TriggeredScaleUp": "The cluster autoscaler makes a group larger",
    "NotTriggerScaleUp": "The cluster autoscaler adds no node",
}


def waits(state: State, at: float) -> bool:
    """Return whether the step, or a part of it, has been pending for a while."""
    if not state.runs and at - state.turned >= PATIENCE:
        return True
    return any(at - pod_view.created(pod) >= PATIENCE for pod in _pending(state))


def questions(state: State) -> frozenset[str]:
    """Return what must be fetched to explain the waiting: any of `queue, nodes, groups, claims, quotas`."""
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
    """Return why the step waits, empty when nothing tells."""
    scene = Snapshot(kind=rules.kind, workload=state.workload, pods=state.live, warnings=tuple(state.warnings.values()))
    said: dict[str, None] = {}
    for text in _sentences(state, scene):
        said[sentence(text[:1].upper() + text[1:])] = None
        if len(said) == _SENTENCES:
            break
    if not said and not state.live and state.workload is not None:
        return "No pod of it exists yet: its controller has not created any."
    return " ".join(said)


def in_vain(state: State, rules: Rules) -> Iterator[Problem]:
    """Yield that the step waits for what will not come: no node could run it, or Kueue gave it up."""
    patience = rules.patience
    for name, said in _hopeless(state):
        if not state.runs:
            # Whichever pod it is: one without a node is enough.
            cause = Cause.of("NoMatchingNode", f"Pod/{name}", said)
            yield Problem(key="no node", grace=patience.infeasible, cause=cause)
    yield from _given_up(state, rules)


def infeasible(state: State, capacity: Capacity | None, rules: Rules) -> dict[str, str]:
    """Return each pod without a node, with what keeps it from every one there is or could be, empty where it may wait.

    Where one of its role had a node, there are such.
    """
    known = [*state.pods.values(), *state.former.values(), *state.fallen]
    placed = {rules.kind.role(pod) for pod in known if pod_view.node(pod)}
    return {
        name: "" if rules.placed or rules.kind.role(pod) in placed else keeps_from(pod, capacity)
        for name, pod in state.live.items()
        if pod_view.unschedulable(pod)
    }


def _hopeless(state: State) -> list[tuple[str, str]]:
    """Return the pods that still have no node and that nothing could ever run, each with why."""
    live = state.live
    return [
        (name, said)
        for name, said in state.infeasible.items()
        if said and name in live and pod_view.unschedulable(live[name])
    ]


def unjudged(state: State, *, soon: float, seldom: float) -> float:
    """Return how many seconds after the last look at the nodes another one is due: infinite where no pod lacks one."""
    waiting = [name for name, pod in state.live.items() if pod_view.unschedulable(pod)]
    if not waiting:
        return math.inf
    return seldom if all(state.infeasible.get(name) == "" for name in waiting) else soon


def _given_up(state: State, rules: Rules) -> Iterator[Problem]:
    """Yield that Kueue lets the step wait for ever: only a person can activate its Workload again."""
    # What was fetched while it waited is not fetched again once it runs.
    waits_for_it = state.workload and state.around and not state.runs
    if waits_for_it and (said := kueue.given_up(*_gates(state))):
        cause = Cause.of("Deactivated", f"{rules.kind.kind}/{rules.name}", said)
        yield Problem(key="deactivated", grace=rules.patience.doubtful, cause=cause)


def _sentences(state: State, scene: Snapshot) -> Iterator[str]:
    pods = _pending(state)
    yield from _queued(state)
    yield from _refused(state, scene)
    for name, said in _hopeless(state)[:1]:
        yield f"Pod/{name}: {said}"
    yield from _unscheduled(pods, len(state.live))
    yield from _unbound(pods, state.around)
    if any(map(pod_view.unschedulable, pods)):
        yield from karpenter.on_the_way(pods, state.around, scene.warnings)
        yield from _grown(pods, state.around)
    yield from _starting(pods, scene)
    cause = not_ready(scene.pods, scene.warnings)
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
    if held := kueue.gate(*_gates(state)):
        yield held
    elif state.verdict.state == "suspended":
        yield "it is suspended: whoever suspended it must let it go on"


def _gates(state: State) -> tuple[list[Document], Document, list[str]]:
    """Return Kueue's Workloads, the workload they may stand in front of, and the uids of its pods."""
    owners = [str(pod["metadata"].get("uid")) for pod in state.live.values()]
    return [one for one in state.around if one["kind"] == "Workload"], state.workload or {}, owners


def _refused(state: State, scene: Snapshot) -> Iterator[str]:
    for event in reversed(scene.warnings):
        cause = refusal(event, scene)
        if cause:
            now = "; ".join(_used(state.around)) if cause.category == "quota" else ""
            yield f"{cause.object}: {cause.reason}: {cause.message.rstrip('.')}{f'; now {now}' if now else ''}"
            return


def _used(around: tuple[Document, ...]) -> Iterator[str]:
    """Return what of each full quota is used now."""
    for quota in around:
        if quota["kind"] != "ResourceQuota":
            continue
        status = quota.get("status") or {}
        hard, used = status.get("hard") or {}, status.get("used") or {}
        amounts = ", ".join(f"{used.get(key, '0')} of {limit} {key}" for key, limit in sorted(hard.items()))
        yield f"quota {quota['metadata']['name']} has used {amounts}"


def _unscheduled(pods: list[Document], total: int) -> Iterator[str]:
    found = Counter(pod_view.unschedulable(pod) or "" for pod in pods)
    found.pop("", None)
    for message, count in found.most_common(1):
        yield f"{_pods(count, total)} no node: {message}"
    gated = [pod for pod in pods if pod_view.gates(pod)]
    if gated:
        names = ", ".join(sorted({name for pod in gated for name in pod_view.gates(pod)}))
        yield f"{_pods(len(gated), total)} scheduling gates: {names}"


def _grown(pods: list[Document], around: tuple[Document, ...]) -> Iterator[str]:
    """Yield what the cluster autoscaler said last about one of our pods."""
    names = set(map(pod_view.name, pods))
    said = [one for one in around if one["kind"] == "Event" and one.get("reason") in _GROWS]
    ours = [one for one in said if one["involvedObject"].get("name") in names]
    for event in sorted(ours, key=events.seen)[-1:]:
        text = str(event.get("message") or "")
        yield f"{_GROWS[str(event['reason'])]}: {text.partition(': ')[2] or text}"


def _pods(count: int, total: int) -> str:
    """Return `its pod has`, `2 of 8 pods have`."""
    if total == 1:
        return "its pod has"
    return f"{count} of {total} pods {'has' if count == 1 else 'have'}"


def _unbound(pods: list[Document], around: tuple[Document, ...]) -> Iterator[str]:
    wanted = {name for pod in pods for name in pod_view.claims(pod)}
    said = {
        str(event["involvedObject"].get("name")): event
        for event in around
        if event["kind"] == "Event" and event["involvedObject"].get("kind") == "PersistentVolumeClaim"
    }
    for claim in around:
        name = str(claim["metadata"].get("name"))
        if claim["kind"] != "PersistentVolumeClaim" or name not in wanted or claim["status"].get("phase") == "Bound":
            continue
        event = said.get(name) or {}
        if event.get("reason") in _CLAIM_WAITS:
            continue
        storage = claim["spec"].get("storageClassName") or "none"
        yield f"claim {name} (storage class {storage}) is not bound: {event.get('message') or 'nobody says why'}"


def _starting(pods: list[Document], scene: Snapshot) -> Iterator[str]:
    placed = [pod for pod in pods if pod_view.node(pod) and not pod_view.unschedulable(pod)]
    said = [*_blocked(placed, scene)] or [*_initializing(placed)]
    if placed and not said:
        said = [f"{_pods(len(placed), len(scene.pods))} a node; images and volumes are being prepared"]
    yield from said


def _blocked(pods: list[Document], scene: Snapshot) -> Iterator[str]:
    for pod in pods:
        for container in pod_view.containers(pod):
            cause = cannot_start(pod, container, scene.about(pod))
            if cause:
                yield f"{cause.object} ({container.name}) cannot start: {cause.reason}: {cause.message}"
    for event in reversed(scene.warnings):
        cause = mount(event, scene)
        if cause:
            yield f"{cause.object} waits for a volume: {cause.reason}: {cause.message}"


def _initializing(pods: list[Document]) -> Iterator[str]:
    for pod in pods:
        for container in pod_view.containers(pod):
            if container.init and not container.sidecar and container.state == "running":
                yield f"init container {container.name} of Pod/{pod_view.name(pod)} runs"
