# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The reducer that follows one workload to its true end.

`reduce(state, change, rules)` takes one observed change and returns the new state and the lines to print. It does
no I/O and has no
clock of its own: what is terminal, what is stuck and why is decided here, and tested with recorded changes.
"""

from __future__ import annotations

import typing as t
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import from_iso, human
from ansible_collections.mlops.eks.plugins.module_utils._kube import pods as pod_view
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document
from ansible_collections.mlops.eks.plugins.module_utils._kube.expressions import Expression
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds import PENDING, Kind, Verdict, judge
from ansible_collections.mlops.eks.plugins.module_utils._step.causes import Cause, Patience, first_failure, suspicions
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

    `pods` maps names to the last view of every pod ever seen; `gone` names the deleted ones. `since` maps the key
    of each present
    suspicion to when it was first seen. `phases` maps each phase entered to its start.
    """

    workload: Document | None = None
    pods: Mapping[str, Document] = field(default_factory=dict)
    gone: frozenset[str] = frozenset()
    warnings: Mapping[str, Document] = field(default_factory=dict)
    since: Mapping[str, float] = field(default_factory=dict)
    suspect: Cause | None = None
    verdict: Verdict = PENDING
    phases: Mapping[Phase, float] = field(default_factory=dict)
    summary: str = ""
    trouble: str = ""
    spoke: float = 0.0
    ending: Ending | None = None

    @property
    def live(self) -> dict[str, Document]:
        """Pods that still exist."""
        return {name: pod for name, pod in self.pods.items() if name not in self.gone}


def start(rules: Rules, at: float) -> State:
    """Return the state before anything was observed."""
    return State(phases={"queued": rules.started}, spoke=at)


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


def settle(state: State, pods: list[Document]) -> State:
    """Return the ended state with the pods as they are at the end; what decided the ending stays."""
    latest = {pod_view.name(pod): pod for pod in pods}
    return replace(state, pods={**state.pods, **latest})


def _observe(state: State, change: Change, rules: Rules) -> tuple[State, Lines]:
    match change:
        case WorkloadSeen(entry=entry):
            verdict = judge(rules.kind, entry, until=rules.until, fail_on=rules.fail_on)
            return replace(state, workload=entry, verdict=verdict, trouble=""), ()
        case PodSeen(entry=entry):
            return replace(state, pods={**state.pods, pod_view.name(entry): entry}, trouble=""), ()
        case PodGone(entry=entry):
            name = pod_view.name(entry)
            return replace(state, pods={**state.pods, name: entry}, gone=state.gone | {name}), ()
        case EventSeen(entry=entry):
            return _event(state, entry, rules)
        case Trouble(message=message) if message != state.trouble:
            return replace(state, trouble=message), (f"watching goes on in spite of: {message}",)
    return state, ()


def _event(state: State, entry: Document, rules: Rules) -> tuple[State, Lines]:
    """Keep and print a warning about something of ours, once per text."""
    about = entry.get("involvedObject") or {}
    name = str(about.get("name", ""))
    ours = name == rules.name or name.startswith(f"{rules.name}-")
    key = f"{about.get('kind')}/{name} {entry.get('reason')} {entry.get('message')}"
    if entry.get("type") != "Warning" or not ours or key in state.warnings or _older(entry, state.workload):
        return state, ()
    text = " ".join(str(entry.get("message", "")).split())
    line = f"{about.get('kind')}/{name}: {entry.get('reason')}: {text[:300]}"
    return replace(state, warnings={**state.warnings, key: entry}), (line,)


def _older(entry: Document, workload: Document | None) -> bool:
    """Return whether the event is of an earlier workload of the same name."""
    seen = entry.get("lastTimestamp") or entry.get("eventTime") or entry["metadata"].get("creationTimestamp")
    if workload is None or not seen:
        return False
    return from_iso(seen) < from_iso(workload["metadata"]["creationTimestamp"])


def _suspect(state: State, at: float, rules: Rules) -> State:
    """Let every present trouble age, and end the step when one is older than its grace."""
    since: dict[str, float] = {}
    worst: tuple[float, Cause] | None = None
    ending = None
    for found in suspicions(state.live, tuple(state.warnings.values()), rules.patience):
        since[found.key] = first = state.since.get(found.key, at)
        if worst is None or first < worst[0]:
            worst = (first, found.cause)
        if ending is None and at - first >= found.grace:
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
    if ending is None:
        return state
    return replace(state, ending=ending, phases={**state.phases, "finishing": change.at})


def _ending(state: State, change: Change, rules: Rules) -> Ending | None:
    subject = f"{rules.kind.kind}/{rules.name}"
    if isinstance(change, LockLost):
        return Ending(
            outcome="lost", cause=_cause("LockLost", subject, f"{change.holder} took over.", "Follow it there.")
        )
    # What the workload itself says counts more than a suspicion about one of its pods.
    if state.verdict.state in ("succeeded", "ready"):
        return Ending(outcome="ready" if state.verdict.state == "ready" else "succeeded")
    if state.verdict.state == "failed":
        return Ending(outcome="failed", cause=_failure(state, subject))
    if isinstance(change, WorkloadGone):
        said = "it was deleted while it ran."
        return Ending(
            outcome="lost", cause=_cause("Deleted", subject, said, "Run the same command again to start anew.")
        )
    if state.ending:
        return state.ending
    if change.at - rules.started >= rules.timeout:
        waiting = f" {state.suspect.object}: {state.suspect.message}" if state.suspect else ""
        said = (
            f"it was still {state.verdict.state} after {human(rules.timeout)} ({state.summary or 'no pods'}).{waiting}"
        )
        return Ending(
            outcome="timed_out", cause=_cause("Timeout", subject, said, "Raise 'timeout' or find out what hangs.")
        )
    return None


def _failure(state: State, subject: str) -> Cause:
    own = state.verdict
    first = first_failure(state.pods)
    if first is None or own.reason in ("DeadlineExceeded", "fail_on"):
        said = f"{own.message or own.reason or 'its status is failed'}"
        return _cause(
            own.reason or "Failed", subject, said.rstrip(".") + ".", "Its events and pods are in the evidence."
        )
    return first


def _cause(reason: str, subject: str, message: str, remedy: str) -> Cause:
    return Cause(reason=reason, object=subject, message=message, remedy=remedy)


def _summary(state: State, rules: Rules) -> str:
    """Return one line about the pods, such as `2 running, 1 pending (ContainerCreating)`."""
    counts: Counter[str] = Counter()
    reasons: dict[str, set[str]] = {}
    for pod in state.live.values():
        phase = pod_view.phase(pod).lower()
        counts[phase] += 1
        if phase in ("pending", "running"):
            found = {entry.reason for entry in pod_view.containers(pod) if entry.state == "waiting" and entry.reason}
            found |= {"Unschedulable"} if pod_view.unschedulable(pod) else set()
            reasons.setdefault(phase, set()).update(found - {"PodInitializing", "ContainerCreating"})
    parts = [
        f"{n} {phase}" + (f" ({', '.join(sorted(reasons[phase]))})" if reasons.get(phase) else "")
        for phase, n in sorted(counts.items())
    ]
    return f"{rules.kind.kind} {rules.name}: pods {', '.join(parts)}" if parts else state.summary


def _heartbeat(state: State, at: float, rules: Rules) -> str:
    why = f"; {state.suspect.object}: {state.suspect.message}" if state.suspect else ""
    return f"{rules.kind.kind} {rules.name}: {state.verdict.state} for {human(at - rules.started)}{why}"
