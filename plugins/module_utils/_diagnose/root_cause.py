# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Which death among the pods of a failed workload is the root cause, and which are its consequences.

What happened first is to blame; clocks differ and times have whole seconds, so of what happened together the kind
decides: a lost node rather than the out-of-memory kill on it, that rather than the broken pipe of another rank, and
that rather than those who were killed because of it.
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

# Of what happened at the same time, the earlier in this list is to blame.
_RANKS: tuple[Category, ...] = (
    *("node_lost", "evicted", "preempted", "memory", "configuration", "init", "probe", "program", "sidecar"),
    *("workload", "interrupted"),
)
# Seconds by which the evidence of a trouble may come after what others suffer from it: a silent node is declared lost
# after 50 s (kube-controller-manager --node-monitor-grace-period), and clocks of nodes differ a little.
_LATE: Mapping[Category, float] = {"node_lost": 60.0, "memory": 2.0}
# Of what was overcome (restarted, replaced), only what lies this shortly before the failure can have led to it.
_RELATED = 60.0
# A container that ended this many seconds before its pod was taken off its node did not end because of it.
_SETTLED = 5.0


class _Termination(t.NamedTuple):
    """`standing` means that nothing was put in its place; a `hint` alone explains no failure.

    `began` is when what died had begun, 0 for a whole pod.
    """

    onset: float
    cause: Cause
    standing: bool
    leads: bool
    hint: bool = False
    began: float = 0.0

    @property
    def seen(self) -> float:
        """When its evidence came."""
        return self.onset + _LATE.get(self.cause.category, 0.0)

    @property
    def order(self) -> tuple[t.Any, ...]:
        category = self.cause.category
        rank = _RANKS.index(category) if category in _RANKS else len(_RANKS)
        onset = self.onset if self.onset == float("inf") else int(self.onset)
        return onset, self.cause.reason == "Killed", rank, self.leads, self.cause.object


@dataclass(frozen=True, kw_only=True)
class Consequences:
    """What is left of a failed workload: every pod ever seen, warnings about them and their nodes, and these nodes."""

    kind: Kind
    workload: Document | None
    pods: Mapping[str, Document]
    warnings: tuple[Document, ...] = ()
    nodes: Mapping[str, Document] = field(default_factory=dict)

    @cached_property
    def subjects(self) -> Mapping[str, tuple[Document, ...]]:
        """The warnings by what they are about."""
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
        """Return whether another pod took its role after it had ended."""
        return at is not None and self.newest[self.kind.role(pod)] > max(at, pod_view.created(pod))


def root_cause(left: Consequences) -> Cause | None:
    """Return what the failure of the workload began with, or `None` when no pod explains it."""
    found = [death for pod in left.pods.values() for death in _terminations(pod, left)]
    real = [death for death in found if not death.hint]
    standing = [death for death in real if death.standing] or real
    if not standing:
        return None
    first = min(standing, key=lambda death: death.onset)
    # No standing one was seen before its onset; comparing all of a thousand with all would take long. What was overcome
    # before the failed program began did it no harm.
    since = max(first.onset - _RELATED, first.began)
    related = [death for death in found if death.standing or since <= death.seen]
    return min(related, key=lambda death: death.order).cause


def deletion(left: Consequences) -> Cause | None:
    """Return which pod somebody deleted first, for a failure that nothing else explains."""
    hints = [
        death for pod in left.pods.values() if any(failures(pod)) for death in _terminations(pod, left) if death.hint
    ]
    return min(hints, key=lambda death: death.order).cause if hints else None


def _terminations(pod: Document, left: Consequences) -> Iterator[_Termination]:
    leads = left.workload is not None and left.kind.leads(left.workload, pod)
    warnings = events.about_pod(left.subjects, pod)
    whole = disruption_cause(pod, warnings, left.nodes.get(pod_view.node(pod) or ""))
    if whole and not _over_before(pod, whole[1]):
        cause, at = whole
        yield _Termination(_onset(cause, at, pod), cause, not left.replaced(pod, at), leads)
        return
    deleted = pod_view.deleted_since(pod)
    for container in failures(pod):
        at = ended_at(container)
        if deleted is not None and at >= deleted:
            continue
        cause = termination_cause(pod, container, warnings)
        standing = container.state != "running" and container.exit_code != 0 and not left.replaced(pod, at)
        yield _Termination(
            at - _LATE.get(cause.category, 0.0), cause, standing, leads, began=at - run_seconds(container)
        )
    # An operator deletes pods after a failure; one that was deleted before may have led to it.
    if deleted is not None and not left.kind.serves:
        cause = Cause.of("PodDeleted", f"Pod/{pod_view.name(pod)}", "somebody deleted it")
        yield _Termination(deleted, cause, standing=False, leads=leads, hint=True)


def _onset(cause: Cause, at: float | None, pod: Document) -> float:
    # A pod without any date is one of a node that told nothing any more.
    known = at if at is not None else min((ended_at(one) for one in failures(pod)), default=0.0)
    return known - _LATE.get(cause.category, 0.0)


def _over_before(pod: Document, at: float | None) -> bool:
    """Return whether it had failed by itself when it was taken off its node, as orphaned and drained pods had."""
    return at is not None and any(ended_at(one) < at - _SETTLED for one in failures(pod))
