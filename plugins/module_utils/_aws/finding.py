# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""What a check says."""

from __future__ import annotations

import typing as t
from dataclasses import asdict, dataclass

Level = t.Literal["ok", "warn", "fail"]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One line of the table: what was looked at, what was found, and what to do about it (empty when nothing is)."""

    name: str
    level: Level
    found: str
    remedy: str = ""

    def to_result(self) -> dict[str, str]:
        """Return plain data for Ansible."""
        return asdict(self)


def ok(name: str, found: str) -> Finding:
    """Return the finding that all is well."""
    return Finding(name=name, level="ok", found=found)


def warn(name: str, found: str, remedy: str) -> Finding:
    """Return the finding that something is to be known, but keeps nobody from going on."""
    return Finding(name=name, level="warn", found=found, remedy=remedy)


def fail(name: str, found: str, remedy: str) -> Finding:
    """Return the finding that applying the stack would fail, or would not do what is asked for."""
    return Finding(name=name, level="fail", found=found, remedy=remedy)
