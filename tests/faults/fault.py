# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""What a fault is: something that goes wrong on purpose, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Setting:
    """Where a fault is injected. `directory` is empty and the fault's own; `seed` decides whatever is random."""

    kubeconfig: str
    directory: Path
    seed: int
    say: Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Result:
    """What came of it.

    `injected` counts the times it happened, `recovered` those after which everything was as if it had not; a violation
    is one sentence about something that was not. `seconds` has the time from each fault to the next sign of progress.
    `said` are the lines that the user was shown about it, `kept` is what was counted afterwards: both are recorded.
    """

    injected: int
    recovered: int
    violations: tuple[str, ...]
    seconds: tuple[float, ...]
    said: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One fault: how it is injected, and the function that does it and checks what came of it."""

    name: str
    group: str
    how: str
    run: Callable[[Setting], Result]


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Several faults injected into one run, one after the other; the results go by the names of the faults."""

    names: tuple[str, ...]
    run: Callable[[Setting], dict[str, Result]]


@dataclass(frozen=True, kw_only=True)
class Episode:
    """One time at which a fault happened: the seconds until things went on, what was wrong, shown, and kept."""

    seconds: float
    wrong: list[str]
    said: tuple[str, ...]
    kept: str


def repeated(name: str, *, how: str, inject: Callable[[Setting], Iterator[Episode]], group: str = "") -> Fault:
    """Return the fault that happens in each of the episodes of `inject`."""

    def run(setting: Setting) -> Result:
        found = list(inject(setting))
        return Result(
            injected=len(found),
            recovered=sum(not one.wrong for one in found),
            violations=tuple(wrong for one in found for wrong in one.wrong),
            seconds=tuple(round(one.seconds, 1) for one in found),
            said=tuple(line for one in found for line in one.said),
            kept=tuple(one.kept for one in found),
        )

    return Fault(name=name, group=group or name.replace("-", " "), how=how, run=run)
