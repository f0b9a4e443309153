# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Through ansible-runner, as AWX runs it: the log arrives live, as events."""

from __future__ import annotations

import os
import threading
import typing as t
from pathlib import Path

import ansible_runner
import pytest
from plays import PATIENCE, ROOT, ansible_playbook, until
from samples import gated
from space import Space

pytestmark = pytest.mark.cluster


def test_log_lines_arrive_as_events_while_the_job_runs(space: Space, tmp_path: Path) -> None:
    pipeline = space.pipeline(train=gated())
    private = tmp_path / "awx"
    private.mkdir()
    path = f"{Path(ansible_playbook()).parent}:{os.environ['PATH']}"
    lines: list[str] = []
    ticked, finished = threading.Event(), threading.Event()

    def on_event(event: dict[str, t.Any]) -> bool:
        lines.extend(event["stdout"].splitlines())
        if "| tick 3" in event["stdout"]:
            ticked.set()
        return True

    thread, runner = ansible_runner.run_async(
        private_data_dir=str(private),
        project_dir=str(ROOT),
        playbook="playbooks/train.yml",
        inventory=str(space.inventory),
        extravars={"pipeline": str(pipeline), "runs_dir": str(space.runs)},
        envvars={"ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"), "PATH": path},
        event_handler=on_event,
        finished_callback=lambda _: finished.set(),
        quiet=True,
    )

    # The job cannot end before its gate opens, and the gate opens because the event came.
    assert until(lambda: ticked.is_set() or finished.is_set(), "a line of the log arrived")
    assert ticked.is_set(), "\n".join(lines)
    assert not finished.is_set()
    space.open_gate()
    thread.join(2 * PATIENCE)

    assert (runner.status, runner.rc) == ("successful", 0), "\n".join(lines)
    assert any(line.endswith("| went") and line.startswith("east | run | data-process-run-") for line in lines)
    assert runner.stats["changed"] == {"east": 1}
    assert space.ledger()["train"]["outcome"] == "succeeded"
