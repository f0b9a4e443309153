# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The result of a check."""

from __future__ import annotations

import typing as t
from dataclasses import asdict, dataclass

Level = t.Literal["ok", "warn", "fail"]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One line of the table: the name of the check, what it found, and what to do (empty: nothing)."""

    name: str
    level: Level
    found: str
    remedy: str = ""

    def to_result(self) -> dict[str, str]:
        """Return plain data for Ansible."""
        return asdict(self)


def ok(name: str, found: str) -> Finding:
    """Return a passed check."""
    return Finding(name=name, level="ok", found=found)


def warn(name: str, found: str, remedy: str) -> Finding:
    """Return a warning, which does not stop the play."""
    return Finding(name=name, level="warn", found=found, remedy=remedy)


def fail(name: str, found: str, remedy: str) -> Finding:
    """Return a failure: applying the stack would fail, or would not create what the variables describe."""
    return Finding(name=name, level="fail", found=found, remedy=remedy)
