# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Findings and estimate as aligned lines of text."""

from __future__ import annotations

from collections.abc import Sequence

from ansible_collections.mlops.eks.plugins.module_utils._aws.cost import Estimate, Line
from ansible_collections.mlops.eks.plugins.module_utils._aws.finding import Finding

_LEVELS = {"ok": "ok", "warn": "warn", "fail": "FAIL"}


def table(findings: Sequence[Finding], cost: Estimate | None) -> list[str]:
    """Return one line for each check, with the remedy where there is one, and one for each part of the estimate."""
    found = [(_LEVELS[entry.level], entry.name, _found(entry)) for entry in findings]
    lines = _aligned([("", "CHECK", "FOUND"), *found])
    if cost is None:
        return lines
    heads = ("USD A MONTH", "LEAST", "MOST", "EACH", "SOURCE")
    sums = ("in all", _money(cost.total(most=False)), _money(cost.total(most=True)), "", "")
    return [*lines, "", *_aligned([heads, *map(_cells, cost.lines), sums])]


def _found(finding: Finding) -> str:
    return f"{finding.found}. {finding.remedy}" if finding.remedy else finding.found


def _cells(line: Line) -> tuple[str, ...]:
    if line.price is None:
        return (line.item, "?", "?", "?", "no price is known")
    least, most = (_money(line.monthly(units) or 0.0) for units in (line.least, line.most))
    return (line.item, least, most, f"{line.price.amount:g}/{line.unit}", line.price.source)


def _money(amount: float) -> str:
    return f"{amount:,.2f}"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
