# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The time limits of a step: whether its workload runs and writes, and which limit is exceeded."""

from __future__ import annotations

import typing as t
from dataclasses import replace

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import human
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.causes import Cause
from ansible_collections.mlops.eks.plugins.module_utils._follow.changes import LogActivity
from ansible_collections.mlops.eks.plugins.module_utils._follow.progress import read
from ansible_collections.mlops.eks.plugins.module_utils._follow.state import Rules, State
from ansible_collections.mlops.eks.plugins.module_utils._kube import pods as pod_view
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.row import NEVER_READY

# Characters of a log line that a message quotes.
_QUOTED = 200


class _Limit(t.NamedTuple):
    """One limit: the reason and message of the cause when `used` reaches `seconds`."""

    reason: str
    seconds: float
    used: float
    message: str


def on_output(state: State, change: LogActivity, rules: Rules) -> State:
    """Return the state after containers wrote lines."""
    output = change.output
    progress, progressed = state.progress, state.progress_at
    if rules.progress and output.lines:
        progress = read(progress, rules.progress, output.lines)
        progressed = change.at if progress is not state.progress else progressed
    return replace(
        state, output_at=change.at, last_line=(output.pod, output.line), progress=progress, progress_at=progressed
    )


def update_running(state: State, at: float, rules: Rules) -> State:
    """Return the state with whether the workload runs, and since when."""
    runs = _runs(state, rules)
    return state if runs == state.running else replace(state, running=runs, running_since=at)


def _runs(state: State, rules: Rules) -> bool:
    """Return whether the status says that the workload runs, or a container of its leader runs."""
    if state.verdict.state == "running" and not state.verdict.reason:
        return True
    return any(
        container.state == "running" and not container.init
        for pod in state.live.values()
        if state.workload is None or rules.kind.leads(state.workload, pod)
        for container in pod_view.containers(pod)
    )


def status_word(state: State) -> str:
    """Return the workload's state in a word; of pending and running the pods decide, as the status may lag."""
    if state.verdict.state in ("pending", "running") or state.verdict.reason == NEVER_READY:
        return "running" if state.running else "pending"
    return state.verdict.state


def overdue(state: State, at: float, rules: Rules) -> Cause | None:
    """Return the cause of the first limit that is exceeded."""
    for limit in _limits(state, at, rules):
        if limit.used >= limit.seconds:
            pods = state.summary.partition(": ")[2] or "no pods"
            message = f"{limit.message} {human(limit.seconds)}: {pods}. {_context(state)}"
            cause = Cause.of(limit.reason, f"{rules.kind.kind}/{rules.name}", message)
            # The remedy of a known problem helps more than that of the limit.
            known = state.problem.remedy if state.problem and not state.running else ""
            return replace(cause, remedy=known or cause.remedy)
    return None


def _limits(state: State, at: float, rules: Rules) -> tuple[_Limit, ...]:
    word, idle, silent = status_word(state), 0.0, 0.0
    if state.running:
        silent = at - max(state.running_since, state.output_at)
    else:
        idle = at - state.running_since
    return (
        _Limit("Timeout", rules.timeout, at - rules.started + rules.earlier_seconds, f"it was still {word} after"),
        _Limit("ReadyTimeout", rules.ready_timeout, at - rules.started, "it was not ready again after"),
        _Limit("PendingTimeout", rules.pending_timeout, idle, f"it is {word} and has not run for"),
        _Limit("NoOutputTimeout", rules.no_output_timeout, silent, "it runs, but no container has written a line for"),
    )


def _context(state: State) -> str:
    """Return the current problem, the progress and the last log line."""
    problem = f"{state.problem.object}: {state.problem.message}" if state.problem else ""
    sentences = [state.why or problem] if state.why or problem else []
    if state.progress:
        sentences.append(f"It had reached {state.progress.reached()}.")
    if state.last_line:
        pod, line = state.last_line
        sentences.append(f"The last line, of Pod/{pod}: {line.strip()[:_QUOTED]!r}.")
    return " ".join(sentences)
