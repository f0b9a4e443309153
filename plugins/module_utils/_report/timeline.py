# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Geometry of the timeline: which moment of the run lies where, in per cent of the width. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ansible_collections.mlops.eks.plugins.module_utils._report.model import Run, Step

MINUTE, HOUR, DAY = 60, 3600, 86400
INTERVALS = (
    *(0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30),
    *(MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE),
    *(HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 30 * DAY),
)
MOST_TICKS = 8


@dataclass(frozen=True, kw_only=True)
class Scale:
    """The run's time from left to right; the same for all its clusters, so that they compare."""

    start: datetime
    seconds: float

    def at(self, moment: datetime) -> float:
        """Return where `moment` lies, 0 to 100; what lies outside sits on the edge."""
        if self.seconds <= 0:
            return 0.0
        return 100 * min(max((moment - self.start).total_seconds() / self.seconds, 0.0), 1.0)


@dataclass(frozen=True, kw_only=True)
class Bar:
    """A stretch of the timeline in per cent; `open` when its end was never recorded."""

    name: str
    left: float
    width: float
    seconds: float
    open: bool


@dataclass(frozen=True, kw_only=True)
class Row:
    """One step of the timeline: its whole stretch and its phases, which lie within it."""

    whole: Bar
    phases: tuple[Bar, ...]

    @property
    def right(self) -> float:
        """Where the step ends."""
        return self.whole.left + self.whole.width


@dataclass(frozen=True, kw_only=True)
class Tick:
    """A mark of the axis: its place in per cent and its seconds since the start."""

    left: float
    seconds: float


def scale(run: Run) -> Scale | None:
    """Return the scale of a run; `None` when no moment of it is known."""
    if run.started is None or run.last_seen is None:
        return None
    return Scale(start=run.started, seconds=(run.last_seen - run.started).total_seconds())


def row(step: Step, scale: Scale) -> Row | None:
    """Return the bars of a step; `None` when it did not run or left no times."""
    if not step.moments or step.outcome == "skipped":
        return None
    start, end = min(step.moments), max(step.moments)
    whole = _bar("step", start, end, scale=scale, unfinished=step.finished is None)
    phases = [
        _bar(phase.name, phase.started, phase.finished or end, scale=scale, unfinished=phase.finished is None)
        for phase in step.phases
    ]
    return Row(whole=whole, phases=tuple(phases))


def ticks(seconds: float) -> tuple[Tick, ...]:
    """Return at most `MOST_TICKS` marks at round intervals, the first at zero and none past the end."""
    if seconds <= 0:
        return (Tick(left=0.0, seconds=0.0),)
    interval = next((one for one in INTERVALS if seconds / one < MOST_TICKS), seconds)
    count = int(seconds / interval + 1e-9)
    return tuple(Tick(left=100 * n * interval / seconds, seconds=n * interval) for n in range(count + 1))


def elapsed(started: datetime | None, finished: datetime | None) -> float | None:
    """Return the seconds between two moments; `None` when one is unknown, never less than zero."""
    if started is None or finished is None:
        return None
    return max((finished - started).total_seconds(), 0.0)


def _bar(name: str, start: datetime, end: datetime, *, scale: Scale, unfinished: bool) -> Bar:
    # A clock set back in the middle of a step must not draw a bar of negative width.
    end = max(start, end)
    left, right = scale.at(start), scale.at(end)
    return Bar(name=name, left=left, width=right - left, seconds=(end - start).total_seconds(), open=unfinished)
