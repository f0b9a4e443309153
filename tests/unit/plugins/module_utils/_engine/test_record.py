"""step.json against its contract: the report, the bench and other tools read it."""

from __future__ import annotations

import json
import typing as t
from pathlib import Path

import jsonschema
import pytest
import yaml
from fakes.replay import NAMES, drive, last, load, ticks

from ansible_collections.mlops.eks.plugins.module_utils._core.secret_mask import Mask
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.causes import GracePeriods
from ansible_collections.mlops.eks.plugins.module_utils._engine import evidence, record
from ansible_collections.mlops.eks.plugins.module_utils._engine.record import Journal, LogFile, result
from ansible_collections.mlops.eks.plugins.module_utils._follow.state import State
from ansible_collections.mlops.eks.plugins.module_utils._plan.task import Task

TIME = {"type": "string", "format": "date-time"}
MAYBE_TIME = {"type": ["string", "null"], "format": "date-time"}
TEXT, NUMBER, LINES = {"type": "string"}, {"type": "number"}, {"type": "array", "items": {"type": "string"}}


def closed(**properties: t.Any) -> dict[str, t.Any]:
    return {"type": "object", "required": list(properties), "properties": properties, "additionalProperties": False}


CONTAINER = closed(
    name=TEXT,
    image=TEXT,
    state={"enum": ["waiting", "running", "terminated"]},
    reason=TEXT,
    exit_code={"type": ["integer", "null"]},
    restarts={"type": "integer"},
    started=MAYBE_TIME,
    finished=MAYBE_TIME,
    log={"type": ["string", "null"], "pattern": r"^logs/[^/]+\.log$"},
    log_lines={"type": "integer"},
    log_bytes={"type": "integer"},
    log_gap={"type": "string"},
)
POD = closed(
    name=TEXT,
    role=TEXT,
    node={"type": ["string", "null"]},
    phase=TEXT,
    created=MAYBE_TIME,
    started=MAYBE_TIME,
    finished=MAYBE_TIME,
    requests={"type": "object", "additionalProperties": NUMBER},
    containers={"type": "array", "items": CONTAINER},
)
PHASE = closed(name={"enum": ["queued", "pulling", "running", "finishing"]}, started=TIME, finished=MAYBE_TIME)
CAUSE = closed(
    reason=TEXT, category=TEXT, role=TEXT, object=TEXT, container=TEXT, message=TEXT, remedy=TEXT, log_tail=LINES
)
ATTEMPT = closed(
    attempt={"type": "integer"},
    run_id=TEXT,
    started=TIME,
    finished=TIME,
    outcome={"enum": ["failed", "timed_out"]},
    reason=TEXT,
    category=TEXT,
    object=TEXT,
    message=TEXT,
    evidence={"type": ["string", "null"], "pattern": r"^attempt-\d+$"},
)
PROGRESS = closed(done=NUMBER, total={"type": ["number", "null"]}, rate={"type": ["number", "null"]}, at=TIME)
OUTCOMES = ["succeeded", "ready", "skipped", "failed", "timed_out", "cancelled", "lost", "running"]
CONTRACT = closed(
    schema={"const": 1},
    run_id=TEXT,
    cluster=TEXT,
    namespace=TEXT,
    release=TEXT,
    helm_release=TEXT,
    pipeline=TEXT,
    step=TEXT,
    index={"type": "integer"},
    total={"type": "integer"},
    chart=TEXT,
    chart_version=TEXT,
    chart_source={"anyOf": [{"type": "null"}, closed(repo=TEXT, commit=TEXT, digest=TEXT)]},
    recipes=LINES,
    identity=TEXT,
    outcome={"enum": OUTCOMES},
    cause={"anyOf": [{"type": "null"}, CAUSE]},
    workload={"anyOf": [{"type": "null"}, closed(api_version=TEXT, kind=TEXT, name=TEXT)]},
    controller=TEXT,
    attempt={"type": "integer"},
    attempts={"type": "array", "items": ATTEMPT},
    reattached={"type": "boolean"},
    started=TIME,
    finished=MAYBE_TIME,
    phases={"type": "array", "items": PHASE},
    progress={"anyOf": [{"type": "null"}, PROGRESS]},
    restarts={"type": "integer"},
    pods={"type": "array", "items": POD},
    resources={"type": "object", "additionalProperties": closed(requested=NUMBER, seconds=NUMBER)},
    log_tail={**LINES, "maxItems": 40},
    warnings=LINES,
)
SKIPPED = {
    **CONTRACT,
    "required": [*CONTRACT["required"], "skipped_because"],
    "properties": {**CONTRACT["properties"], "skipped_because": TEXT},
}


def check(document: t.Any, schema: dict[str, t.Any] = CONTRACT) -> None:
    jsonschema.Draft7Validator(schema, format_checker=jsonschema.FormatChecker()).validate(document)


def task(tmp_path: Path, **more: t.Any) -> Task:
    base = {
        "cluster": "local",
        "namespace": "team",
        "release": "digits",
        "step": "train",
        "chart": "training/mpijob-distributed",
        "run_id": "20261121T091502-digits-3f9a",
        "runs_dir": tmp_path / "runs",
        "recipes": ("a.yaml",),
        "pipeline": "digits",
        "index": 2,
        "total": 5,
    }
    return Task(**{**base, **more})


def ended(name: str) -> tuple[State, float]:
    recording = load(name)
    rules = recording.rules(grace=GracePeriods(image=5, config=5, unschedulable=5, max_restarts=1), timeout=600)
    state, _ = drive(recording.changes, rules)
    at = last(recording) + 700
    return drive(ticks(last(recording), 700, every=100), rules, state)[0], at


def test_the_record_is_valid_from_the_first_moment(tmp_path: Path) -> None:
    journal = Journal(task=task(tmp_path), started=1_800_000_000.25)
    written = journal.write()
    check(written)
    assert written["outcome"] == "running"
    assert written["started"] == "2027-01-15T08:00:00.250Z"
    assert journal.file == tmp_path / "runs/20261121T091502-digits-3f9a/local/02-train/step.json"
    assert json.loads(journal.file.read_text(encoding="utf-8")) == written


def test_each_write_keeps_what_was_written_before(tmp_path: Path) -> None:
    journal = Journal(task=task(tmp_path), started=1e9)
    journal.write(identity="i" * 64)
    check(journal.write(phases=[{"name": "queued", "started": "2026-11-21T09:00:00.000Z", "finished": None}]))
    found = json.loads(journal.file.read_text(encoding="utf-8"))
    assert (found["identity"], len(found["phases"])) == ("i" * 64, 1)
    assert [path.name for path in journal.file.parent.iterdir()] == ["step.json"]


def test_a_skipped_step(tmp_path: Path) -> None:
    written = Journal(task=task(tmp_path), started=1e9).write(outcome="skipped", skipped_because="identical step")
    check(written, SKIPPED)
    assert written["phases"] == written["pods"] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_recorded_workload_makes_a_valid_record(tmp_path: Path, name: str) -> None:
    state, finished = ended(name)
    recording = load(name)
    logs = {
        (pod_name, entry["name"]): LogFile(f"logs/{pod_name}.{entry['name']}.log", 3, 99)
        for pod_name, pod in state.pods.items()
        for entry in pod["spec"]["containers"]
    }
    pods = record.pods(state, recording.kind, logs)
    assert state.ending is not None
    written = Journal(task=task(tmp_path), started=recording.started).write(
        outcome=state.ending.outcome,
        cause=record.cause(state.ending.cause),
        workload={"api_version": "x/v1", "kind": recording.kind.kind, "name": recording.name},
        phases=record.phases(state, finished),
        pods=pods,
        resources=record.resources(pods, finished),
    )
    check(written)
    names = [phase["name"] for phase in written["phases"]]
    assert names == [name for name in ("queued", "pulling", "running", "finishing") if name in names]
    times = [time for phase in written["phases"] for time in (phase["started"], phase["finished"])]
    assert times == sorted(times)
    for before, after in zip(written["phases"], written["phases"][1:], strict=False):
        assert before["finished"] == after["started"]
    kept = task(tmp_path, mask=Mask([recording.name]), private=True)
    evidence.write_state(kept, state)
    file = kept.evidence / "pods.yaml"
    assert recording.name not in file.read_text(encoding="utf-8")
    assert file.stat().st_mode & 0o777 == 0o600
    evidence.write_state(task(tmp_path), state)
    stored = list(yaml.safe_load_all(file.read_text(encoding="utf-8")))
    assert [one["metadata"]["name"] for one in stored] == sorted(state.pods)


def pod(started: str | None, finished: str | None, **requests: float) -> dict[str, t.Any]:
    return {"started": started, "finished": finished, "requests": requests}


AT = "2026-11-21T09:{}Z".format
END = 1_795_252_800.0


def test_resources_are_held_as_long_as_their_pods() -> None:
    found = record.resources(
        [pod(AT("00:00"), AT("00:10"), cpu=1.0, memory=100.0), pod(AT("00:05"), AT("00:25"), cpu=0.5)], END
    )
    assert found == {
        "cpu": {"requested": 1.5, "seconds": 20.0},
        "memory": {"requested": 100.0, "seconds": 1000.0},
    }


def test_the_request_is_that_of_the_peak_not_of_all_tries_together() -> None:
    tries = [pod(AT("00:00"), AT("00:10"), cpu=2.0), pod(AT("00:10"), AT("00:20"), cpu=2.0), pod(None, None, cpu=2.0)]
    assert record.resources(tries, END)["cpu"] == {"requested": 2.0, "seconds": 40.0}


def test_a_pod_that_never_ended_holds_until_the_step_ends() -> None:
    from ansible_collections.mlops.eks.plugins.module_utils._core.clock import from_iso

    found = record.resources([pod(AT("00:00"), None, cpu=1.0)], from_iso(AT("01:00")))
    assert found["cpu"]["seconds"] == 60.0
    # Clocks of node and controller differ.
    assert record.resources([pod(AT("00:00"), None, cpu=1.0)], from_iso(AT("00:00")) - 5)["cpu"]["seconds"] == 0.0


def test_the_result_of_a_task(tmp_path: Path) -> None:
    written = Journal(task=task(tmp_path), started=1e9).write(outcome="failed")
    found = result(written, task(tmp_path), changed=True, msg="m", failed=True, extra=1)
    assert found["failed"] is True
    assert (found["outcome"], found["changed"], found["msg"], found["extra"]) == ("failed", True, "m", 1)
    assert found["evidence"] == str(task(tmp_path).evidence)
    assert "failed" not in result(written, task(tmp_path), changed=False, msg="m")
    json.dumps(found)


def test_evidence_has_no_managed_fields() -> None:
    entry = {"metadata": {"name": "x", "managedFields": [1]}, "spec": {}}
    assert evidence.without_noise(entry) == {"metadata": {"name": "x"}, "spec": {}}
    assert "managedFields" in entry["metadata"]
