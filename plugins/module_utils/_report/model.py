# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The report's data: the runs, clusters and steps of which `step.json` has the records.

Run ── Cluster ── Step ── StepRecord

Times are in UTC, durations in seconds; text has no control characters and no colour codes.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ansible_collections.mlops.eks.plugins.module_utils._core import step_record
from ansible_collections.mlops.eks.plugins.module_utils._core.step_record import SEVERITY

GOOD = frozenset({"skipped", "succeeded", "ready"})


Container = step_record.Container[datetime]
Phase = step_record.Phase[datetime]
Pod = step_record.Pod[datetime]
Progress = step_record.Progress[datetime]


@dataclass(frozen=True, kw_only=True)
class Cause(step_record.Cause):
    """Why a step did not succeed; `log` is the complete log of the failing container, if it was archived."""

    log: str | None


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """A file of a step: `name` is relative to the step's directory, `path` to the run directory."""

    name: str
    path: str


@dataclass(frozen=True, kw_only=True)
class Attempt(step_record.PastAttempt[datetime]):
    """An earlier attempt of a step; `evidence` is its directory, relative to the run directory, if this run made it."""

    evidence: str | None


@dataclass(frozen=True, kw_only=True)
class Step(step_record.StepRecord[datetime]):
    """One step on one cluster. The logs of its containers are relative to the run directory."""

    skipped_because: str
    skipped_report: str | None
    attempts: tuple[Attempt, ...]
    cause: Cause | None
    evidence: tuple[Evidence, ...]

    @property
    def name(self) -> str:
        return self.step

    @property
    def moments(self) -> tuple[datetime, ...]:
        """Every recorded start and end of the step and its phases."""
        ends = [moment for phase in self.phases for moment in (phase.started, phase.finished)]
        return tuple(moment for moment in (self.started, self.finished, *ends) if moment is not None)


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """All steps of a run on one cluster, in order."""

    name: str
    steps: tuple[Step, ...]

    @property
    def namespace(self) -> str:
        return next((step.namespace for step in self.steps if step.namespace), "")

    @property
    def release(self) -> str:
        return next((step.release for step in self.steps if step.release), "")

    @property
    def outcome(self) -> str:
        return worst([step.outcome for step in self.steps])

    @property
    def total(self) -> int:
        """Number of steps of the pipeline, as far as it is recorded."""
        return max((max(step.total, step.index) for step in self.steps), default=0)

    @property
    def started(self) -> datetime | None:
        return min((moment for step in self.steps for moment in step.moments), default=None)

    @property
    def finished(self) -> datetime | None:
        """The end of the last step; `None` while the end of a step is unknown."""
        return None if self.outcome == "running" else self.last_seen

    @property
    def last_seen(self) -> datetime | None:
        return max((moment for step in self.steps for moment in step.moments), default=None)


@dataclass(frozen=True, kw_only=True)
class Run:
    """One execution of a pipeline, on one cluster or several."""

    run_id: str
    clusters: tuple[Cluster, ...]

    @property
    def pipeline(self) -> str:
        """The pipeline's name; if no step recorded it, the middle part of the run id."""
        named = (step.pipeline for cluster in self.clusters for step in cluster.steps if step.pipeline)
        return next(named, None) or self.run_id.partition("-")[2].rpartition("-")[0] or self.run_id

    @property
    def outcome(self) -> str:
        return worst([cluster.outcome for cluster in self.clusters])

    @property
    def started(self) -> datetime | None:
        return min((cluster.started for cluster in self.clusters if cluster.started), default=None)

    @property
    def finished(self) -> datetime | None:
        """The end of the last cluster; `None` while the end of a cluster is unknown."""
        unfinished = any(cluster.finished is None for cluster in self.clusters)
        return None if unfinished else self.last_seen

    @property
    def last_seen(self) -> datetime | None:
        return max((cluster.last_seen for cluster in self.clusters if cluster.last_seen), default=None)


def worst(outcomes: list[str]) -> str:
    """Return the worst outcome; if all are good, the last that is not `skipped`; without outcomes, `running`."""
    bad = [outcome for outcome in outcomes if outcome not in GOOD]
    if bad or not outcomes:
        return max(bad, key=SEVERITY.index, default="running")
    return next((outcome for outcome in reversed(outcomes) if outcome != "skipped"), "skipped")
