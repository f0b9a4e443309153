"""A Terraform whose controller is gone is followed to its end; with Terraform itself: tests/stack."""

from __future__ import annotations

import fcntl
import json
import os
import typing as t
from pathlib import Path

import pytest

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import Clock
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import CommandError
from ansible_collections.mlops.eks.plugins.module_utils._terraform.interrupted_run import wait_for_interrupted_run
from ansible_collections.mlops.eks.plugins.module_utils._terraform.progress import Progress


def event(kind: str, second: int) -> str:
    hook = {"resource": {"addr": "aws_vpc.this"}, "action": "create", "id_value": "vpc-1"}
    return json.dumps({"type": kind, "@timestamp": f"2026-11-21T15:25:{second:02}Z", "hook": hook}) + "\n"


class Script(Clock):
    """A clock, at whose first wait the Terraform of the interrupted run completes and ends."""

    def __init__(self, at_first: t.Callable[[], None]) -> None:
        super().__init__()
        self._at_first = at_first

    def sleep(self, seconds: float) -> None:
        at_first, self._at_first = self._at_first, lambda: None
        at_first()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """The record of a Terraform that runs."""
    file = tmp_path / "apply.jsonl"
    file.write_text(event("apply_start", 0))
    (tmp_path / "apply.jsonl.process").write_text(str(os.getpid()))
    return file


def test_all_its_output_is_printed(log: Path) -> None:
    said: list[str] = []
    held = (log.parent / "process.lock").open("w")
    fcntl.flock(held, fcntl.LOCK_EX)

    def end() -> None:
        with log.open("a") as file:
            file.write(event("apply_complete", 9))
        held.close()

    with wait_for_interrupted_run(
        log, Progress(heartbeat=0, total=3), said.append, Script(end), Clock().now() + 60
    ) as lock:
        assert os.fstat(lock).st_ino == (log.parent / "process.lock").stat().st_ino
    assert said == [
        f"an interrupted run left Terraform running (process {os.getpid()}); its output from the beginning:",
        "[1/3] created aws_vpc.this (vpc-1) in 9 s",
    ]


def test_the_wait_ends_at_the_deadline(log: Path) -> None:
    held = (log.parent / "process.lock").open("w")
    fcntl.flock(held, fcntl.LOCK_EX)
    running = wait_for_interrupted_run(log, Progress(heartbeat=0), lambda _: None, Clock(), Clock().now() + 0.3)
    with held, pytest.raises(CommandError, match=r"still runs after \d+ s \(process \d+\)\. It continues"), running:
        pytest.fail("it still runs")


def test_a_run_that_has_ended_is_not_printed(log: Path) -> None:
    said: list[str] = []
    with wait_for_interrupted_run(log, Progress(heartbeat=0), said.append, Clock(), 0.0):
        assert said == []
