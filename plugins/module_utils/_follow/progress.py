# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""How far a program is, by its own words: what a pattern finds in its log, how fast that grows, and what is left."""

from __future__ import annotations

import math
import re
import typing as t
from collections.abc import Iterable
from dataclasses import dataclass

from ansible_collections.mlops.eks.plugins.module_utils._core.bounds import SAMPLES
from ansible_collections.mlops.eks.plugins.module_utils._core.clock import human, iso

# The rate is that of the last two minutes; of a program that reports more seldom, that of its last reports.
_WINDOW = 120.0
_FEWEST = 5
# Without a report for this long, or for so many times what lay between two of them, a rate would be a lie.
_STALE = 60.0
_MISSED = 5
# Seconds to go that nobody will see: a century.
_NEVER = 100 * 365 * 86400.0


class Sample(t.NamedTuple):
    """What was done at a moment, in seconds since the epoch."""

    at: float
    done: float


@dataclass(frozen=True, kw_only=True)
class Progress:
    """The last report, with those before it that tell the rate. `samples` is never empty."""

    samples: tuple[Sample, ...]
    total: float | None = None

    @property
    def done(self) -> float:
        """What the last report said."""
        return self.samples[-1].done

    @property
    def rate(self) -> float | None:
        """What is done per second; `None` until two reports differ."""
        first, last = self.samples[0], self.samples[-1]
        grown = last.done - first.done
        return grown / (last.at - first.at) if grown > 0 and last.at > first.at else None

    def stale(self, age: float) -> bool:
        """Return whether a report that is `age` seconds old is older than the rhythm of the last ones allows."""
        usual = (self.samples[-1].at - self.samples[0].at) / max(1, len(self.samples) - 1)
        return age > max(_STALE, _MISSED * usual)

    def describe(self, age: float) -> str:
        """Return `42 % (420/1000), 3.1/s, 3 min 7 s left` of a report that is `age` seconds old."""
        said = [self.reached()]
        if self.stale(age):
            return f"{said[0]}, no progress for {human(age)}"
        if self.rate:
            said.append(_per_time(self.rate))
            left = (self.total - self.done) / self.rate - age if self.total else 0.0
            if 0 < left < _NEVER:
                said.append(f"{human(left)} left")
        return ", ".join(said)

    def reached(self) -> str:
        """Return `42 % (420/1000)`, or `420 done` without a total."""
        if not self.total:
            return f"{_number(self.done)} done"
        return f"{math.floor(100 * self.done / self.total)} % ({_number(self.done)}/{_number(self.total)})"

    def to_record(self) -> dict[str, t.Any]:
        """Return plain data: `rate` per second, `at` the moment of the last report."""
        rate = None if self.rate is None else round(self.rate, 6)
        return {"done": self.done, "total": self.total, "rate": rate, "at": iso(self.samples[-1].at)}


def read(before: Progress | None, pattern: re.Pattern[str], lines: Iterable[tuple[float, str]]) -> Progress | None:
    """Return the progress after `lines`, each with its moment, in their order."""
    for at, line in lines:
        matches = list(pattern.finditer(line))
        if not matches:
            continue
        # A progress bar writes itself over and over into one line: its last state counts.
        named = matches[-1].groupdict()
        done, total = _parsed(named["done"]), _parsed(named.get("total"))
        if done is not None:
            before = _after(before, Sample(at, done), total)
    return before


def _after(before: Progress | None, sample: Sample, total: float | None) -> Progress:
    # A program that goes on from a checkpoint, or begins its next epoch, counts from there.
    if before is None or sample.done < before.done or total != before.total:
        return Progress(samples=(sample,), total=total)
    samples = (*before.samples, sample)
    young = next(index for index, one in enumerate(samples) if sample.at - one.at <= _WINDOW)
    kept = samples[max(0, min(young, len(samples) - _FEWEST)) :]
    # Of a program that reports a thousand times a second every second report tells the same rate.
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
