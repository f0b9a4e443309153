# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The report's data: immutable records, most of whose fields have the names of the keys of `step.json`.

Run ── Cluster ── Step ─┬─ Phase
                        ├─ Pod ── Container
                        ├─ Resource
                        └─ Cause

Times are in UTC, durations in seconds; text has no control characters and no colour codes.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

SEVERITY = ("skipped", "succeeded", "ready", "running", "cancelled", "lost", "timed_out", "failed")
"""Every outcome, from the best to the worst. A record that ends with `running` has no recorded end."""

GOOD = frozenset({"skipped", "succeeded", "ready"})


@dataclass(frozen=True, kw_only=True)
class Phase:
    """A part of a step: queued, pulling, running or finishing."""

    name: str
    started: datetime
    finished: datetime | None


@dataclass(frozen=True, kw_only=True)
class Container:
    """A container as last observed; `log` is an existing file, relative to the run directory."""

    name: str
    image: str
    state: str
    reason: str
    exit_code: int | None
    restarts: int
    log: str | None
    log_lines: int | None


@dataclass(frozen=True, kw_only=True)
class Pod:
    """A pod as last observed; `requests` maps resource names to cores, bytes or counts."""

    name: str
    role: str
    node: str
    phase: str
    started: datetime | None
    finished: datetime | None
    requests: dict[str, float]
    containers: tuple[Container, ...]


@dataclass(frozen=True, kw_only=True)
class Cause:
    """Why a step did not succeed; `log` is the complete log of the failing container, if it was archived."""

    reason: str
    object: str
    container: str
    message: str
    remedy: str
    log_tail: tuple[str, ...]
    log: str | None


@dataclass(frozen=True, kw_only=True)
class Resource:
    """Requested cores, bytes or counts at the peak, and the request multiplied by seconds."""

    requested: float
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """A file of a step: `name` is relative to the step's directory, `path` to the run directory."""

    name: str
    path: str


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """An earlier attempt of a step; `evidence` is its directory, relative to the run directory, if this run made it."""

    number: int
    outcome: str
    started: datetime | None
    finished: datetime | None
    reason: str
    object: str
    message: str
    run: str
    evidence: str | None


@dataclass(frozen=True, kw_only=True)
class Progress:
    """The progress that the program reported last; `total` is 0 if it reported none."""

    done: float
    total: float


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step on one cluster."""

    name: str
    index: int
    total: int
    outcome: str
    namespace: str
    release: str
    pipeline: str
    chart: str
    chart_version: str
    recipes: tuple[str, ...]
    identity: str
    workload: str
    controller: str
    attempt: int
    attempts: tuple[Attempt, ...]
    restarts: int
    progress: Progress | None
    reattached: bool
    started: datetime | None
    finished: datetime | None
    skipped_because: str
    skipped_report: str | None
    cause: Cause | None
    phases: tuple[Phase, ...]
    pods: tuple[Pod, ...]
    resources: dict[str, Resource]
    log_tail: tuple[str, ...]
    warnings: tuple[str, ...]
    evidence: tuple[Evidence, ...]

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
