from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.mlops.eks.plugins.module_utils._core.step_record import PHASES
from ansible_collections.mlops.eks.plugins.module_utils._report.model import Cluster, Run, Step
from ansible_collections.mlops.eks.plugins.module_utils._report.parse import step
from ansible_collections.mlops.eks.plugins.module_utils._report.timeline import (
    INTERVALS,
    MOST_TICKS,
    Scale,
    elapsed,
    row,
    scale,
    ticks,
)

START = datetime(2026, 11, 21, 9, 15, tzinfo=UTC)
SECONDS = st.floats(min_value=-1e6, max_value=1e7, allow_nan=False)
MAYBE = st.none() | SECONDS


def iso(seconds: float | None) -> str | None:
    return None if seconds is None else (START + timedelta(seconds=seconds)).isoformat()


def made(started: float | None, finished: float | None, phases: list[tuple[str, float | None, float | None]]) -> Step:
    spans = [{"name": name, "started": iso(begin), "finished": iso(end)} for name, begin, end in phases]
    record = {"outcome": "succeeded", "started": iso(started), "finished": iso(finished), "phases": spans}
    return step(record, directory="local/01-train", files=(), runs=())


def run_of(*steps: Step) -> Run:
    return Run(run_id="r", clusters=(Cluster(name="local", steps=steps),))


def test_phases_follow_each_other_in_per_cent_of_the_run() -> None:
    first = made(0, 40, [("queued", 0, 10), ("running", 10, 40)])
    second = made(50, 100, [("running", 50, 100)])
    whole = scale(run_of(first, second))
    assert whole is not None
    bars = row(first, whole)
    assert bars is not None
    assert [(bar.name, bar.left, bar.width, bar.seconds) for bar in bars.phases] == [
        ("queued", 0, 10, 10),
        ("running", 10, 30, 30),
    ]
    assert (bars.whole.left, bars.whole.width, bars.right) == (0, 40, 40)


@given(
    MAYBE,
    MAYBE,
    st.lists(st.tuples(st.sampled_from(PHASES), MAYBE, MAYBE), max_size=6),
    st.lists(st.tuples(MAYBE, MAYBE), max_size=3),
)
def test_every_bar_lies_within_its_step_and_no_width_is_negative(
    started: float | None,
    finished: float | None,
    phases: list[tuple[str, float | None, float | None]],
    others: list[tuple[float | None, float | None]],
) -> None:
    one = made(started, finished, phases)
    whole = scale(run_of(one, *(made(begin, end, []) for begin, end in others)))
    bars = row(one, whole) if whole else None
    if bars is None:
        assert not one.moments
        return
    assert 0 <= bars.whole.left <= bars.right <= 100 + 1e-9
    for bar in bars.phases:
        assert bar.width >= 0
        assert bar.seconds >= 0
        assert bar.left >= bars.whole.left - 1e-9
        assert bar.left + bar.width <= bars.right + 1e-9


def test_an_open_phase_reaches_to_the_last_moment_known() -> None:
    one = made(0, None, [("queued", 0, 4), ("running", 4, None)])
    bars = row(one, Scale(start=START, seconds=8))
    assert bars is not None
    assert [(bar.name, bar.open) for bar in bars.phases] == [("queued", False), ("running", True)]
    assert bars.whole.open
    assert bars.phases[1].seconds == 0


def test_a_step_that_was_skipped_or_left_no_times_has_no_bars() -> None:
    silent = made(None, None, [])
    assert row(silent, Scale(start=START, seconds=8)) is None
    assert scale(run_of(silent)) is None


def test_a_run_of_no_duration_still_has_a_scale() -> None:
    instant = made(3, 3, [("running", 3, 3)])
    whole = scale(run_of(instant))
    assert whole is not None
    assert whole.seconds == 0
    bars = row(instant, whole)
    assert bars is not None
    assert bars.whole.width == 0
    assert [tick.seconds for tick in ticks(whole.seconds)] == [0]


@given(st.floats(min_value=0, max_value=1e9))
def test_ticks_are_few_and_within_the_run(seconds: float) -> None:
    found = ticks(seconds)
    assert 1 <= len(found) <= max(MOST_TICKS, 2)
    assert found[0].left == 0
    assert all(0 <= tick.left <= 100 + 1e-6 for tick in found)


@pytest.mark.parametrize(("seconds", "interval"), [(39, 5), (1917, 300), (90, 15), (0.5, 0.1), (86400, 6 * 3600)])
def test_ticks_stand_at_round_intervals(seconds: float, interval: float) -> None:
    assert interval in INTERVALS
    assert ticks(seconds)[1].seconds == pytest.approx(interval)


def test_elapsed_needs_both_ends_and_is_never_negative() -> None:
    assert elapsed(START, None) is None
    assert elapsed(START, START - timedelta(seconds=5)) == 0
    assert elapsed(START, START + timedelta(seconds=5)) == 5
