# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Ranks that wait for one that will never answer.

mpirun learns of a rank's end from the rank's own node. When the node went silent nobody tells it: the operator puts a
new worker in the lost one's place, which mpirun does not know, and the job "runs" until somebody looks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import from_iso
from ansible_collections.mlops.eks.plugins.module_utils._diagnose import events
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.causes import Cause, Problem
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.terminations import of_pod
from ansible_collections.mlops.eks.plugins.module_utils._follow.state import Rules, State
from ansible_collections.mlops.eks.plugins.module_utils._kube import pods as pod_view
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document

# Warnings by what they are about.
_Subjects = Mapping[str, tuple[Document, ...]]
# A worker created this many seconds after the launcher began is not one that it began with; clocks differ a little.
_LATER = 5.0
_WHY = "The other ranks wait for it, and its successor cannot take its place."


def find_lost_ranks(state: State, rules: Rules) -> Iterator[Problem]:
    """Yield the loss of ranks that the running leader cannot do without; a line from any of them ends the doubt."""
    leader = rules.kind.leader(state.workload) if rules.kind.bound and state.workload is not None else None
    began = _began(leader, state, rules)
    if began is None:
        return
    subjects = events.by_subject(state.warnings.values())
    for name, pod in sorted(state.pods.items()):
        cause = None if rules.kind.role(pod) == leader else _loss(name, pod, state, began, subjects)
        if cause:
            said = Cause.of(cause.reason, cause.object, f"{cause.message} {_WHY}")
            yield Problem(key=f"rank lost {state.wrote}", grace=rules.patience.lost_rank, cause=said)


def _began(leader: str | None, state: State, rules: Rules) -> float | None:
    """Return when the leader that runs now began, `None` without one or where ranks can be replaced."""
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


def _loss(name: str, pod: Document, state: State, began: float, subjects: _Subjects) -> Cause | None:
    """Return what took away the rank that the leader began with, `None` when it is still there."""
    if pod_view.created(pod) > began + _LATER:
        lost = state.former.get(name)
    elif name in state.gone or pod_view.disruption(pod):
        lost = pod
    else:
        return None
    whole = of_pod(lost, events.about_pod(subjects, lost)) if lost else None
    if whole:
        return whole[0]
    silent = any(event.get("reason") == "NodeNotReady" for event in subjects.get(f"Pod/{name}", ()))
    if silent:
        return Cause.of("NodeLost", f"Pod/{name}", "the node it was on was lost")
    return Cause.of("PodDeleted", f"Pod/{name}", "somebody deleted it while it was needed")
