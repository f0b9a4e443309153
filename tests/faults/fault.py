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
    """

    injected: int
    recovered: int
    violations: tuple[str, ...]
    seconds: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One fault: how it is injected, what the user sees, what is kept, and the function that does and checks it."""

    name: str
    group: str
    how: str
    user_sees: str
    kept: str
    run: Callable[[Setting], Result]


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Several faults injected into one run, one after the other; the results go by the names of the faults."""

    names: tuple[str, ...]
    run: Callable[[Setting], dict[str, Result]]


Episode = tuple[float, list[str]]
"""One time at which a fault happened: the seconds until things went on, and what was wrong."""


def repeated(
    name: str, *, how: str, user_sees: str, kept: str, inject: Callable[[Setting], Iterator[Episode]], group: str = ""
) -> Fault:
    """Return the fault that happens in each of the episodes of `inject`."""

    def run(setting: Setting) -> Result:
        found = list(inject(setting))
        return Result(
            injected=len(found),
            recovered=sum(not said for _, said in found),
            violations=tuple(said for _, all_said in found for said in all_said),
            seconds=tuple(round(seconds, 1) for seconds, _ in found),
        )

    return Fault(name=name, group=group or name.replace("-", " "), how=how, user_sees=user_sees, kept=kept, run=run)
