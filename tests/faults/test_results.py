# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""The page on reliability says what was measured, and what was not."""

from __future__ import annotations

from run import known
from table import PAGE, page, results


def test_the_page_holds_the_table_of_the_results() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text == page(text, results()), "run 'python tests/faults/table.py'"


def test_nothing_was_violated() -> None:
    rows = results()
    assert rows.keys() <= {fault.name for fault in known()}, "run 'make faults'"
    assert {name: row["violations"] for name, row in rows.items() if row["violations"]} == {}
    assert all(row["recovered"] == row["injected"] > 0 for row in rows.values())
