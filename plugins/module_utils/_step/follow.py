# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The reducer that follows one workload to its true end.

`reduce(state, change, rules)` takes one observed change and returns the new state and the lines to print. It does no
I/O and has no clock of its own: what is terminal, what is stuck and why is decided here, tested with recorded changes.
"""

from __future__ import annotations

import typing as t
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import human
from ansible_collections.mlops.eks.plugins.module_utils._kube import pods as pod_view
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document
from ansible_collections.mlops.eks.plugins.module_utils._kube.expressions import Expression
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds import PENDING, Kind, Verdict, judge
from ansible_collections.mlops.eks.plugins.module_utils._step import events
from ansible_collections.mlops.eks.plugins.module_utils._step.causes import (
    Cause,
    Patience,
    doubts,
    first_failure,
    suspicions,
)
from ansible_collections.mlops.eks.plugins.module_utils._step.changes import (
    Change,
    EventSeen,
    LockLost,
    Output,
    PodGone,
    PodSeen,
    Trouble,
    WorkloadGone,
    WorkloadSeen,
)

Outcome = t.Literal["succeeded", "ready", "skipped", "failed", "timed_out", "cancelled", "lost"]
GOOD: tuple[Outcome, ...] = ("succeeded", "ready", "skipped")
Phase = t.Literal["queued", "pulling", "running", "finishing"]
_ORDER: tuple[Phase, ...] = ("queued", "pulling", "running", "finishing")
Lines = tuple[str, ...]
# Events of other runs' pods pass through `held` as well; more than this are not kept.
_HELD = 200
# Seconds after which a step can end although its workload was never seen.
_FIRST_LOOK = 30.0


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What ends the step. Times in seconds; `started` since the epoch."""

    kind: Kind
    name: str
    started: float
    timeout: float = 86400.0
    heartbeat: float = 60.0
    patience: Patience = field(default_factory=Patience)
    until: Expression | None = None
    fail_on: tuple[Expression, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Ending:
    """How the step ended."""

    outcome: Outcome
    cause: Cause | None = None


@dataclass(frozen=True, kw_only=True)
class State:
    """Everything known of the workload so far.

    `pods` maps names to the last view of every pod ever seen; `gone` names the deleted ones. `since` maps the key of
    each present suspicion to when it was first seen. `phases` maps each phase entered to its start. `held` are events
    that may turn out to be ours.
    """

    workload: Document | None = None
    pods: Mapping[str, Document] = field(default_factory=dict)
    gone: frozenset[str] = frozenset()
    warnings: Mapping[str, Document] = field(default_factory=dict)
    held: tuple[Document, ...] = ()
    since: Mapping[str, float] = field(default_factory=dict)
    suspect: Cause | None = None
    verdict: Verdict = PENDING
    phases: Mapping[Phase, float] = field(default_factory=dict)
    summary: str = ""
    trouble: str = ""
    spoke: float = 0.0
    began: float = 0.0
    ending: Ending | None = None

    @property
    def live(self) -> dict[str, Document]:
        """Pods that still exist."""
        return {name: pod for name, pod in self.pods.items() if name not in self.gone}


def start(rules: Rules, at: float) -> State:
    """Return the state before anything was observed."""
    return State(phases={"queued": rules.started}, spoke=at, began=at)


def reduce(state: State, change: Change, rules: Rules) -> tuple[State, Lines]:
    """Return the state after `change`, and the lines to print. Nothing changes after the ending."""
    if state.ending:
        return state, ()
    state, lines = _observe(state, change, rules)
    state = _suspect(state, change.at, rules)
    state = _phase(state, change.at, rules)
    state = _end(state, change, rules)
    said = _summary(state, rules)
    if said != state.summary:
        lines, state = (*lines, said), replace(state, summary=said)
    if not lines and change.at - state.spoke >= rules.heartbeat:
        lines = (_heartbeat(state, change.at, rules),)
    return (replace(state, spoke=change.at) if lines or isinstance(change, Output) else state), lines


def settle(state: State, pods: list[Document], rules: Rules) -> State:
    """Return the ended state with the pods as they are at the end; what decided the ending stays.

    The container to blame is looked for again: its last words may arrive after the workload's.
    """
    state = replace(state, pods={**state.pods, **{pod_view.name(pod): pod for pod in pods}})
    if state.ending and state.ending.outcome == "failed" and state.verdict.state == "failed":
        return replace(state, ending=_failure(state, f"{rules.kind.kind}/{rules.name}"))
    return state


def _observe(state: State, change: Change, rules: Rules) -> tuple[State, Lines]:
    match change:
        case WorkloadSeen(entry=entry):
            verdict = judge(rules.kind, entry, until=rules.until, fail_on=rules.fail_on)
            return _heard(replace(state, workload=entry, verdict=verdict, trouble=""), state.held, rules)
        case PodSeen(entry=entry):
            # A pod of the same name may come again: the workers of an MPIJob, a replica that is tried again.
            name = pod_view.name(entry)
            pods, gone = {**state.pods, name: entry}, state.gone - {name}
            return _heard(replace(state, pods=pods, gone=gone, trouble=""), state.held, rules)
        case PodGone(entry=entry):
            name = pod_view.name(entry)
            return replace(state, pods={**state.pods, name: entry}, gone=state.gone | {name}), ()
        case EventSeen(entry=entry):
            return _heard(state, (*state.held, entry), rules)
        case Trouble(message=message) if message != state.trouble:
            return replace(state, trouble=message), (f"watching goes on in spite of: {message}",)
    return state, ()


def _heard(state: State, entries: tuple[Document, ...], rules: Rules) -> tuple[State, Lines]:
    """Keep and print the warnings about something of ours, once per text; hold those of which nobody can tell yet."""
    held, lines, warnings = [], [], dict(state.warnings)
    for entry in entries:
        ours = events.is_ours(entry, kind=rules.kind, name=rules.name, workload=state.workload, pods=state.pods)
        if ours is None:
            held.append(entry)
        if ours and (key := events.identify(entry)) not in warnings:
            warnings[key] = entry
            lines.append(events.line(entry)[:400])
    return replace(state, warnings=warnings, held=tuple(held[-_HELD:])), tuple(lines)


def _suspect(state: State, at: float, rules: Rules) -> State:
    """Let every present trouble age, and end the step when one is older than its grace."""
    since: dict[str, float] = {}
    worst: tuple[float, Cause] | None = None
    ending = None
    # A server that is upgraded brings the accidents of its earlier life along.
    after = rules.started if rules.kind.serves else 0.0
    present = suspicions(state.live, tuple(state.warnings.values()), rules.patience, after=after)
    for found in (*present, *doubts(f"{rules.kind.kind}/{rules.name}", state.verdict, rules.patience)):
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


def _end(state: State, change: Change, rules: Rules) -> State:
    ending = _ending(state, change, rules)
    return replace(state, ending=ending, phases={**state.phases, "finishing": change.at}) if ending else state


def _ending(state: State, change: Change, rules: Rules) -> Ending | None:
    subject = f"{rules.kind.kind}/{rules.name}"
    if isinstance(change, LockLost):
        return _bad("lost", "LockLost", subject, f"{change.holder} took over.", "Follow it there.")
    # What the workload itself says counts more than a suspicion about one of its pods.
    if state.verdict.state in ("succeeded", "ready"):
        return Ending(outcome="ready" if state.verdict.state == "ready" else "succeeded")
    if state.verdict.state == "failed":
        return _failure(state, subject)
    if isinstance(change, WorkloadGone):
        said = "it was deleted while it ran."
        return _bad("lost", "Deleted", subject, said, "Run the same command again to start anew.")
    if state.ending:
        return state.ending
    known = state.workload is not None or change.at - state.began >= _FIRST_LOOK
    if known and change.at - rules.started >= rules.timeout:
        waiting = f" {state.suspect.object}: {state.suspect.message}" if state.suspect else ""
        pods = state.summary or "no pods"
        said = f"it was still {state.verdict.state} after {human(rules.timeout)} ({pods}).{waiting}"
        return _bad("timed_out", "Timeout", subject, said, "Raise 'timeout' or find out what hangs.")
    return None


def _failure(state: State, subject: str) -> Ending:
    own = state.verdict
    first = first_failure(state.pods)
    if first is None or own.reason in ("DeadlineExceeded", "fail_on"):
        said = (own.message or own.reason or "its status is failed").rstrip(".") + "."
        return _bad("failed", own.reason or "Failed", subject, said, "Its events and pods are in the evidence.")
    return Ending(outcome="failed", cause=first)


def _bad(outcome: Outcome, reason: str, subject: str, message: str, remedy: str) -> Ending:
    return Ending(outcome=outcome, cause=Cause(reason=reason, object=subject, message=message, remedy=remedy))


def _summary(state: State, rules: Rules) -> str:
    said = pod_view.describe(state.live.values())
    return f"{rules.kind.kind} {rules.name}: pods {said}" if said else state.summary


def _heartbeat(state: State, at: float, rules: Rules) -> str:
    why = f"; {state.suspect.object}: {state.suspect.message}" if state.suspect else ""
    return f"{rules.kind.kind} {rules.name}: {state.verdict.state} for {human(at - rules.started)}{why}"
