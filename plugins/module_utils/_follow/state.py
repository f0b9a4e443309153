# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The data of the reducer: the rules that end a step, and what is known of its workload."""

from __future__ import annotations

import math
import re
import typing as t
from collections.abc import Mapping
from dataclasses import dataclass, field

from ansible_collections.mlops.eks.plugins.module_utils._core import limits
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.causes import Cause, GracePeriods
from ansible_collections.mlops.eks.plugins.module_utils._follow.progress import Progress
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.expressions import Expression
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.table import PENDING, Kind, Verdict

Outcome = t.Literal["succeeded", "ready", "skipped", "failed", "timed_out", "cancelled", "lost"]
GOOD: tuple[Outcome, ...] = ("succeeded", "ready", "skipped")
Phase = t.Literal["queued", "pulling", "running", "finishing"]


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What ends the step. Limits in seconds, infinite where there is none; `started` in seconds since the epoch.

    `earlier_seconds`: how long earlier attempts of the step took; `timeout` covers all attempts.
    `had_nodes`: an earlier attempt had nodes, so the cluster has or can create nodes that fit.
    """

    kind: Kind
    name: str
    started: float
    timeout: float = limits.default("timeout")
    ready_timeout: float = math.inf
    no_output_timeout: float = limits.default("no_output_timeout")
    pending_timeout: float = limits.default("pending_timeout")
    earlier_seconds: float = 0.0
    had_nodes: bool = False
    progress: re.Pattern[str] | None = None
    heartbeat: float = limits.default("heartbeat")
    grace: GracePeriods = field(default_factory=GracePeriods)
    until: Expression | None = None
    fail_on: tuple[Expression, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Ending:
    """How the step ended. `note` says what a success does not prove."""

    outcome: Outcome
    cause: Cause | None = None
    note: str = ""

    def describe(self, duration: str) -> str:
        """Return the ending in one line; `duration` is how long the step took."""
        note, cause = f" ({self.note})" if self.note else "", f": {self.cause}" if self.cause else ""
        return f"{self.outcome} after {duration}{note}{cause}"


@dataclass(frozen=True, kw_only=True)
class State:
    """Everything known of the workload so far. Times in seconds since the epoch.

    Objects:
        pods: by name, the last view of every pod seen.
        gone: names in `pods` that were deleted.
        replaced_pods: by name, the last view of each pod before another pod took its name.
        failed_pods: pods that had failed when they were deleted, as they were before.
        warnings: warning events about the workload, by `events.identify`.
        unassigned_events: events that may be about pods not seen yet.
        dropped_warnings, dropped_pods: how many are no longer kept because there were too many.
        context: objects fetched to explain the waiting, or the nodes of a failed workload.
    Diagnosis:
        problem_since: by the key of each current problem, when it was first seen.
        problem: the cause of the oldest current problem.
        infeasible: by each pod without a node, why no node can ever run it; empty where one may.
        why: why the step waits. `explanation`: the last such reason that was printed, at `explained_at`.
    Progress:
        verdict_since: since when `verdict.state` is the same.
        phases: by each phase entered, its start.
        running: whether the workload runs; `running_since`: when that changed last.
        output_at, last_line: when a container wrote last; the pod and its line.
        progress_at: when `progress` changed last.
        restarts: all restarts; `past_restarts` the part of pods that are no longer in `pods`.
        incidents: how many failures were printed while the workload went on.
    Printing:
        summary, watch_error: the last ones printed.
        printed_at, heartbeat_at: when a line, and a heartbeat, was printed last.
    End:
        followed_since: when following began.
        deleted_at: when the workload was deleted; from then on only the end of its pods is awaited.
    """

    workload: Document | None = None
    pods: Mapping[str, Document] = field(default_factory=dict)
    gone: frozenset[str] = frozenset()
    replaced_pods: Mapping[str, Document] = field(default_factory=dict)
    failed_pods: tuple[Document, ...] = ()
    warnings: Mapping[str, Document] = field(default_factory=dict)
    unassigned_events: tuple[Document, ...] = ()
    dropped_warnings: int = 0
    dropped_pods: int = 0
    context: tuple[Document, ...] = ()
    problem_since: Mapping[str, float] = field(default_factory=dict)
    problem: Cause | None = None
    infeasible: Mapping[str, str] = field(default_factory=dict)
    why: str = ""
    explanation: str = ""
    explained_at: float = 0.0
    verdict: Verdict = PENDING
    verdict_since: float = 0.0
    phases: Mapping[Phase, float] = field(default_factory=dict)
    running: bool = False
    running_since: float = 0.0
    output_at: float = 0.0
    last_line: tuple[str, str] | None = None
    progress: Progress | None = None
    progress_at: float = 0.0
    restarts: int = 0
    past_restarts: int = 0
    incidents: int = 0
    summary: str = ""
    watch_error: str = ""
    printed_at: float = 0.0
    heartbeat_at: float = 0.0
    followed_since: float = 0.0
    deleted_at: float | None = None
    ending: Ending | None = None

    @property
    def live(self) -> dict[str, Document]:
        """Pods that still exist."""
        return {name: pod for name, pod in self.pods.items() if name not in self.gone}


def start(rules: Rules, at: float) -> State:
    """Return the state before anything was observed."""
    return State(phases={"queued": rules.started}, printed_at=at, heartbeat_at=at, running_since=at, followed_since=at)
