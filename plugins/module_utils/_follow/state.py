# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""What a step is judged by and what is known of its workload: the data of the reducer."""

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
    """What ends the step. Times in seconds, infinite where there is no limit; `started` since the epoch.

    `earlier` is what earlier attempts of the step took: `timeout` covers them all. `placed` says that one of them had
    nodes, so that there are such.
    """

    kind: Kind
    name: str
    started: float
    timeout: float = limits.default("timeout")
    ready_timeout: float = math.inf
    no_output_timeout: float = limits.default("no_output_timeout")
    pending_timeout: float = limits.default("pending_timeout")
    earlier: float = 0.0
    placed: bool = False
    progress: re.Pattern[str] | None = None
    heartbeat: float = limits.default("heartbeat")
    patience: GracePeriods = field(default_factory=GracePeriods)
    until: Expression | None = None
    fail_on: tuple[Expression, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Ending:
    """How the step ended; `note` is what a good end does not prove."""

    outcome: Outcome
    cause: Cause | None = None
    note: str = ""

    def told(self, took: str) -> str:
        """Return the ending in one line; `took` is how long the step took."""
        note, cause = f" ({self.note})" if self.note else "", f": {self.cause}" if self.cause else ""
        return f"{self.outcome} after {took}{note}{cause}"


@dataclass(frozen=True, kw_only=True)
class State:
    """Everything known of the workload so far.

    `pods` maps names to the last view of every pod ever seen; `gone` names the deleted ones, `former` has the pods
    whose names others took over, `fallen` those that had failed when they were deleted, as they were then. `since` maps
    the key of each present suspicion to when it was first seen. `judged` is since when the verdict is what it is.
    `phases` maps each phase entered to its start. `held` are events that may turn out to be ours.
    `dropped` counts warnings, `forgotten` pods that are gone, which are too many to be kept. `around` is what was
    fetched of the surroundings; `infeasible` maps each pod without a node to what keeps it from every one, empty where
    that is worth waiting for; `why` is why the step waits, `told` what was last said of it, when it was `explained`.
    `runs` says whether the workload runs, since `turned`; `wrote` is when any container wrote last, `last_line` its pod
    and words; `beat` when the last heartbeat was. `restarts` counts what was started again, `replaced` the part of it
    that pods of the same name made unseen; `accidents` are those that were told. `deleted` is when the workload went
    away, from which on only its pods' last words are waited for.
    """

    workload: Document | None = None
    pods: Mapping[str, Document] = field(default_factory=dict)
    gone: frozenset[str] = frozenset()
    former: Mapping[str, Document] = field(default_factory=dict)
    fallen: tuple[Document, ...] = ()
    warnings: Mapping[str, Document] = field(default_factory=dict)
    held: tuple[Document, ...] = ()
    dropped: int = 0
    forgotten: int = 0
    since: Mapping[str, float] = field(default_factory=dict)
    suspect: Cause | None = None
    around: tuple[Document, ...] = ()
    infeasible: Mapping[str, str] = field(default_factory=dict)
    why: str = ""
    told: str = ""
    explained: float = 0.0
    verdict: Verdict = PENDING
    judged: float = 0.0
    phases: Mapping[Phase, float] = field(default_factory=dict)
    summary: str = ""
    trouble: str = ""
    spoke: float = 0.0
    beat: float = 0.0
    runs: bool = False
    replaced: int = 0
    incidents: int = 0
    restarts: int = 0
    turned: float = 0.0
    wrote: float = 0.0
    last_line: tuple[str, str] | None = None
    progress: Progress | None = None
    progressed: float = 0.0
    began: float = 0.0
    deleted: float | None = None
    ending: Ending | None = None

    @property
    def live(self) -> dict[str, Document]:
        """Pods that still exist."""
        return {name: pod for name, pod in self.pods.items() if name not in self.gone}


def start(rules: Rules, at: float) -> State:
    """Return the state before anything was observed."""
    return State(phases={"queued": rules.started}, spoke=at, beat=at, turned=at, began=at)
