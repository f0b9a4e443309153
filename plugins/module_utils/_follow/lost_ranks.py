# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Lost ranks: a job whose launcher waits for a rank that no longer exists.

mpirun learns of a rank's end from the rank's node. When that node is lost, mpirun gets no message. The operator creates
a new worker, which mpirun does not know, and the job "runs" for ever.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import from_iso
from ansible_collections.mlops.eks.plugins.module_utils._diagnose import events
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.causes import Cause, Problem
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.disruptions import disruption, disruption_cause
from ansible_collections.mlops.eks.plugins.module_utils._follow.state import Rules, State
from ansible_collections.mlops.eks.plugins.module_utils._kube import pods as pod_view
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document

# Warnings by the object they are about.
_Subjects = Mapping[str, tuple[Document, ...]]
# A worker created this many seconds after the launcher started is a new one; clocks differ a little.
_CLOCK_SKEW = 5.0
_WHY = "The other ranks wait for it, and its successor cannot take its place."


def find_lost_ranks(state: State, rules: Rules) -> Iterator[Problem]:
    """Yield a problem for each lost rank that the running leader waits for; new output restarts the grace period."""
    leader = rules.kind.leader(state.workload) if rules.kind.fixed_ranks and state.workload is not None else None
    started = _leader_started(leader, state, rules)
    if started is None:
        return
    subjects = events.by_subject(state.warnings.values())
    for name, pod in sorted(state.pods.items()):
        cause = None if rules.kind.role(pod) == leader else _loss(name, pod, state, started, subjects)
        if cause:
            cause = Cause.of(cause.reason, cause.object, f"{cause.message} {_WHY}")
            yield Problem(key=f"rank lost {state.output_at}", grace=rules.grace.lost_rank, cause=cause)


def _leader_started(leader: str | None, state: State, rules: Rules) -> float | None:
    """Return when the running leader started; `None` without one, or where ranks can be replaced."""
    if leader is None:
        return None
    starts = [
        from_iso(container.started)
        for pod in state.live.values()
        if rules.kind.role(pod) == leader
        for container in pod_view.containers(pod)
        if container.state == "running" and container.started and not container.init
    ]
    return max(starts, default=None)


def _loss(name: str, pod: Document, state: State, started: float, subjects: _Subjects) -> Cause | None:
    """Return why the rank with which the leader started was lost, `None` when it still exists."""
    if pod_view.created(pod) > started + _CLOCK_SKEW:
        lost = state.replaced_pods.get(name)
    elif name in state.gone or disruption(pod):
        lost = pod
    else:
        return None
    disrupted = disruption_cause(lost, events.about_pod(subjects, lost)) if lost else None
    if disrupted:
        return disrupted[0]
    silent = any(event.get("reason") == "NodeNotReady" for event in subjects.get(f"Pod/{name}", ()))
    if silent:
        return Cause.of("NodeLost", f"Pod/{name}", "the node it was on was lost")
    return Cause.of("PodDeleted", f"Pod/{name}", "somebody deleted it while it was needed")
