"""Evidence that waits for room on the disk."""

from __future__ import annotations

import errno
import json
import typing as t
from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes.clock import FakeClock
from fakes.disk import Disk, mounted

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import StorageError
from ansible_collections.mlops.eks.plugins.module_utils._core.storage import RETRY
from ansible_collections.mlops.eks.plugins.module_utils._engine.evidence import set_aside
from ansible_collections.mlops.eks.plugins.module_utils._engine.record import Journal, Writer
from ansible_collections.mlops.eks.plugins.module_utils._plan.task import Task


class Stage:
    """A step whose record is on a disk of its own, and who is told about it."""

    def __init__(self, disk: Disk, clock: FakeClock) -> None:
        self.disk, self.clock, self.said = disk, clock, list[str]()
        who = {"cluster": "east", "namespace": "team", "release": "digits", "step": "train", "run_id": "r"}
        self.task = Task(**who, chart="x", runs_dir=disk.path / "runs")
        self.journal = Journal(task=self.task, started=0.0)

    def writer(self, **more: t.Any) -> Writer:
        return Writer(task=self.task, clock=self.clock, say=self.said.append, **more)

    def outcome(self) -> str:
        found: str = json.loads(self.journal.file.read_text(encoding="utf-8"))["outcome"]
        return found


@pytest.fixture
def stage(tmp_path: Path, clock: FakeClock) -> Iterator[Stage]:
    with mounted(tmp_path / "disk", "size=64k") as disk:
        found = Stage(disk, clock)
        found.journal.write()
        disk.fill()
        yield found


def test_the_record_waits_for_room_and_the_old_one_stays_until_then(stage: Stage) -> None:
    def free() -> None:
        assert stage.outcome() == "running"
        if len(stage.clock.slept) == 45:
            stage.disk.empty()

    stage.clock.meanwhile = free
    assert stage.writer().record(stage.journal, outcome="succeeded")["outcome"] == "succeeded"
    assert stage.outcome() == "succeeded"
    assert stage.clock.slept == [RETRY] * 45
    told = [line.partition("; ")[2] for line in stage.said]
    assert (
        told[0]
        == told[1]
        == (
            "the step has ended; its pods stay until the evidence is whole. After Ctrl-C the same command goes on from "
            "here. Free space there."
        )
    )
    assert stage.said[2:] == ["step 1/1 train: the evidence can be written again"]


def test_a_writer_that_does_not_wait_for_room(stage: Stage) -> None:
    record = stage.writer(waits_for_room=False).record(stage.journal, outcome="failed")
    assert (record["outcome"], stage.outcome(), stage.clock.slept) == ("failed", "running", [])


def test_a_controller_without_the_lock_stops_waiting(stage: Stage) -> None:
    writer = stage.writer(lost=lambda: len(stage.clock.slept) > 2)
    assert writer.record(stage.journal, outcome="succeeded")["outcome"] == "succeeded"
    assert (stage.outcome(), len(stage.clock.slept)) == ("running", 3)


def test_only_the_first_record_waits_for_room(stage: Stage) -> None:
    stage.disk.empty()
    writer = stage.writer()
    writer.record(stage.journal, outcome="succeeded")
    stage.disk.fill()
    assert writer.record(stage.journal, outcome="succeeded", restarts=1)["restarts"] == 1
    assert stage.clock.slept == []


def test_evidence_that_was_moved_in_part_is_moved_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    who = {"cluster": "east", "namespace": "team", "release": "digits", "step": "train", "run_id": "r"}
    task = Task(**who, chart="x", runs_dir=tmp_path)
    names = ["events.yaml", "pods.yaml", "step.json", "values.yaml"]
    (task.evidence / "logs").mkdir(parents=True)
    (task.evidence / "logs" / "p.log").write_text("log")
    for name in names:
        (task.evidence / name).write_text(name)
    real, moved = Path.rename, list[str]()

    def rename(self: Path, target: Path) -> Path:
        if len(moved) == 2:
            moved.append("")
            raise OSError(errno.ENOSPC, "No space left on device")
        moved.append(self.name)
        return real(self, target)

    monkeypatch.setattr(Path, "rename", rename)
    with pytest.raises(StorageError, match="attempt-1: no space left on device"):
        set_aside(task, 1)
    set_aside(task, 1)
    assert sorted(path.name for path in task.evidence.iterdir()) == ["attempt-1"]
    aside = task.evidence / "attempt-1"
    assert {path.name: path.read_text() for path in aside.iterdir() if path.is_file()} == {name: name for name in names}
    assert (aside / "logs" / "p.log").read_text() == "log"
    # What another controller of the same attempt had put there is replaced.
    (task.evidence / "step.json").write_text("newer")
    set_aside(task, 1)
    assert (aside / "step.json").read_text() == "newer"
