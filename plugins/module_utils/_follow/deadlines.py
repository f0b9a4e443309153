# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""What time says about a workload: does it run, does it write, and which of the limits set on it is over."""

from __future__ import annotations

import typing as t
from dataclasses import replace

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import human
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.causes import Cause
from ansible_collections.mlops.eks.plugins.module_utils._follow.changes import Wrote
from ansible_collections.mlops.eks.plugins.module_utils._follow.progress import read
from ansible_collections.mlops.eks.plugins.module_utils._follow.state import Rules, State
from ansible_collections.mlops.eks.plugins.module_utils._kube import pods as pod_view
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.row import NEVER_READY

# As much of a line as a message can bear.
_SHOWN = 200


class _Limit(t.NamedTuple):
    """One limit: what it is, how much of it is used, and what a cause says when all of it is."""

    reason: str
    seconds: float
    used: float
    found: str


def on_output(state: State, change: Wrote, rules: Rules) -> State:
    """Return the state after a rank wrote lines."""
    progress, progressed = state.progress, state.progressed
    if rules.progress and change.lines:
        progress = read(progress, rules.progress, change.lines)
        progressed = change.at if progress is not state.progress else progressed
    return replace(
        state, wrote=change.at, last_line=(change.pod, change.line), progress=progress, progressed=progressed
    )


def turn(state: State, at: float, rules: Rules) -> State:
    """Return the state with whether its workload runs, and since when that is so."""
    runs = _runs(state, rules)
    return state if runs == state.runs else replace(state, runs=runs, turned=at)


def _runs(state: State, rules: Rules) -> bool:
    """Return whether the workload says that it runs, or its leader does."""
    if state.verdict.state == "running" and not state.verdict.reason:
        return True
    return any(
        container.state == "running" and not container.init
        for pod in state.live.values()
        if state.workload is None or rules.kind.leads(state.workload, pod)
        for container in pod_view.containers(pod)
    )


def standing(state: State) -> str:
    """Return what the workload does now, in a word: its status may lag behind its pods."""
    going = "running" if state.runs else "pending"
    doubtful = state.verdict.reason == NEVER_READY
    return going if doubtful or state.verdict.state in ("pending", "running") else state.verdict.state


def overdue(state: State, at: float, rules: Rules) -> Cause | None:
    """Return the cause of the first limit that is over."""
    for limit in _limits(state, at, rules):
        if limit.used >= limit.seconds:
            pods = state.summary.partition(": ")[2] or "no pods"
            message = f"{limit.found} {human(limit.seconds)}: {pods}. {_context(state)}"
            cause = Cause.of(limit.reason, f"{rules.kind.kind}/{rules.name}", message)
            # What is known to be in the way is a better place to begin than the limit.
            known = state.suspect.remedy if state.suspect and not state.runs else ""
            return replace(cause, remedy=known or cause.remedy)
    return None


def _limits(state: State, at: float, rules: Rules) -> tuple[_Limit, ...]:
    word, idle, silent = standing(state), 0.0, 0.0
    if state.runs:
        silent = at - max(state.turned, state.wrote)
    else:
        idle = at - state.turned
    return (
        _Limit("Timeout", rules.timeout, at - rules.started + rules.earlier, f"it was still {word} after"),
        _Limit("ReadyTimeout", rules.ready_timeout, at - rules.started, "it was not ready again after"),
        _Limit("PendingTimeout", rules.pending_timeout, idle, f"it is {word} and has not run for"),
        _Limit("NoOutputTimeout", rules.no_output_timeout, silent, "it runs, but no container has written a line for"),
    )


def _context(state: State) -> str:
    """Return what is known to be wrong, what was written last, and how far the program was."""
    suspect = f"{state.suspect.object}: {state.suspect.message}" if state.suspect else ""
    said = [state.why or suspect] if state.why or suspect else []
    if state.progress:
        said.append(f"It had reached {state.progress.reached()}.")
    if state.last_line:
        pod, line = state.last_line
        said.append(f"The last line, of Pod/{pod}: {line.strip()[:_SHOWN]!r}.")
    return " ".join(said)
