# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""The page on reliability says what was measured: every fault, and that nothing came of it."""

from __future__ import annotations

from interrupt_kill import WAYS
from run import known, results
from table import PAGE, page


def test_the_page_holds_the_table_of_the_results() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text == page(text, results()), "run 'python tests/faults/table.py'"


def test_every_fault_was_injected_and_nothing_was_violated() -> None:
    rows = results()
    assert rows.keys() == {fault.name for fault in known()}, "run 'make faults'"
    assert {name: row["violations"] for name, row in rows.items() if row["violations"]} == {}
    assert all(row["recovered"] == row["injected"] > 0 for row in rows.values())
    assert all(row["seconds"] for row in rows.values())


def test_the_controller_was_killed_two_hundred_times() -> None:
    kills = {name: row["injected"] for name, row in results().items() if name.partition("@")[0] in WAYS}
    assert sum(kills.values()) >= 200
