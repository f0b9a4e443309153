from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._core.step_record import SEVERITY
from ansible_collections.mlops.eks.plugins.module_utils._report.collect import collect, run_directory
from ansible_collections.mlops.eks.plugins.module_utils._report.html import render
from ansible_collections.mlops.eks.plugins.module_utils._report.model import Cluster, Run
from ansible_collections.mlops.eks.plugins.module_utils._report.parse import clean, moment, number, step, tail

Put = Callable[..., Path]

GOOD, FAILED, UNFINISHED = (
    "20261121T091502-digits-3f9a",
    "20261121T101530-bert-mrpc-7c21",
    "20261121T113000-digits-b0b0",
)

ODD = (
    None,
    True,
    -1,
    1e300,
    float("nan"),
    10**400,
    "",
    "\x00",
    "x" * 500,
    [],
    [None],
    [[]],
    [{}],
    {},
    {"": None},
    {"a": []},
)
FIELDS = ("name", "started", "finished", "requests", "containers", "exit_code", "log", "seconds", "reason", "log_tail")
INNER = [dict.fromkeys(FIELDS, odd) for odd in ODD]
KEYS = (
    "step",
    "index",
    "outcome",
    "cause",
    "workload",
    "attempt",
    "attempts",
    "progress",
    "restarts",
    "started",
    "phases",
    "pods",
    "resources",
    "log_tail",
)


@given(st.dictionaries(st.sampled_from(KEYS), st.sampled_from([*ODD, INNER, *INNER])))
def test_no_record_is_too_odd_to_read(record: dict[str, object]) -> None:
    found = step(record, directory="local/01-train", files=("step.json",), runs=())
    assert found.outcome in SEVERITY
    cluster = Cluster(name="local", steps=(found,))
    assert render(Run(run_id="r", clusters=(cluster,))).endswith("</html>\n")


def test_a_recorded_run_is_read_whole(runs: Path) -> None:
    run = collect(runs / GOOD).run
    assert (run.pipeline, run.outcome, [cluster.name for cluster in run.clusters]) == ("digits", "succeeded", ["local"])
    steps = run.clusters[0].steps
    assert [(one.index, one.name, one.outcome) for one in steps] == [
        (1, "data", "succeeded"),
        (2, "train", "succeeded"),
        (3, "evaluate", "succeeded"),
        (4, "serve", "ready"),
        (5, "call", "succeeded"),
    ]
    launcher = steps[1].pods[0]
    assert (launcher.role, launcher.requests["cpu"], launcher.containers[0].exit_code) == ("launcher", 0.25, 0)
    assert launcher.containers[0].log == "local/02-train/logs/digits-train-launcher-8wqzd.launcher.log"
    assert [file.name for file in steps[0].evidence][:2] == ["events.yaml", "manifest.yaml"]
    assert run.finished == datetime(2026, 11, 21, 9, 15, 41, 233000, UTC)


def test_clusters_are_kept_apart_and_the_worst_decides(runs: Path) -> None:
    collected = collect(runs / FAILED)
    assert [(cluster.name, cluster.outcome, len(cluster.steps)) for cluster in collected.run.clusters] == [
        ("eu-west-1", "failed", 2),
        ("us-east-1", "succeeded", 3),
    ]
    assert collected.document["outcome"] == "failed"
    cause = collected.run.clusters[0].steps[1].cause
    assert cause is not None
    assert cause.log == "eu-west-1/02-train/logs/bert-mrpc-train-worker-0.pytorch.log"


def test_earlier_attempts_are_linked_where_their_evidence_is(put: Put) -> None:
    one = {"attempt": 1, "run_id": "r", "outcome": "failed", "reason": "NodeLost", "object": "Pod/x", "message": "m."}
    record = {"outcome": "succeeded", "attempt": 3, "attempts": [{**one, "run_id": "earlier"}, {**one, "attempt": 2}]}
    runs = put({**record, "progress": {"done": 420, "total": 1000}, "restarts": 2}, step="01-x")
    (runs / "r/local/01-x/attempt-2").mkdir()
    (runs / "r/local/01-x/attempt-2/step.json").write_text("{}")
    run = collect(runs / "r").run
    step_ = run.clusters[0].steps[0]
    assert [(found.attempt, found.evidence) for found in step_.attempts] == [(1, None), (2, "local/01-x/attempt-2/")]
    page = render(run)
    assert '<a href="local/01-x/attempt-2/">2</a>' in page
    for words in ("Pod/x: NodeLost: m.", "earlier", "42\u2009% (420 of 1\u2009000)", "<dt>Restarts</dt><dd>2</dd>"):
        assert words in page.replace("\u202f", "\u2009").replace("\xa0", "\u2009"), words


def test_run_json_keeps_the_records_as_they_were_written(runs: Path) -> None:
    document = collect(runs / GOOD).document
    written = json.loads((runs / GOOD / "local" / "02-train" / "step.json").read_text(encoding="utf-8"))
    assert document["clusters"][0]["steps"][1] == written
    assert (document["schema"], document["run_id"], document["clusters"][0]["release"]) == (1, GOOD, "digits")


def test_a_step_without_a_record_and_one_without_an_end_leave_the_run_unfinished(runs: Path) -> None:
    run = collect(runs / UNFINISHED).run
    assert (run.outcome, run.finished) == ("running", None)
    data, train, evaluate = run.clusters[0].steps
    assert (data.outcome, data.pods, data.phases) == ("skipped", (), ())
    assert (train.outcome, train.finished, train.reattached) == ("running", None, True)
    assert (evaluate.name, evaluate.index, evaluate.outcome) == ("evaluate", 3, "running")
    assert evaluate.warnings == ("The step left no step.json: it was interrupted before its first record.",)


def test_the_earlier_run_is_linked_once_it_has_a_report(runs: Path) -> None:
    assert collect(runs / UNFINISHED).run.clusters[0].steps[0].skipped_report is None
    (runs / GOOD / "report.html").touch()
    assert collect(runs / UNFINISHED).run.clusters[0].steps[0].skipped_report == f"../{GOOD}/report.html"


@pytest.mark.parametrize(
    ("content", "warning"),
    [
        (None, "left no step.json"),
        ("", "is not JSON"),
        ('{"step": "tra', "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[]", "does not hold a mapping"),
        ("null", "does not hold a mapping"),
    ],
)
def test_a_broken_record_is_a_warning(put: Put, content: str | None, warning: str) -> None:
    runs = put({"outcome": "succeeded", "step": "data"}, step="01-data")
    put(content, step="02-train")
    collected = collect(runs / "r")
    data, train = collected.run.clusters[0].steps
    assert (data.outcome, train.outcome, train.name) == ("succeeded", "running", "train")
    assert warning in train.warnings[0]
    assert collected.document["clusters"][0]["steps"][1]["outcome"] == "running"


def test_numbers_json_cannot_say_do_not_reach_run_json(put: Put) -> None:
    runs = put('{"outcome": "failed", "resources": {"cpu": {"requested": NaN, "seconds": 1e999}}}')
    text = json.dumps(collect(runs / "r").document, allow_nan=False)
    assert '"seconds": null' in text


def test_steps_come_in_the_order_of_their_number(put: Put) -> None:
    for name in ("100-last", "02-second", "99-late"):
        runs = put({"outcome": "succeeded"}, step=name)
    assert [one.name for one in collect(runs / "r").run.clusters[0].steps] == ["second", "late", "last"]


def test_other_files_and_directories_are_left_out(put: Put) -> None:
    runs = put({"outcome": "succeeded"})
    (runs / "r" / "notes.txt").write_text("mine")
    (runs / "r" / "local" / "scratch").mkdir()
    (runs / "r" / "empty-cluster").mkdir()
    (runs / "r" / ".hidden" / "01-x").mkdir(parents=True)
    run = collect(runs / "r").run
    assert [(cluster.name, len(cluster.steps)) for cluster in run.clusters] == [("local", 1)]


def test_a_log_that_is_not_there_or_not_of_the_step_is_not_linked(put: Put) -> None:
    containers = [{"name": "a", "log": "logs/gone.log"}, {"name": "b", "log": "../../../../etc/passwd"}]
    runs = put({"outcome": "failed", "pods": [{"name": "p", "containers": containers}]})
    pod = collect(runs / "r").run.clusters[0].steps[0].pods[0]
    assert [container.log for container in pod.containers] == [None, None]


def test_unknown_run_names_the_directory_and_the_runs_there_are(runs: Path) -> None:
    with pytest.raises(InvalidInputError) as caught:
        run_directory(runs, "20260101T000000-digits-0000")
    message = str(caught.value)
    assert "\n" not in message
    assert message == (
        f"Cannot report run '20260101T000000-digits-0000': {runs} has no such run; "
        f"it has {UNFINISHED}, {FAILED}, {GOOD}."
    )


@pytest.mark.parametrize("run_id", ["..", ".", "", "../runs", f"{GOOD}/local"])
def test_a_path_is_not_a_run_id(runs: Path, run_id: str) -> None:
    with pytest.raises(InvalidInputError, match="has no such run"):
        run_directory(runs, run_id)


def test_many_runs_are_not_all_named(tmp_path: Path) -> None:
    for number_ in range(12):
        (tmp_path / f"run-{number_:02d}").mkdir()
    with pytest.raises(InvalidInputError, match=r"it has run-11, .*run-04 and 4 older\."):
        run_directory(tmp_path, "nope")


def test_absent_and_empty_directories_say_so(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="it has no runs yet"):
        run_directory(tmp_path, "nope")
    with pytest.raises(InvalidInputError, match=r"gone does not exist\. Set runs_dir"):
        run_directory(tmp_path / "gone", "nope")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[1;31mKilled\x1b[0m", "Killed"),
        ("\x1b]0;window title\x07text", "text"),
        ("\x1b]8;;file:///x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("a\x00b\x08c\x7f", "abc"),
        ("safe\u202etxt.exe", "safetxt.exe"),
        ("lone \ud800 surrogate", "lone  surrogate"),
        (7, "7"),
        (True, ""),
        ({"a": 1}, ""),
    ],
)
def test_text_is_printable(text: object, shown: str) -> None:
    assert clean(text) == shown


def test_of_a_progress_bar_only_the_last_state_is_shown() -> None:
    assert tail([" 10%\r 50%\r100%\n", "plain\r\n", 7, "tab\tkept"]) == ("100%", "plain", "tab\tkept")


def test_tails_are_bounded() -> None:
    lines = tail([f"{number_}" for number_ in range(100)] + ["x" * 10_000])
    assert len(lines) == 40
    assert len(lines[-1]) == 2002


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("2026-11-21T09:15:02.123Z", datetime(2026, 11, 21, 9, 15, 2, 123000, UTC)),
        ("2026-11-21T11:15:02+02:00", datetime(2026, 11, 21, 9, 15, 2, tzinfo=UTC)),
        ("2026-11-21T09:15:02", datetime(2026, 11, 21, 9, 15, 2, tzinfo=UTC)),
        ("0001-01-01T00:00:00+10:00", None),
        ("yesterday", None),
        (1763716502, None),
    ],
)
def test_moments_are_in_utc(text: object, parsed: datetime | None) -> None:
    assert moment(text) == parsed


@pytest.mark.parametrize(
    ("value", "parsed"),
    [(2, 2.0), (-1, 0.0), (float("nan"), 0.0), (10**400, 0.0), (True, 0.0), ("3", 0.0), (None, 0.0)],
)
def test_numbers_are_finite_and_not_negative(value: object, parsed: float) -> None:
    assert number(value) == parsed
