# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""What is recorded of a fault: the engine's own lines, comparable from run to run, and how a table shows them."""

from __future__ import annotations

import pytest
from shown import lines, plain
from table import table

TEXT = """
east | run | step 1/1 train: helm install run data-prep/data-process 1.0.0: Job/data-process-run
east | run | data-process-run-7rtzw | tick 1 failed after all
east | run | Job/data-process-run: failed after 2 min 5 s: Pod/data-process-run-7rtzw: NodeLost
east | run | Job/data-process-run: failed after 3 min 1 s: Pod/data-process-run-8abcd: NodeLost
TASK [failed after]
"""


def test_only_the_engines_own_lines_are_recorded_and_each_once() -> None:
    assert lines(TEXT, "failed after") == ("Job/data-process-run: failed after N s: Pod/data-process-run-x: NodeLost",)
    assert lines(TEXT, "nothing of it") == ()


@pytest.mark.parametrize(
    ("line", "same"),
    [
        ("at 2026-11-22T13:16:55.123Z in run 20261122T131655-run-a958", "at TIME in run RUN"),
        ("is locked by tower (process 4711); waiting 3 min", "is locked by HOST (process N); waiting N s"),
        ("pods on node faults-4242-2, which", "pods on node node-2, which"),
        ("what is left is in /tmp/x/runs/a/attempt-1", "what is left is in PATH"),
        ("a | b `c`", "a / b 'c'"),
        ("step 2/3 train", "step 2/3 train"),
    ],
)
def test_what_differs_from_run_to_run_is_a_word(line: str, same: str) -> None:
    assert plain(line) == same


def test_a_row_shows_what_was_recorded_and_a_dash_where_nothing_was() -> None:
    row = {"injected": 2, "recovered": 2, "violations": [], "seconds": [1.0, 3.0], "seed": 4}
    recorded = {**row, "said": ["a", "b", "a"], "kept": ["two pods"]}
    silent = {**row, "said": [], "kept": ["one pod"]}
    (old, told, quiet) = table({"evicted": row, "long-save": recorded, "forgotten": silent}).splitlines()[4:7]
    assert "| 2.0 | – | – |" in old
    assert "| `a` (2)<br>`b` | two pods |" in told
    assert "| nothing about it | one pod |" in quiet
