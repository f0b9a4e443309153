# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""What a fault is: something that goes wrong on purpose, and what came of it."""

from __future__ import annotations

from collections.abc import Callable
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
