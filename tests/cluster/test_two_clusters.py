# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""One play over two real clusters: side by side, reported apart."""

from __future__ import annotations

import json

import pytest
from plays import Play, until
from samples import gated, job, shown_ticks
from space import Space

pytestmark = pytest.mark.cluster


def _both(east: Space, west: Space) -> dict[str, dict[str, str]]:
    return {**east.host_variables(), **west.host_variables()}


def _ticks(play: Play, cluster: str) -> list[int]:
    return shown_ticks("\n".join(line for line in play.text.splitlines() if line.startswith(f"{cluster} |")))


def test_two_clusters_run_side_by_side_and_are_reported_apart(space: Space, second_space: Space) -> None:
    inventory = space.write_inventory(_both(space, second_space))
    play = space.start("train", pipeline=space.pipeline(prepare=job("echo a"), train=gated()), inventory=inventory)
    # Both are at their gates at the same time, each in its own; the first to pass does not wait for the other.
    until(lambda: all(_ticks(play, one) for one in ("east", "west")), "both are in their last step")
    second_space.open_gate()
    play.shows("| went")
    assert "went" not in "".join(line for line in play.text.splitlines() if line.startswith("east"))
    space.open_gate()
    shown = play.end()

    assert "east | run | Job/data-process-run: succeeded" in shown
    assert "west | run | Job/data-process-run: succeeded" in shown
    (run,) = space.runs.iterdir()
    clusters = json.loads((run / "run.json").read_text(encoding="utf-8"))["clusters"]
    assert {cluster["name"]: cluster["outcome"] for cluster in clusters} == {"east": "succeeded", "west": "succeeded"}
    ends = [(step["started"], step["finished"]) for cluster in clusters for step in cluster["steps"][1:]]
    assert max(start for start, _ in ends) < min(end for _, end in ends)
    assert [one.ledger()["train"]["outcome"] for one in (space, second_space)] == ["succeeded"] * 2
