# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Root cause: which termination among the pods of a failed workload caused the others.

The first termination is the root cause. Clocks differ and times have whole seconds, so among simultaneous terminations
the category decides: a lost node before an out-of-memory kill on it, that before the broken pipe of another rank, and
that before ranks that were killed because of it.
"""

from __future__ import annotations

import typing as t
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from ansible_collections.mlops.eks.plugins.module_utils._diagnose import events
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.causes import Cause
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.disruptions import disruption_cause
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.reasons import Category
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.terminations import (
    ended_at,
    failures,
    run_seconds,
    termination_cause,
)
from ansible_collections.mlops.eks.plugins.module_utils._kube import pods as pod_view
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.table import Kind

# Among simultaneous terminations, the first category of this list is the root cause.
_RANKS: tuple[Category, ...] = (
    *("node_lost", "evicted", "preempted", "memory", "configuration", "init", "probe", "program", "sidecar"),
    *("workload", "interrupted"),
)
# Seconds by which a cause may be reported after its consequences: a silent node is declared lost after 50 s
# (kube-controller-manager --node-monitor-grace-period), and the clocks of nodes differ a little.
_REPORT_DELAY: Mapping[Category, float] = {"node_lost": 60.0, "memory": 2.0}
# A failure that was recovered (restarted, replaced) can be the cause only this many seconds before the final one.
_RELATED = 60.0
# A container that ended this many seconds before the disruption of its pod did not end because of it.
_SETTLED = 5.0


class _Termination(t.NamedTuple):
    """One termination. `standing`: it was not replaced. A `hint` alone explains no failure.

    `onset` is when it happened; `began` when the container started, 0 for a whole pod.
    """

    onset: float
    cause: Cause
    standing: bool
    leads: bool
    hint: bool = False
    began: float = 0.0

    @property
    def seen(self) -> float:
        """When it was reported."""
        return self.onset + _REPORT_DELAY.get(self.cause.category, 0.0)

    @property
    def order(self) -> tuple[t.Any, ...]:
        category = self.cause.category
        rank = _RANKS.index(category) if category in _RANKS else len(_RANKS)
        onset = self.onset if self.onset == float("inf") else int(self.onset)
        return onset, self.cause.reason == "Killed", rank, self.leads, self.cause.object


@dataclass(frozen=True, kw_only=True)
class Consequences:
    """What a failed workload leaves: every pod seen, the warnings about pods and nodes, and the nodes."""

    kind: Kind
    workload: Document | None
    pods: Mapping[str, Document]
    warnings: tuple[Document, ...] = ()
    nodes: Mapping[str, Document] = field(default_factory=dict)

    @cached_property
    def subjects(self) -> Mapping[str, tuple[Document, ...]]:
        """The warnings by the object they are about."""
        return events.by_subject(self.warnings)

    @cached_property
    def newest(self) -> Mapping[str, float]:
        """When the newest pod of each role was created."""
        found: dict[str, float] = {}
        for pod in self.pods.values():
            role = self.kind.role(pod)
            found[role] = max(found.get(role, 0.0), pod_view.created(pod))
        return found

    def replaced(self, pod: Document, at: float | None) -> bool:
        """Return whether a pod of the same role was created after its end."""
        return at is not None and self.newest[self.kind.role(pod)] > max(at, pod_view.created(pod))


def root_cause(left: Consequences) -> Cause | None:
    """Return the cause of the first relevant termination, or `None` when no pod explains the failure."""
    found = [one for pod in left.pods.values() for one in _terminations(pod, left)]
    real = [one for one in found if not one.hint]
    standing = [one for one in real if one.standing] or real
    if not standing:
        return None
    first = min(standing, key=lambda one: one.onset)
    # A failure that was recovered before the failed program started is unrelated.
    since = max(first.onset - _RELATED, first.began)
    related = [one for one in found if one.standing or since <= one.seen]
    return min(related, key=lambda one: one.order).cause


def deletion(left: Consequences) -> Cause | None:
    """Return the first deletion of a pod, for a failure that nothing else explains."""
    hints = [one for pod in left.pods.values() if any(failures(pod)) for one in _terminations(pod, left) if one.hint]
    return min(hints, key=lambda one: one.order).cause if hints else None


def _terminations(pod: Document, left: Consequences) -> Iterator[_Termination]:
    leads = left.workload is not None and left.kind.leads(left.workload, pod)
    warnings = events.about_pod(left.subjects, pod)
    disrupted = disruption_cause(pod, warnings, left.nodes.get(pod_view.node(pod) or ""))
    if disrupted and not _failed_before(pod, disrupted[1]):
        cause, at = disrupted
        yield _Termination(_onset(cause, at, pod), cause, not left.replaced(pod, at), leads)
        return
    deleted = pod_view.deleted_since(pod)
    for container in failures(pod):
        at = ended_at(container)
        if deleted is not None and at >= deleted:
            continue
        cause = termination_cause(pod, container, warnings)
        standing = container.state != "running" and container.exit_code != 0 and not left.replaced(pod, at)
        onset, began = at - _REPORT_DELAY.get(cause.category, 0.0), at - run_seconds(container)
        yield _Termination(onset, cause, standing, leads, began=began)
    # Operators delete pods after a failure; a deletion before it may be the cause.
    if deleted is not None and not left.kind.serves:
        cause = Cause.of("PodDeleted", f"Pod/{pod_view.name(pod)}", "somebody deleted it")
        yield _Termination(deleted, cause, standing=False, leads=leads, hint=True)


def _onset(cause: Cause, at: float | None, pod: Document) -> float:
    # Without any time, the node of the pod was silent.
    known = at if at is not None else min((ended_at(one) for one in failures(pod)), default=0.0)
    return known - _REPORT_DELAY.get(cause.category, 0.0)


def _failed_before(pod: Document, at: float | None) -> bool:
    """Return whether a container of the pod had failed before the disruption at `at`."""
    return at is not None and any(ended_at(one) < at - _SETTLED for one in failures(pod))
