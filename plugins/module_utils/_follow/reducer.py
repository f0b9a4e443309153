# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The reducer that follows one workload to its true end.

`reduce(state, change, rules)` takes one observed change and returns the new state and the lines to print. It does no
I/O and has no clock of its own: what is terminal, what is stuck and why is decided here, tested with recorded changes.
"""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.mlops.eks.plugins.module_utils._core.bounds import GONE_PODS, WARNINGS
from ansible_collections.mlops.eks.plugins.module_utils._diagnose import events
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.causes import Cause
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.detectors import Snapshot, doubts, problems
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.terminations import failures
from ansible_collections.mlops.eks.plugins.module_utils._follow import deadlines, incidents, messages, pending
from ansible_collections.mlops.eks.plugins.module_utils._follow.changes import (
    CapacitySeen,
    Change,
    ContextSeen,
    EventSeen,
    Output,
    PodGone,
    PodSeen,
    Tick,
    Trouble,
    WorkloadGone,
    WorkloadSeen,
    Wrote,
)
from ansible_collections.mlops.eks.plugins.module_utils._follow.drain import deleted_first
from ansible_collections.mlops.eks.plugins.module_utils._follow.lost_ranks import find_lost_ranks
from ansible_collections.mlops.eks.plugins.module_utils._follow.outcome import end
from ansible_collections.mlops.eks.plugins.module_utils._follow.state import Ending, Rules, State
from ansible_collections.mlops.eks.plugins.module_utils._kube import pods as pod_view
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.table import judge

Lines = tuple[str, ...]
# Events of other runs' pods pass through `held` as well; more than this are not kept.
_HELD = 200
# As many pods that failed and were deleted are remembered.
_FALLEN = 200
# Why a pod has no node is said in `messages.explain`.
_EXPLAINED = ("FailedScheduling",)


def reduce(state: State, change: Change, rules: Rules, *, more: bool = False) -> tuple[State, Lines]:
    """Return the state after `change`, and the lines to print. Nothing changes after the ending.

    With `more` changes waiting, news of a pod is only noted: a thousand pods that start at once are judged together.
    """
    if state.ending:
        return state, ()
    state, lines = _observe(state, change, rules)
    if more and isinstance(change, PodSeen | PodGone | EventSeen):
        return state, lines
    if state.deleted is None:
        state = _suspect(state, change.at, rules)
        state = deadlines.turn(_phase(state, change.at, rules), change.at, rules)
    state = end(state, change, rules)
    if not isinstance(change, Wrote | Output):
        state = replace(state, restarts=incidents.count(state, rules))
    if isinstance(change, Tick | Wrote | ContextSeen) and state.deleted is None:
        state, told = messages.explain(state, change.at, rules)
        lines = (*lines, *told)
    said = messages.summary(state, rules)
    if said != state.summary:
        lines, state = (*lines, said), replace(state, summary=said)
    # Lines of a log do not say how long it will take: with progress there is a heartbeat among them, too.
    silent = change.at - (state.beat if state.progress else state.spoke)
    if not lines and silent >= rules.heartbeat and not state.ending:
        lines, state = (messages.heartbeat(state, change.at, rules),), replace(state, beat=change.at)
    return (replace(state, spoke=change.at) if lines or isinstance(change, Output) else state), lines


def _observe(state: State, change: Change, rules: Rules) -> tuple[State, Lines]:
    match change:
        case WorkloadGone() if state.deleted is None:
            return replace(state, deleted=change.at), messages.departure(state, rules)
        case WorkloadSeen(entry=entry) if state.deleted is None:
            verdict = judge(rules.kind, entry, until=rules.until, fail_on=rules.fail_on)
            judged = state.judged if verdict.state == state.verdict.state else change.at
            seen = replace(state, workload=entry, verdict=verdict, judged=judged, trouble="")
            return _heard(seen, state.held, rules)
        case PodSeen(entry=entry):
            # A pod of the same name may come again: the workers of an MPIJob, a replica that is tried again.
            said = incidents.since(state.pods.get(pod_view.name(entry)), entry, state, rules)
            state = replace(_with_pod(state, entry), incidents=state.incidents + len(said))
            state, heard = _heard(state, state.held, rules)
            return state, (*heard, *said)
        case PodGone(entry=entry):
            name = pod_view.name(entry)
            entry = deleted_first(state.pods.get(name), entry)
            return _without_oldest(replace(state, pods={**state.pods, name: entry}, gone=state.gone | {name})), ()
        case EventSeen(entry=entry):
            return _heard(state, (*state.held, entry), rules)
        case ContextSeen(entries=entries):
            return replace(state, around=entries), ()
        case CapacitySeen(capacity=capacity):
            return replace(state, infeasible=pending.infeasible(state, capacity, rules)), ()
        case Wrote():
            return deadlines.on_output(state, change, rules), ()
        case Trouble(message=message) if message != state.trouble:
            return replace(state, trouble=message), (f"watching goes on in spite of: {message}",)
    return state, ()


def _with_pod(state: State, entry: Document) -> State:
    name = pod_view.name(entry)
    before = state.pods.get(name)
    entry = deleted_first(before, entry)
    if before is not None:
        state = _remembered(state, before, entry)
    pods, gone = {**state.pods, name: entry}, state.gone - {name}
    return replace(state, pods=pods, gone=gone, trouble="")


def _remembered(state: State, before: Document, entry: Document) -> State:
    """Return the state with what is to be remembered of a pod that was `before`, and goes or is followed by another."""
    followed = before["metadata"].get("uid") != entry["metadata"].get("uid")
    former = {**state.former, pod_view.name(before): before} if followed else state.former
    # Once it is being deleted its containers end by force; before that they fail by themselves.
    goes = pod_view.deleted_since(before) is None and (followed or pod_view.deleted_since(entry) is not None)
    fallen = (*state.fallen, before)[-_FALLEN:] if goes and any(failures(before)) else state.fallen
    return replace(state, former=former, fallen=fallen, replaced=state.replaced + incidents.replaced(before, entry))


def _without_oldest(state: State) -> State:
    """Return the state without the pods that went first, once too many are gone; what they count for stays."""
    if len(state.gone) <= GONE_PODS:
        return state
    oldest = next(name for name in state.pods if name in state.gone)
    pod = state.pods[oldest]
    return replace(
        state,
        pods={name: entry for name, entry in state.pods.items() if name != oldest},
        former={name: entry for name, entry in state.former.items() if name != oldest},
        gone=state.gone - {oldest},
        replaced=state.replaced + (pod_view.phase(pod) != "Succeeded") + incidents.of_containers(pod),
        forgotten=state.forgotten + 1,
    )


def _heard(state: State, entries: tuple[Document, ...], rules: Rules) -> tuple[State, Lines]:
    """Keep and print the warnings about something of ours, once per text; hold those of which nobody can tell yet."""
    held, lines, warnings, dropped = [], [], dict(state.warnings), state.dropped
    for entry in entries:
        ours = events.is_ours(entry, kind=rules.kind, name=rules.name, workload=state.workload, pods=state.pods)
        if ours is None:
            held.append(entry)
        if not ours:
            continue
        known = events.identify(entry)
        if known not in warnings and entry.get("reason") not in _EXPLAINED and not dropped:
            lines.append(events.line(entry)[:400])
        # A repetition tells when it happened last, and is the newest then.
        warnings.pop(known, None)
        warnings[known] = entry
        if len(warnings) > WARNINGS:
            del warnings[next(iter(warnings))]
            dropped += 1
            if dropped == 1:
                lines.append(f"there are more than {WARNINGS} warnings; the newest are kept, and no more are shown")
    return replace(state, warnings=warnings, held=tuple(held[-_HELD:]), dropped=dropped), tuple(lines)


def _suspect(state: State, at: float, rules: Rules) -> State:
    """Let every present trouble age, and end the step when one is older than its grace."""
    since: dict[str, float] = {}
    worst: tuple[float, Cause] | None = None
    ending = None
    # A server that is upgraded brings the accidents of its earlier life along.
    after = rules.started if rules.kind.serves else 0.0
    scene = Snapshot(
        kind=rules.kind,
        workload=state.workload,
        pods=state.live,
        fallen=state.fallen,
        warnings=tuple(state.warnings.values()),
        patience=rules.patience,
        after=after,
    )
    doubted = doubts(f"{rules.kind.kind}/{rules.name}", state.verdict, rules.patience)
    for found in (*problems(scene), *find_lost_ranks(state, rules), *pending.in_vain(state, rules), *doubted):
        since[found.key] = first = state.since.get(found.key, at)
        if worst is None or first < worst[0]:
            worst = (first, found.cause)
        # Without the workload a pod proves nothing: on re-attaching, a later success may already stand there.
        if ending is None and state.workload is not None and at - first >= found.grace:
            ending = Ending(outcome="failed", cause=found.cause)
    return replace(state, since=since, suspect=worst[1] if worst else None, ending=ending)


def _phase(state: State, at: float, rules: Rules) -> State:
    phases = dict(state.phases)
    pods = [pod for pod in state.pods.values() if state.workload is None or rules.kind.leads(state.workload, pod)]
    if any(pod_view.node(pod) for pod in pods):
        phases.setdefault("pulling", at)
    if any(container.started for pod in pods for container in pod_view.containers(pod) if not container.init):
        phases.setdefault("pulling", at)
        phases.setdefault("running", at)
    return replace(state, phases=phases)
