from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ansible_collections.mlops.eks.plugins.module_utils._core.step_record import PHASES, SEVERITY
from ansible_collections.mlops.eks.plugins.module_utils._report import formatting
from ansible_collections.mlops.eks.plugins.module_utils._report.model import Cluster, Run, worst
from ansible_collections.mlops.eks.plugins.module_utils._report.parse import step

GIB = 2**30


def ended(*outcomes: str) -> Run:
    steps = (
        step({"step": f"s{n}", "outcome": outcome}, directory="", files=(), runs=())
        for n, outcome in enumerate(outcomes)
    )
    return Run(run_id="r", clusters=(Cluster(name="local", steps=tuple(steps)),))


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (None, "–"),
        (0, "0.00 s"),
        (0.42, "0.42 s"),
        (0.999, "1.0 s"),
        (59.94, "59.9 s"),
        (59.96, "1 min 00 s"),
        (192.4, "3 min 12 s"),
        (3599.6, "1 h 00 min 00 s"),
        (7512, "2 h 05 min 12 s"),
        (90061, "1 d 1 h 01 min 01 s"),
    ],
)
def test_durations_are_exact_to_what_a_reader_can_use(seconds: float | None, said: str) -> None:
    assert formatting.duration(seconds).replace("\u00a0", " ") == said


@pytest.mark.parametrize(
    ("seconds", "label"),
    [(0, "0"), (0.1 + 0.2, "0.3 s"), (15, "15 s"), (60, "1 min"), (90, "1:30 min"), (7200, "2 h"), (172800, "2 d")],
)
def test_ticks_have_short_labels(seconds: float, label: str) -> None:
    assert formatting.tick_label(seconds) == label


@pytest.mark.parametrize(
    ("resource", "seconds", "said"),
    [
        ("cpu", 64.46, "64.5 core-seconds"),
        ("cpu", 36000, "10.0 core-hours"),
        ("memory", 1.5 * GIB, "1.50 GiB-seconds"),
        ("memory", 7200 * 10 * GIB, "20.0 GiB-hours"),
        ("nvidia.com/gpu", 8 * 1800, "4.00 GPU-hours"),
        ("nvidia.com/gpu", 3.6, "0.001 GPU-hours"),
        ("aws.amazon.com/neuron", 3600, "1.00 Neuron-hours"),
        ("vpc.amazonaws.com/efa", 0, "0.00 EFA-hours"),
        ("hugepages-2Mi", GIB, "1.00 GiB-seconds"),
        ("cpu", 12345, "12\u2009345.0 core-seconds"),
    ],
)
def test_what_was_held_is_said_in_the_units_of_the_field(resource: str, seconds: float, said: str) -> None:
    assert " ".join(formatting.reserved(resource, seconds)) == said


@pytest.mark.parametrize(
    ("resource", "number", "said"),
    [
        ("cpu", 1, "1 core"),
        ("cpu", 0.25, "0.25 cores"),
        ("cpu", 100, "100 cores"),
        ("cpu", 0, "0 cores"),
        ("memory", 512 * 2**20, "512 MiB"),
        ("memory", 96 * GIB, "96 GiB"),
        ("nvidia.com/gpu", 10, "10 GPU"),
    ],
)
def test_what_was_requested_is_short(resource: str, number: float, said: str) -> None:
    assert " ".join(formatting.requested(resource, number)) == said


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (None, ""),
        (0, "exit 0"),
        (1, "exit 1"),
        (137, "exit 137 (SIGKILL)"),
        (143, "exit 143 (SIGTERM)"),
        (255, "exit 255"),
    ],
)
def test_exit_codes_name_the_signal(code: int | None, said: str) -> None:
    assert formatting.exit_code(code) == said


@pytest.mark.parametrize(
    ("outcomes", "whole"),
    [
        ((), "running"),
        (("succeeded", "ready"), "ready"),
        (("ready", "succeeded"), "succeeded"),
        (("skipped", "skipped"), "skipped"),
        (("succeeded", "skipped"), "succeeded"),
        (("failed", "succeeded"), "failed"),
        (("running", "cancelled"), "cancelled"),
        (("failed", "timed_out", "lost"), "failed"),
    ],
)
def test_the_worst_outcome_decides_and_among_good_ones_the_last(outcomes: tuple[str, ...], whole: str) -> None:
    assert worst(list(outcomes)) == whole


@pytest.mark.parametrize(
    ("outcomes", "said"),
    [
        ((), "No step was recorded yet."),
        (("succeeded",), "Step s0 ended well."),
        (("skipped", "succeeded"), "All 2 steps ended well, 1 of them in an earlier run."),
        (("succeeded", "ready"), "All 2 steps ended well; s1 stays installed and ready."),
        (("succeeded", "failed"), "Step s1 failed on local."),
        (("failed", "running", "running"), "Of 3 steps, 1 failed and 2 are unfinished."),
    ],
)
def test_the_run_is_said_in_one_sentence(outcomes: tuple[str, ...], said: str) -> None:
    assert formatting.summary(ended(*outcomes)) == said


def test_every_outcome_and_phase_has_its_words() -> None:
    assert set(SEVERITY) == set(formatting.OUTCOMES) == set(formatting.ICONS)
    assert set(PHASES) == set(formatting.PHASES)
    assert set(formatting.VERBS) == {"failed", "timed_out", "lost", "cancelled", "running"}


def test_dates_do_not_depend_on_the_locale() -> None:
    assert formatting.date(datetime(2026, 11, 1, 9, 5, 2, tzinfo=UTC)) == "1 Nov 2026, 09:05:02 UTC"
    assert formatting.date(None) == "unknown"
