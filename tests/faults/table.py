# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""The table of docs/reliability.md, made of results.json: `python tests/faults/table.py` writes it anew."""

from __future__ import annotations

import statistics
from collections import Counter
from itertools import groupby
from pathlib import Path

from fault import Fault
from run import Row, interrupt, known, results

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"
BEGIN, END = "<!-- table: begin -->\n", "<!-- table: end -->\n"
_HEAD = "| fault | how | times | recovered | to go on, s | shown | kept | again |"
# Different lines that a cell shows; there may be one of every run.
_SHOWN = 3


def table(rows: dict[str, Row]) -> str:
    """Return one line per group of faults, and the names of those that were not injected."""
    lines = [_summary(rows), "", _HEAD, "|---|---|---|---|---|---|---|---|"]
    for _, group in groupby((fault for fault in known() if fault.name in rows), key=lambda fault: fault.group):
        faults = list(group)
        lines.append(_line(faults, [rows[fault.name] for fault in faults]))
    missing = [f"`{fault.name}`" for fault in known() if fault.name not in rows]
    lines += ["", f"Not in the last run: {', '.join(missing)}."] if missing else []
    return "\n".join(lines) + "\n"


def _summary(rows: dict[str, Row]) -> str:
    """Return the figures of all rows in a line."""
    injected = sum(row["injected"] for row in rows.values())
    killed = {name: row for name, row in rows.items() if name.partition("@")[0] in interrupt.WAYS}
    kills, seconds = (
        sum(row["injected"] for row in killed.values()),
        [s for row in killed.values() for s in row["seconds"]],
    )
    median = f"{statistics.median(seconds):.1f}" if seconds else "–"
    return (
        f"{injected} times, {kills} of them kills of a controller, after which it took a median of {median} s to go on."
    )


def _line(faults: list[Fault], rows: list[Row]) -> str:
    seconds = [one for row in rows for one in row["seconds"]]
    first = faults[0]
    # Faults of one group differ in what stands before the @.
    pattern = first.name if len(faults) == 1 else f"*@{first.name.partition('@')[2]}"
    cells = (
        first.group,
        ", ".join(dict.fromkeys(fault.how for fault in faults)),
        str(sum(row["injected"] for row in rows)),
        str(sum(row["recovered"] for row in rows)),
        f"{statistics.median(seconds):.1f}" if seconds else "–",
        _recorded(rows, "said", "`{}`") or "nothing about it",
        _recorded(rows, "kept", "{}"),
        f"`--fault '{pattern}'`",
    )
    return f"| {' | '.join(cells)} |"


def _recorded(rows: list[Row], key: str, form: str) -> str:
    """Return what was recorded most often, and how often; a row of an older harness has none."""
    if not any(key in row for row in rows):
        return "–"
    found = Counter(line for row in rows for line in row.get(key, ()))
    cells = [f"{form.format(line)}{f' ({count})' if count > 1 else ''}" for line, count in found.most_common(_SHOWN)]
    more = [f"{len(found) - _SHOWN} others"] if len(found) > _SHOWN else []
    return "<br>".join([*cells, *more])


def page(text: str, rows: dict[str, Row]) -> str:
    """Return the page `text` with the table of `rows`."""
    before, rest = text.split(BEGIN)
    return before + BEGIN + table(rows) + END + rest.split(END)[1]


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), results()), encoding="utf-8")
