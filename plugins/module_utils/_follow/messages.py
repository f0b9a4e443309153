# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""What is said about a step while it runs."""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import human
from ansible_collections.mlops.eks.plugins.module_utils._follow import pending
from ansible_collections.mlops.eks.plugins.module_utils._follow.deadlines import standing
from ansible_collections.mlops.eks.plugins.module_utils._follow.drain import named, patience, staying
from ansible_collections.mlops.eks.plugins.module_utils._follow.state import Rules, State
from ansible_collections.mlops.eks.plugins.module_utils._kube import pods as pod_view
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document

# Why a step waits changes with every pod that comes up; it is said again at most this often, in seconds, and this often
# while it stays the same.
_BETWEEN = 10.0
_AGAIN = 300.0


def explain(state: State, at: float, rules: Rules) -> tuple[State, tuple[str, ...]]:
    """Return the state with why it waits, and the line that says so when that is news or was said long ago."""
    why = pending.why(state, rules) if not state.ending and pending.waits(state, at) else ""
    state = replace(state, why=why)
    if not why or at - state.explained < (_AGAIN if why == state.told else _BETWEEN):
        return state, ()
    said = f"{rules.kind.kind} {rules.name}: {standing(state)}: {why}"
    return replace(state, told=why, explained=at), (said,)


def departure(state: State, rules: Rules) -> tuple[str, ...]:
    """Return the line that says, when the workload was deleted, whose last words are waited for."""
    left = staying(state.live.values())
    said = f"{rules.kind.kind} {rules.name}: deleted; {_awaited(left, 0.0)}"
    return (said,) if left else ()


def _awaited(left: list[Document], waited: float) -> str:
    return f"waiting for {named(left)} to end, {human(max(0.0, patience(left) - waited))} at most"


def summary(state: State, rules: Rules) -> str:
    """Return one line about the pods."""
    said = pod_view.describe(state.live.values())
    if said and state.restarts:
        said += f", {state.restarts} restart{'s' if state.restarts > 1 else ''}"
    return f"{rules.kind.kind} {rules.name}: pods {said}" if said else state.summary


def heartbeat(state: State, at: float, rules: Rules) -> str:
    """Return the line that says, now and then, that the step is alive, and what is wrong where it does not wait."""
    if state.deleted is not None:
        waited = at - state.deleted
        what = f"{rules.kind.kind} {rules.name}: deleted {human(waited)} ago"
        return f"{what}; {_awaited(staying(state.live.values()), waited)}"
    progress = f"; {state.progress.describe(at - state.progressed)}" if state.progress else ""
    suspect = f"{state.suspect.object}: {state.suspect.message}" if state.suspect else ""
    # Why it waits is said in lines of its own.
    wrong = f"; {suspect}" if suspect and not state.why else ""
    return f"{rules.kind.kind} {rules.name}: {standing(state)} for {human(at - rules.started)}{progress}{wrong}"
