# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Geometry of the timeline: positions of times in per cent of its width. Pure."""

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
    """The time axis of a run, shared by all its clusters."""

    start: datetime
    seconds: float

    def at(self, moment: datetime) -> float:
        """Return the position of `moment`, 0 to 100; a time outside the run is at an edge."""
        if self.seconds <= 0:
            return 0.0
        return 100 * min(max((moment - self.start).total_seconds() / self.seconds, 0.0), 1.0)


@dataclass(frozen=True, kw_only=True)
class Bar:
    """A bar of the timeline in per cent; `open` if its end was not recorded."""

    name: str
    left: float
    width: float
    seconds: float
    open: bool


@dataclass(frozen=True, kw_only=True)
class Row:
    """One step of the timeline: the bar of the step, and those of its phases within it."""

    whole: Bar
    phases: tuple[Bar, ...]

    @property
    def right(self) -> float:
        """Where the step ends."""
        return self.whole.left + self.whole.width


@dataclass(frozen=True, kw_only=True)
class Tick:
    """A tick of the axis: its position in per cent, and seconds since the start."""

    left: float
    seconds: float


def scale(run: Run) -> Scale | None:
    """Return the time axis of a run; `None` if no time is recorded."""
    if run.started is None or run.last_seen is None:
        return None
    return Scale(start=run.started, seconds=(run.last_seen - run.started).total_seconds())


def row(step: Step, scale: Scale) -> Row | None:
    """Return the bars of a step; `None` if it was skipped or no time is recorded."""
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
    """Return at most `MOST_TICKS` ticks at round intervals, the first at 0."""
    if seconds <= 0:
        return (Tick(left=0.0, seconds=0.0),)
    interval = next((one for one in INTERVALS if seconds / one < MOST_TICKS), seconds)
    count = int(seconds / interval + 1e-9)
    return tuple(Tick(left=100 * n * interval / seconds, seconds=n * interval) for n in range(count + 1))


def elapsed(started: datetime | None, finished: datetime | None) -> float | None:
    """Return the seconds between two times, at least 0; `None` if one is unknown."""
    if started is None or finished is None:
        return None
    return max((finished - started).total_seconds(), 0.0)


def _bar(name: str, start: datetime, end: datetime, *, scale: Scale, unfinished: bool) -> Bar:
    # If the clock was set back during a step, the bar must not have a negative width.
    end = max(start, end)
    left, right = scale.at(start), scale.at(end)
    return Bar(name=name, left=left, width=right - left, seconds=(end - start).total_seconds(), open=unfinished)
