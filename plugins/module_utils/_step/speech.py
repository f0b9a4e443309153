# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""What is said about a step while it runs."""

from __future__ import annotations

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import human
from ansible_collections.mlops.eks.plugins.module_utils._kube import pods as pod_view
from ansible_collections.mlops.eks.plugins.module_utils._step.clocks import standing
from ansible_collections.mlops.eks.plugins.module_utils._step.state import Rules, State


def summary(state: State, rules: Rules) -> str:
    """Return one line about the pods."""
    said = pod_view.describe(state.live.values())
    if said and state.restarts:
        said += f", {state.restarts} restart{'s' if state.restarts > 1 else ''}"
    return f"{rules.kind.kind} {rules.name}: pods {said}" if said else state.summary


def heartbeat(state: State, at: float, rules: Rules) -> str:
    """Return the line that says, now and then, that the step is alive and what it waits for."""
    progress = f"; {state.progress.describe(at - state.progressed)}" if state.progress else ""
    why = f"; {state.suspect.object}: {state.suspect.message}" if state.suspect else ""
    return f"{rules.kind.kind} {rules.name}: {standing(state)} for {human(at - rules.started)}{progress}{why}"
