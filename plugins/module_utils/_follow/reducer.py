# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The reducer that follows one workload to its end.

`reduce(state, change, rules)` takes one observed change and returns the new state and the lines to print. It does no
I/O and has no clock. It decides what is terminal, what is stuck and why; it is tested with recorded changes.
"""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.mlops.eks.plugins.module_utils._core.bounds import GONE_PODS, WARNINGS
from ansible_collections.mlops.eks.plugins.module_utils._diagnose import events
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.causes import Cause
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.detectors import Snapshot, problems, reported_failure
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.terminations import failures
from ansible_collections.mlops.eks.plugins.module_utils._follow import deadlines, incidents, messages, pending
from ansible_collections.mlops.eks.plugins.module_utils._follow.changes import (
    CapacitySeen,
    Change,
    ConsoleOutput,
    ContextSeen,
    EventSeen,
    LogActivity,
    PodGone,
    PodSeen,
    Tick,
    WatchError,
    WorkloadGone,
    WorkloadSeen,
)
from ansible_collections.mlops.eks.plugins.module_utils._follow.drain import with_first_deletion
from ansible_collections.mlops.eks.plugins.module_utils._follow.lost_ranks import find_lost_ranks
from ansible_collections.mlops.eks.plugins.module_utils._follow.outcome import end
from ansible_collections.mlops.eks.plugins.module_utils._follow.state import Ending, Rules, State
from ansible_collections.mlops.eks.plugins.module_utils._kube import pods as pod_view
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.table import judge

Lines = tuple[str, ...]
# Limits of `State.unassigned_events`, which also holds events of other runs' pods, and of `State.failed_pods`.
_MAX_UNASSIGNED_EVENTS = 200
_MAX_FAILED_PODS = 200
# `messages.explain` prints why a pod has no node.
_NOT_PRINTED = ("FailedScheduling",)


def reduce(state: State, change: Change, rules: Rules, *, more: bool = False) -> tuple[State, Lines]:
    """Return the state after `change`, and the lines to print. Nothing changes after the ending.

    While `more` changes wait, changes of pods and events are only stored, so that a thousand pods that start at once
    are judged once.
    """
    if state.ending:
        return state, ()
    state, lines = _observe(state, change, rules)
    if more and isinstance(change, PodSeen | PodGone | EventSeen):
        return state, lines
    if state.deleted_at is None:
        state = _diagnose(state, change.at, rules)
        state = deadlines.update_running(_phase(state, change.at, rules), change.at, rules)
    state = end(state, change, rules)
    if not isinstance(change, LogActivity | ConsoleOutput):
        state = replace(state, restarts=incidents.total_restarts(state, rules))
    if isinstance(change, Tick | LogActivity | ContextSeen) and state.deleted_at is None:
        state, explanation = messages.explain(state, change.at, rules)
        lines = (*lines, *explanation)
    summary = messages.summary(state, rules)
    if summary != state.summary:
        lines, state = (*lines, summary), replace(state, summary=summary)
    # With progress there are heartbeats between log lines too: they tell the remaining time.
    silent = change.at - (state.heartbeat_at if state.progress else state.printed_at)
    if not lines and silent >= rules.heartbeat and not state.ending:
        lines, state = (messages.heartbeat(state, change.at, rules),), replace(state, heartbeat_at=change.at)
    return (replace(state, printed_at=change.at) if lines or isinstance(change, ConsoleOutput) else state), lines


def _observe(state: State, change: Change, rules: Rules) -> tuple[State, Lines]:
    match change:
        case WorkloadGone() if state.deleted_at is None:
            return replace(state, deleted_at=change.at), messages.deletion(state, rules)
        case WorkloadSeen(entry=entry) if state.deleted_at is None:
            verdict = judge(rules.kind, entry, until=rules.until, fail_on=rules.fail_on)
            since = state.verdict_since if verdict.state == state.verdict.state else change.at
            seen = replace(state, workload=entry, verdict=verdict, verdict_since=since, watch_error="")
            return _assign_events(seen, state.unassigned_events, rules)
        case PodSeen(entry=entry):
            failures_now = incidents.new_failures(state.pods.get(pod_view.name(entry)), entry, state, rules)
            state = replace(_with_pod(state, entry), incidents=state.incidents + len(failures_now))
            state, printed = _assign_events(state, state.unassigned_events, rules)
            return state, (*printed, *failures_now)
        case PodGone(entry=entry):
            name = pod_view.name(entry)
            entry = with_first_deletion(state.pods.get(name), entry)
            return _limit_gone(replace(state, pods={**state.pods, name: entry}, gone=state.gone | {name})), ()
        case EventSeen(entry=entry):
            return _assign_events(state, (*state.unassigned_events, entry), rules)
        case ContextSeen(entries=entries):
            return replace(state, context=entries), ()
        case CapacitySeen(capacity=capacity):
            return replace(state, infeasible=pending.infeasible(state, capacity, rules)), ()
        case LogActivity():
            return deadlines.on_output(state, change, rules), ()
        case WatchError(message=message) if message != state.watch_error:
            return replace(state, watch_error=message), (f"watching goes on in spite of: {message}",)
    return state, ()


def _with_pod(state: State, entry: Document) -> State:
    name = pod_view.name(entry)
    before = state.pods.get(name)
    entry = with_first_deletion(before, entry)
    if before is not None:
        state = _remember(state, before, entry)
    pods, gone = {**state.pods, name: entry}, state.gone - {name}
    return replace(state, pods=pods, gone=gone, watch_error="")


def _remember(state: State, before: Document, entry: Document) -> State:
    """Return the state with the pod `before`, if `entry` shows that it is being deleted or took its name.

    The workers of an MPIJob and the replicas of a StatefulSet take their names again.
    """
    replaced = before["metadata"].get("uid") != entry["metadata"].get("uid")
    # After its deletion the kubelet ends its containers; a failure before that is the program's own.
    deleted_now = pod_view.deleted_since(before) is None and (replaced or pod_view.deleted_since(entry) is not None)
    failed = deleted_now and any(failures(before))
    return replace(
        state,
        replaced_pods={**state.replaced_pods, pod_view.name(before): before} if replaced else state.replaced_pods,
        failed_pods=(*state.failed_pods, before)[-_MAX_FAILED_PODS:] if failed else state.failed_pods,
        past_restarts=state.past_restarts + incidents.lost_restarts(before, entry),
    )


def _limit_gone(state: State) -> State:
    """Return the state without the oldest deleted pod when there are too many; its restarts still count."""
    if len(state.gone) <= GONE_PODS:
        return state
    oldest = next(name for name in state.pods if name in state.gone)
    pod = state.pods[oldest]
    return replace(
        state,
        pods={name: entry for name, entry in state.pods.items() if name != oldest},
        replaced_pods={name: entry for name, entry in state.replaced_pods.items() if name != oldest},
        gone=state.gone - {oldest},
        past_restarts=state.past_restarts + (pod_view.phase(pod) != "Succeeded") + incidents.container_restarts(pod),
        dropped_pods=state.dropped_pods + 1,
    )


def _assign_events(state: State, entries: tuple[Document, ...], rules: Rules) -> tuple[State, Lines]:
    """Store the warnings about this workload and print each text once; keep events that may be about a later pod."""
    unassigned, lines, warnings, dropped = [], [], dict(state.warnings), state.dropped_warnings
    for entry in entries:
        ours = events.is_ours(entry, kind=rules.kind, name=rules.name, workload=state.workload, pods=state.pods)
        if ours is None:
            unassigned.append(entry)
        if not ours:
            continue
        known = events.identify(entry)
        if known not in warnings and entry.get("reason") not in _NOT_PRINTED and not dropped:
            lines.append(events.line(entry)[:400])
        # A repeated event replaces the older one and becomes the newest.
        warnings.pop(known, None)
        warnings[known] = entry
        if len(warnings) > WARNINGS:
            del warnings[next(iter(warnings))]
            dropped += 1
            if dropped == 1:
                lines.append(f"there are more than {WARNINGS} warnings; the newest are kept, and no more are shown")
    return replace(
        state,
        warnings=warnings,
        unassigned_events=tuple(unassigned[-_MAX_UNASSIGNED_EVENTS:]),
        dropped_warnings=dropped,
    ), tuple(lines)


def _diagnose(state: State, at: float, rules: Rules) -> State:
    """Update the current problems, and end the step when one has lasted for its grace period."""
    since: dict[str, float] = {}
    oldest: tuple[float, Cause] | None = None
    ending = None
    # Failures of a server's earlier revision do not count.
    after = rules.started if rules.kind.serves else 0.0
    snapshot = Snapshot(
        kind=rules.kind,
        workload=state.workload,
        pods=state.live,
        failed_pods=state.failed_pods,
        warnings=tuple(state.warnings.values()),
        grace=rules.grace,
        after=after,
    )
    reported = reported_failure(f"{rules.kind.kind}/{rules.name}", state.verdict, rules.grace)
    for found in (*problems(snapshot), *find_lost_ranks(state, rules), *pending.endless_waits(state, rules), *reported):
        since[found.key] = first = state.problem_since.get(found.key, at)
        if oldest is None or first < oldest[0]:
            oldest = (first, found.cause)
        # Pods alone do not fail a step: on re-attaching, the workload may already have succeeded.
        if ending is None and state.workload is not None and at - first >= found.grace:
            ending = Ending(outcome="failed", cause=found.cause)
    return replace(state, problem_since=since, problem=oldest[1] if oldest else None, ending=ending)


def _phase(state: State, at: float, rules: Rules) -> State:
    phases = dict(state.phases)
    pods = [pod for pod in state.pods.values() if state.workload is None or rules.kind.leads(state.workload, pod)]
    if any(pod_view.node(pod) for pod in pods):
        phases.setdefault("pulling", at)
    if any(container.started for pod in pods for container in pod_view.containers(pod) if not container.init):
        phases.setdefault("pulling", at)
        phases.setdefault("running", at)
    return replace(state, phases=phases)
