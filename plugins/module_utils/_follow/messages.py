# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The lines that the engine prints about a step while it runs."""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import human
from ansible_collections.mlops.eks.plugins.module_utils._follow import pending
from ansible_collections.mlops.eks.plugins.module_utils._follow.deadlines import status_word
from ansible_collections.mlops.eks.plugins.module_utils._follow.drain import grace_seconds, pod_names, unfinished
from ansible_collections.mlops.eks.plugins.module_utils._follow.state import Rules, State
from ansible_collections.mlops.eks.plugins.module_utils._kube import pods as pod_view
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document

# Seconds between two explanations of the waiting: when the reason changes, as with every pod that starts, and when it
# stays the same.
_CHANGED_INTERVAL = 10.0
_SAME_INTERVAL = 300.0


def explain(state: State, at: float, rules: Rules) -> tuple[State, tuple[str, ...]]:
    """Return the state with why the step waits, and a line with the reason when it is new or was printed long ago."""
    why = pending.why(state, rules) if not state.ending and pending.is_waiting(state, at) else ""
    state = replace(state, why=why)
    if not why or at - state.explained_at < (_SAME_INTERVAL if why == state.explanation else _CHANGED_INTERVAL):
        return state, ()
    line = f"{rules.kind.kind} {rules.name}: {status_word(state)}: {why}"
    return replace(state, explanation=why, explained_at=at), (line,)


def deletion(state: State, rules: Rules) -> tuple[str, ...]:
    """Return a line about the deleted workload when pods of it still run."""
    left = unfinished(state.live.values())
    return (f"{rules.kind.kind} {rules.name}: deleted; {_waiting_for(left, 0.0)}",) if left else ()


def _waiting_for(left: list[Document], waited: float) -> str:
    return f"waiting for {pod_names(left)} to end, {human(max(0.0, grace_seconds(left) - waited))} at most"


def summary(state: State, rules: Rules) -> str:
    """Return one line about the pods."""
    pods = pod_view.describe(state.live.values())
    if pods and state.restarts:
        pods += f", {state.restarts} restart{'s' if state.restarts > 1 else ''}"
    return f"{rules.kind.kind} {rules.name}: pods {pods}" if pods else state.summary


def heartbeat(state: State, at: float, rules: Rules) -> str:
    """Return the regular sign of life: state, duration, progress and, unless the step waits, the current problem."""
    if state.deleted_at is not None:
        waited = at - state.deleted_at
        what = f"{rules.kind.kind} {rules.name}: deleted {human(waited)} ago"
        return f"{what}; {_waiting_for(unfinished(state.live.values()), waited)}"
    progress = f"; {state.progress.describe(at - state.progress_at)}" if state.progress else ""
    # `explain` prints why the step waits.
    problem = f"; {state.problem.object}: {state.problem.message}" if state.problem and not state.why else ""
    return f"{rules.kind.kind} {rules.name}: {status_word(state)} for {human(at - rules.started)}{progress}{problem}"
