# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The progress of a program: what a pattern finds in its log, the rate, and the remaining time."""

from __future__ import annotations

import math
import re
import typing as t
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from ansible_collections.mlops.eks.plugins.module_utils._core import step_record
from ansible_collections.mlops.eks.plugins.module_utils._core.bounds import SAMPLES
from ansible_collections.mlops.eks.plugins.module_utils._core.clock import human, iso

# The rate covers the reports of the last seconds, but at least the last few reports.
_WINDOW = 120.0
_MIN_SAMPLES = 5
# A report is stale after this many seconds, and after this many usual intervals.
_STALE_SECONDS = 60.0
_STALE_INTERVALS = 5
# A remaining time above a century is not shown.
_MAX_REMAINING = 100 * 365 * 86400.0


class Sample(t.NamedTuple):
    """One report: how much was `done` at a time in seconds since the epoch."""

    at: float
    done: float


@dataclass(frozen=True, kw_only=True)
class Progress:
    """The last report, and those before it that give the rate. `samples` is never empty."""

    samples: tuple[Sample, ...]
    total: float | None = None

    @property
    def done(self) -> float:
        """The value of the last report."""
        return self.samples[-1].done

    @property
    def rate(self) -> float | None:
        """The increase per second; `None` until two reports differ."""
        first, last = self.samples[0], self.samples[-1]
        grown = last.done - first.done
        return grown / (last.at - first.at) if grown > 0 and last.at > first.at else None

    def stale(self, age: float) -> bool:
        """Return whether a report that is `age` seconds old is too old for the usual interval between reports."""
        usual = (self.samples[-1].at - self.samples[0].at) / max(1, len(self.samples) - 1)
        return age > max(_STALE_SECONDS, _STALE_INTERVALS * usual)

    def describe(self, age: float) -> str:
        """Return `42 % (420/1000), 3.1/s, 3 min 7 s left` of a report that is `age` seconds old."""
        parts = [self.reached()]
        if self.stale(age):
            return f"{parts[0]}, no progress for {human(age)}"
        if self.rate:
            parts.append(_per_time(self.rate))
            left = (self.total - self.done) / self.rate - age if self.total else 0.0
            if 0 < left < _MAX_REMAINING:
                parts.append(f"{human(left)} left")
        return ", ".join(parts)

    def reached(self) -> str:
        """Return `42 % (420/1000)`, or `420 done` without a total."""
        if not self.total:
            return f"{_number(self.done)} done"
        return f"{math.floor(100 * self.done / self.total)} % ({_number(self.done)}/{_number(self.total)})"

    def to_record(self) -> dict[str, t.Any]:
        """Return plain data: `rate` per second, `at` the time of the last report."""
        rate = None if self.rate is None else round(self.rate, 6)
        at = iso(self.samples[-1].at)
        return asdict(step_record.Progress(done=self.done, total=self.total, rate=rate, at=at))


def read(before: Progress | None, pattern: re.Pattern[str], lines: Iterable[tuple[float, str]]) -> Progress | None:
    """Return the progress after `lines`, each with its time stamp, oldest first."""
    for at, line in lines:
        matches = list(pattern.finditer(line))
        if not matches:
            continue
        # A progress bar rewrites its line: the last match counts.
        found = matches[-1].groupdict()
        done, total = _parsed(found["done"]), _parsed(found.get("total"))
        if done is not None:
            before = _after(before, Sample(at, done), total)
    return before


def _after(before: Progress | None, sample: Sample, total: float | None) -> Progress:
    # The counter starts again after a checkpoint is loaded or an epoch begins.
    if before is None or sample.done < before.done or total != before.total:
        return Progress(samples=(sample,), total=total)
    samples = (*before.samples, sample)
    recent = next(index for index, one in enumerate(samples) if sample.at - one.at <= _WINDOW)
    kept = samples[max(0, min(recent, len(samples) - _MIN_SAMPLES)) :]
    # Every second report gives the same rate.
    thinned = (*kept[:-1:2], kept[-1]) if len(kept) > SAMPLES else kept
    return Progress(samples=thinned, total=total)


def _parsed(text: str | None) -> float | None:
    try:
        value = float((text or "").replace(",", ""))
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else f"{value:.2f}"


def _per_time(rate: float) -> str:
    for seconds, unit in ((1, "s"), (60, "min")):
        if rate * seconds >= 0.1:
            return f"{rate * seconds:.3g}/{unit}"
    return f"{rate * 3600:.3g}/h"
