# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""What grows while a step runs has an end: the newest is kept, the rest is counted."""

from __future__ import annotations

import json
import re

from fakes.built import RUNS, event, outcome, pod, rules, workload
from fakes.kube import FakeKube
from fakes.made import BEGIN
from fakes.replay import drive, ticks

from ansible_collections.mlops.eks.plugins.module_utils._core import bounds
from ansible_collections.mlops.eks.plugins.module_utils._follow import changes
from ansible_collections.mlops.eks.plugins.module_utils._follow.progress import Progress, read
from ansible_collections.mlops.eks.plugins.module_utils._follow.state import State
from ansible_collections.mlops.eks.plugins.module_utils._ledger.ledger import Entry, Ledger
from ansible_collections.mlops.eks.plugins.module_utils._logs.console import Console


def test_the_newest_warnings_are_kept() -> None:
    many = bounds.WARNINGS + 50
    seen = [event(1, "Odd", message=f"number {number}") for number in range(many)]
    again = event(2, "Odd", message=f"number {many - bounds.WARNINGS}")
    last = event(3, "Odd", message="the last")
    state, said = drive([workload(0), *seen, again, last], rules())
    kept = [entry["message"] for entry in state.warnings.values()]
    assert len(kept) == bounds.WARNINGS
    assert kept[-2:] == [f"number {many - bounds.WARNINGS}", "the last"]
    assert "number 0" not in kept
    assert state.dropped_warnings == 51
    lines = [line for line in said if "Odd" in line or "warnings" in line]
    assert len(lines) == bounds.WARNINGS + 2
    assert lines[-1] == f"there are more than {bounds.WARNINGS} warnings; the newest are kept, and no more are shown"


def test_pods_that_went_are_forgotten_and_counted() -> None:
    found: list[changes.Change] = [workload(0)]
    for number in range(bounds.GONE_PODS + 20):
        seen = pod(number, RUNS, name=f"digits-{number}", phase="Running")
        found += [seen, changes.PodGone(at=seen.at, entry=seen.entry)]  # type: ignore[attr-defined]
    found += [pod(5000, RUNS, name="digits-last", phase="Running", created=5000), *ticks(BEGIN + 5000, 2)]
    state, _said = drive(found, rules())
    assert outcome(state) is None
    assert (len(state.gone), len(state.pods), state.dropped_pods) == (bounds.GONE_PODS, bounds.GONE_PODS + 1, 20)
    assert "digits-0" not in state.pods
    assert "digits-last" in state.pods
    assert state.restarts >= 20
    assert State().dropped_pods == 0


def test_notes_about_logs_end() -> None:
    console = Console(lambda: None)
    for number in range(bounds.NOTES + 100):
        console.note(f"line {number}")
    assert len(console.notes) == bounds.NOTES + 1
    assert console.notes[-1] == f"there are more than {bounds.NOTES} lines about the logs; no more are printed"


def test_reports_of_progress_are_thinned_and_tell_the_same_rate() -> None:
    pattern, progress = re.compile(r"step (?P<done>\d+)"), None
    for number in range(20_000):
        progress = read(progress, pattern, [(BEGIN + number / 1000, f"step {number}")])
    assert isinstance(progress, Progress)
    assert len(progress.samples) <= bounds.SAMPLES + 1
    assert progress.done == 19_999
    assert abs((progress.rate or 0) - 1000) < 1


def _entry(step: str, cause: str, attempts: int) -> Entry:
    tried = tuple(
        {
            "attempt": number,
            "run_id": "20261121T091502-digits-3f9a",
            "started": "2026-11-21T09:00:00.000Z",
            "finished": "2026-11-21T09:02:05.000Z",
            "outcome": "failed",
            "reason": "Evicted",
            "category": "evicted",
            "object": "Pod/digits-worker-0",
            "message": cause,
        }
        for number in range(1, attempts + 1)
    )
    return Entry(
        step=step,
        identity="i" * 64,
        outcome="failed",
        run_id="r",
        pipeline="digits",
        helm_release="digits",
        controller="h",
        started="2026-11-21T09:00:00.000Z",
        cause=cause,
        tried=tried,
    )


def test_a_ledger_of_a_hundred_steps_fits_into_a_config_map() -> None:
    kube = FakeKube()
    ledger = Ledger(kube, "digits")
    for number in range(bounds.STEPS):
        ledger.write(_entry(f"step-{number}", "x" * 100_000, attempts=20))
    (document,) = kube.objects.values()
    assert len(json.dumps(document)) < 2**20
    found = ledger.read()["step-0"]
    assert found.cause == "x" * (bounds.CAUSE - 3) + "..."
    # What limits and retries count by stays, of any number of attempts.
    assert found.attempt == 21
    assert found.tried[0]["started"] == "2026-11-21T09:00:00.000Z"


def test_a_usual_entry_is_kept_as_it_is() -> None:
    kube = FakeKube()
    usual = _entry("train", "Pod/digits-worker-0: OOMKilled: it used more than 8Gi", attempts=2)
    Ledger(kube, "digits").write(usual)
    assert Ledger(kube, "digits").read() == {"train": usual}
