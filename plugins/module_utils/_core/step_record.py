# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The schema of `step.json`, the record of a step.

The engine writes it and the report reads it. `Time` is ISO 8601 text when it is written, and `datetime` when it is
read. A record of an earlier version may lack keys.

StepRecord ─┬─ Workload
            ├─ Phase
            ├─ Pod ── Container
            ├─ Resource
            ├─ Cause
            ├─ PastAttempt
            └─ Progress
"""

from __future__ import annotations

import typing as t
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

SCHEMA = 1
# The phases of a workload, in order.
PHASES = ("queued", "pulling", "running", "finishing")
# Every outcome, from the best to the worst. A record that ends with `running` has no recorded end.
SEVERITY = ("skipped", "succeeded", "ready", "running", "cancelled", "lost", "timed_out", "failed")
Time = t.TypeVar("Time")


@dataclass(frozen=True, kw_only=True)
class Workload:
    """The object that a step follows."""

    api_version: str
    kind: str
    name: str

    def __str__(self) -> str:
        return "/".join(filter(None, (self.kind, self.name)))


@dataclass(frozen=True, kw_only=True)
class Phase(t.Generic[Time]):
    """A part of a step: one of `PHASES`."""

    name: str
    started: Time
    finished: Time | None


@dataclass(frozen=True, kw_only=True)
class Container(t.Generic[Time]):
    """A container as last observed; `log` is the file of its log in the step's directory."""

    name: str
    image: str
    state: str
    reason: str
    exit_code: int | None
    restarts: int
    started: Time | None
    finished: Time | None
    log: str | None
    log_lines: int | None
    log_bytes: int | None
    log_gap: str


@dataclass(frozen=True, kw_only=True)
class Pod(t.Generic[Time]):
    """A pod as last observed; `requests` maps resource names to cores, bytes or counts."""

    name: str
    role: str
    node: str | None
    phase: str
    created: Time | None
    started: Time | None
    finished: Time | None
    requests: Mapping[str, float]
    containers: Sequence[Container[Time]]


@dataclass(frozen=True, kw_only=True)
class Resource:
    """Requested cores, bytes or counts at the peak, and the request multiplied by seconds."""

    requested: float
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Cause:
    """Why a step did not succeed: what went wrong with which object, the remedy, and the container's last lines."""

    reason: str
    object: str
    message: str
    remedy: str
    container: str = ""
    role: str = ""
    log_tail: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PastAttempt(t.Generic[Time]):
    """An attempt of a step that has ended, with its cause."""

    attempt: int
    run_id: str
    started: Time | None
    finished: Time | None
    outcome: str
    reason: str = ""
    category: str = ""
    object: str = ""
    message: str = ""


@dataclass(frozen=True, kw_only=True)
class Progress(t.Generic[Time]):
    """The progress that the program reported last, `at` a time; `rate` is per second."""

    done: float
    total: float | None
    rate: float | None
    at: Time | None


@dataclass(frozen=True, kw_only=True)
class StepRecord(t.Generic[Time]):
    """One step on one cluster. The record of a skipped step also has `skipped_because`."""

    schema: int = SCHEMA
    run_id: str
    cluster: str
    namespace: str
    release: str
    helm_release: str
    pipeline: str
    step: str
    index: int
    total: int
    chart: str
    chart_version: str = ""
    chart_source: Mapping[str, str] | None = None
    recipes: Sequence[str]
    identity: str = ""
    outcome: str = "running"
    cause: Cause | None = None
    workload: Workload | None = None
    controller: str
    attempt: int = 1
    attempts: Sequence[PastAttempt[Time]] = field(default_factory=list)
    reattached: bool = False
    started: Time | None
    finished: Time | None = None
    phases: Sequence[Phase[Time]] = field(default_factory=list)
    progress: Progress[Time] | None = None
    restarts: int = 0
    pods: Sequence[Pod[Time]] = field(default_factory=list)
    resources: Mapping[str, Resource] = field(default_factory=dict)
    log_tail: Sequence[str] = field(default_factory=list)
    warnings: Sequence[str] = field(default_factory=list)
