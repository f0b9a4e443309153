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
from ansible_collections.mlops.eks.plugins.module_utils._terraform.former import wait_for_former
from ansible_collections.mlops.eks.plugins.module_utils._terraform.progress import Progress


def event(kind: str, second: int) -> str:
    hook = {"resource": {"addr": "aws_vpc.this"}, "action": "create", "id_value": "vpc-1"}
    return json.dumps({"type": kind, "@timestamp": f"2026-11-21T15:25:{second:02}Z", "hook": hook}) + "\n"


class Script(Clock):
    """A clock, at whose first wait the former Terraform completes and ends."""

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


def test_it_is_shown_from_its_beginning_to_its_end(log: Path) -> None:
    said: list[str] = []
    held = (log.parent / "at-work.lock").open("w")
    fcntl.flock(held, fcntl.LOCK_EX)

    def end() -> None:
        with log.open("a") as file:
            file.write(event("apply_complete", 9))
        held.close()

    with wait_for_former(log, Progress(heartbeat=0, total=3), said.append, Script(end), Clock().now() + 60) as lock:
        assert os.fstat(lock).st_ino == (log.parent / "at-work.lock").stat().st_ino
    assert said == [
        f"an interrupted run left Terraform running (process {os.getpid()}); its output from the beginning:",
        "[1/3] created aws_vpc.this (vpc-1) in 9 s",
    ]


def test_it_is_not_waited_for_longer_than_the_run_may_take(log: Path) -> None:
    held = (log.parent / "at-work.lock").open("w")
    fcntl.flock(held, fcntl.LOCK_EX)
    former = wait_for_former(log, Progress(heartbeat=0), lambda _: None, Clock(), Clock().now() + 0.3)
    with held, pytest.raises(CommandError, match=r"still runs after \d+ s \(process \d+\)\. It continues"), former:
        pytest.fail("it is still at work")


def test_what_ended_long_ago_is_not_shown(log: Path) -> None:
    said: list[str] = []
    with wait_for_former(log, Progress(heartbeat=0), said.append, Clock(), 0.0):
        assert said == []
