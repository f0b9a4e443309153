"""What a pattern finds in a log, and what follows from it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._follow.progress import Progress, read
from ansible_collections.mlops.eks.plugins.module_utils._logs.activity import Activity
from ansible_collections.mlops.eks.plugins.module_utils._recipe.progress import progress_pattern

STEPS = re.compile(r"step (?P<done>[\d,.]+)(?:/(?P<total>\d+))?")


def after(*reports: tuple[float, str], pattern: re.Pattern[str] = STEPS) -> Progress:
    found = read(None, pattern, reports)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("reports", "words"),
    [
        (((0, "step 420/1000"),), "42 % (420/1000)"),
        (((0, "step 110/1000"), (100, "step 420/1000")), "42 % (420/1000), 3.1/s, 3 min 7 s left"),
        (((0, "step 0"), (100, "step 310")), "310 done, 3.1/s"),
        (((0, "step 1/9"), (60, "step 2/9")), "22 % (2/9), 1/min, 7 min left"),
        (((0, "step 1/9"), (3600, "step 2/9")), "22 % (2/9), 1/h, 7 h left"),
        (((0, "step 999/1000"), (1, "step 1000/1000")), "100 % (1000/1000), 1/s"),
        (((0, "step 995/1000"),), "99 % (995/1000)"),
        (((0, "step 1,500/9000"),), "16 % (1500/9000)"),
        (((0, "step 0.5/2"),), "25 % (0.50/2)"),
        (((0, "step 5/0"),), "5 done"),
        (((0, "step 3/9"), (5, "step 3/9")), "33 % (3/9)"),
    ],
)
def test_progress_in_words(reports: tuple[tuple[float, str], ...], words: str) -> None:
    assert after(*reports).describe(0) == words


def test_a_rate_is_that_of_the_last_two_minutes() -> None:
    slow = [(at, f"step {at // 10}/10000") for at in range(0, 1000, 10)]
    fast = [(1000.0 + at, f"step {100 + at * 5}/10000") for at in range(130)]
    assert after(*slow, *fast).rate == pytest.approx(5.0)


def test_reports_that_come_seldom_have_a_rate_too() -> None:
    assert after(*((at, f"step {at}/100000") for at in range(0, 6000, 600))).rate == pytest.approx(1.0)


def test_a_stale_report_shows_no_remaining_time() -> None:
    found = after((0, "step 0/1000"), (10, "step 100/1000"))
    assert found.describe(50) == "10 % (100/1000), 10/s, 40 s left"
    assert found.describe(300) == "10 % (100/1000), no progress for 5 min"
    seldom = after((0, "step 0/1000"), (600, "step 100/1000"))
    assert not seldom.stale(1500)


def test_progress_starts_again_after_a_checkpoint_or_with_an_epoch() -> None:
    found = after((0, "step 900/1000"), (10, "step 990/1000"), (11, "step 500/1000"), (21, "step 520/1000"))
    assert found.describe(0) == "52 % (520/1000), 2/s, 4 min left"
    assert after((0, "step 9/10"), (1, "step 10/20")).rate is None


def test_a_bar_that_rewrites_its_line_counts_as_it_is_now() -> None:
    assert after((0, "step 1/9\rstep 2/9\rstep 3/9")).done == 3


@pytest.mark.parametrize("line", ["", "no numbers", "step ,/9", "step ./9"])
def test_what_is_no_number_is_no_progress(line: str) -> None:
    assert read(None, STEPS, [(0.0, line)]) is None


@given(st.lists(st.tuples(st.floats(0, 1e9), st.text(alphabet="step 0123456789/,.")), max_size=20))
def test_any_line_can_be_searched_for_progress(lines: list[tuple[float, str]]) -> None:
    found = read(None, STEPS, lines)
    if found:
        assert found.describe(1.0)
        assert found.rate is None or found.rate > 0


def test_a_remaining_time_above_a_century_is_not_shown() -> None:
    endless = "9" * 308
    assert "left" not in after((0, f"step 0/{endless}"), (9, f"step 0.00000000000000000001/{endless}")).describe(0)


def test_the_record_has_plain_numbers() -> None:
    found = after((0, "step 0/10"), (4, "step 1/10"))
    assert found.to_record() == {"done": 1.0, "total": 10.0, "rate": 0.25, "at": "1970-01-01T00:00:04.000Z"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (r"step (?P<done>\d+", "is not a regular expression: missing ), unterminated subpattern at position 5"),
        (r"step (\d+)", r"has no group (?P<done>…). Example: progress: 'step (?P<done>\d+)/(?P<total>\d+)'"),
    ],
)
def test_a_wrong_pattern_is_refused(text: str, words: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        progress_pattern(text)
    assert words in str(caught.value)


# Hearing


def test_lines_between_two_ticks_are_taken_once() -> None:
    activity = Activity(progress=True)
    assert activity.take(5.0) is None
    activity.offer("rank-0", [(b"2026-11-21T09:00:00.5Z", b"a"), (b"", b"b")], leads=True)
    activity.offer("rank-1", [(b"2026-11-21T09:00:01Z", b"\xffc")], leads=False)
    found = activity.take(1e9)
    assert found is not None
    assert (found.pod, found.line) == ("rank-1", "�c")
    assert found.lines == ((1795251600.5, "a"), (1e9, "b"))
    assert activity.take(6.0) is None


def test_without_a_pattern_no_line_is_held() -> None:
    activity = Activity(progress=False)
    activity.offer("rank-0", [(b"", b"a"), (b"", b"last words"), (b"", b"  ")], leads=True)
    found = activity.take(1.0)
    assert found is not None
    assert (found.line, found.lines) == ("last words", ())
