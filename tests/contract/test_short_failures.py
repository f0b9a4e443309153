# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""What a failed task prints: one screen on a terminal, in ansible-runner's stdout, and for users' own playbooks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import typing as t
from pathlib import Path

import ansible_runner
import pytest
import yaml

from ansible_collections.mlops.eks.plugins.callback import short_failures

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
# A screen, from the first line about the failure to the last line of the play.
SCREEN = 15
LOG = [f"line {number} of the training log" for number in range(30)]
CAUSE = {
    "reason": "OOMKilled",
    "object": "Pod/mpijob-digits-worker-1",
    "message": "the container used more memory than its limit of 2Gi.",
    "remedy": "Raise the limit in the recipe.",
    "container": "worker",
    "role": "worker-1",
    "log_tail": LOG[-20:],
}
STEP: dict[str, t.Any] = {
    "failed": True,
    "changed": True,
    "msg": "MPIJob/mpijob-digits: failed after 41 s: Pod/mpijob-digits-worker-1 (worker): OOMKilled: "
    f"{CAUSE['message']} {CAUSE['remedy']}",
    "cause": CAUSE,
    "evidence": "runs/20261121T091502-digits-3f9a/east/02-train",
    "outcome": "failed",
    "log_tail": LOG,
    "phases": [{"name": name, "started": "", "finished": ""} for name in ("installed", "pending", "running")],
}
REFUSED = {"failed": True, "msg": "helm template x: refused", "command": ["helm"] * 30, "rc": 1, "stderr": "no\n" * 40}
ACTION = """
import json
from ansible.plugins.action import ActionBase
class ActionModule(ActionBase):
    def run(self, tmp=None, task_vars=None):
        return json.loads({result!r})
"""
SHOWN = """\
fatal: [east]: FAILED! => MPIJob/mpijob-digits: failed after 41 s
    cause:    Pod/mpijob-digits-worker-1 (worker): OOMKilled: the container used more memory than its limit of 2Gi.
    log:      line 27 of the training log
              line 28 of the training log
              line 29 of the training log
    remedy:   Raise the limit in the recipe.
    evidence: runs/20261121T091502-digits-3f9a/east/02-train
    continue: ansible-playbook -i east, -c local -e pipeline=recipes/demo/digits play.yml
"""


class Play:
    """A play with one step that fails, the way `roles/pipeline` runs it; the collection is ours but for its action."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.collections = directory / "collections"
        collection = self.collections / "ansible_collections" / "mlops" / "eks"
        (collection / "plugins" / "action").mkdir(parents=True)
        for name in ("modules", "module_utils", "callback", "doc_fragments", "plugin_utils"):
            (collection / "plugins" / name).symlink_to(ROOT / "plugins" / name)
        (collection / "meta").symlink_to(ROOT / "meta")
        self.action = collection / "plugins" / "action" / "helm_step.py"
        self.play = directory / "play.yml"
        task = {"name": "digits 2/3: train", "mlops.eks.helm_step": {"release": "digits"}, "register": "step"}
        report = {"name": "Write the report", "ansible.builtin.copy": {"content": "{{ step }}", "dest": "{{ kept }}"}}
        report["vars"] = {"kept": str(directory / "result.json")}
        play = {"hosts": "all", "gather_facts": False, "strategy": "ansible.builtin.host_pinned"}
        self.play.write_text(yaml.safe_dump([{**play, "tasks": [{"block": [task], "always": [report]}]}]))

    def environment(self) -> dict[str, str]:
        """The project's own configuration, but for the collection."""
        return {
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            "ANSIBLE_COLLECTIONS_PATH": str(self.collections),
            "ANSIBLE_PYTHON_INTERPRETER": sys.executable,
            "NO_COLOR": "1",
            "PATH": f"{BIN}:{os.environ['PATH']}",
        }

    def run(self, result: dict[str, t.Any], *arguments: str, extra: str = "pipeline=recipes/demo/digits") -> str:
        self.action.write_text(ACTION.format(result=json.dumps(result)), encoding="utf-8")
        done = subprocess.run(
            [str(BIN / "ansible-playbook"), "-i", "east,", "-c", "local", "-e", extra, "play.yml", *arguments],
            cwd=self.directory, env={**os.environ, **self.environment()}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 2, done.stdout + done.stderr
        return done.stdout

    @property
    def registered(self) -> dict[str, t.Any]:
        return t.cast(dict[str, t.Any], json.loads((self.directory / "result.json").read_text(encoding="utf-8")))


@pytest.fixture
def play(tmp_path: Path) -> Play:
    return Play(tmp_path)


def screen(stdout: str) -> list[str]:
    """Return what follows the name of the task that failed."""
    return stdout.split("TASK [digits 2/3: train]", 1)[1].splitlines()[1:]


def test_a_failed_step_prints_one_screen_and_registers_everything(play: Play) -> None:
    stdout = play.run(STEP)
    assert SHOWN in stdout
    assert len(screen(stdout)) <= SCREEN, stdout
    assert {key: play.registered[key] for key in STEP} == STEP


def test_verbose_prints_the_whole_result(play: Play) -> None:
    stdout = play.run(STEP, "-v")
    assert all(f"{key}:" in stdout for key in ("log_tail", "phases", "outcome"))
    assert "line 0 of the training log" in stdout


def test_any_other_failure_prints_its_message_and_names_the_rest(play: Play) -> None:
    stdout = play.run(REFUSED)
    last = "helm template x: refused\n    also returned (-v prints them): command, rc, stderr, stderr_lines\n"
    assert f"fatal: [east]: FAILED! => {last}" in stdout
    assert len(screen(stdout)) <= SCREEN + 2, stdout
    assert play.registered["stderr"] == REFUSED["stderr"]


def test_a_command_with_other_variables_is_not_printed(play: Play) -> None:
    stdout = play.run(STEP, extra="token=hunter2")
    assert "hunter2" not in stdout
    assert "continue: run the same command again\n" in stdout


def test_ansible_runner_prints_one_screen_and_its_event_has_everything(play: Play, tmp_path: Path) -> None:
    play.action.write_text(ACTION.format(result=json.dumps(STEP)), encoding="utf-8")
    (tmp_path / "awx").mkdir()
    runner = ansible_runner.run(
        private_data_dir=str(tmp_path / "awx"), playbook=str(play.play), inventory="east ansible_connection=local",
        envvars=play.environment(), quiet=True,
    )  # fmt: skip
    stdout = runner.stdout.read()
    assert "    evidence: runs/20261121T091502-digits-3f9a/east/02-train" in stdout
    assert len(screen(stdout)) <= SCREEN, stdout
    (failed,) = [event for event in runner.events if event["event"] == "runner_on_failed"]
    assert failed["event_data"]["res"]["log_tail"] == LOG


@pytest.mark.parametrize("columns", [80, 120, 200])
def test_long_lines_fit_the_rows_of_a_terminal(columns: int) -> None:
    cause = {**CAUSE, "message": "words " * 300, "log_tail": ["x" * 500] * 20}
    lines = short_failures.step_lines({**STEP, "cause": cause, "msg": "failed"}, columns, argv=["ansible-playbook"])
    assert sum(-(-(len(line) + 4) // columns) for line in lines) <= SCREEN - 4
    assert lines[1].endswith("...")
