# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""What containers really write, on its way to the archive and to the terminal."""

from __future__ import annotations

import signal
import typing as t

import pytest
import yaml
from plays import until
from samples import GATE, IMAGE, JOB, Json, consecutive, gated, job, ticks
from space import Space

pytestmark = pytest.mark.cluster

SECRET = "tok-4711-xyz"
# One line of 100,000 bytes, every byte there is but the line break, what a terminal would obey, and no end. containerd
# takes a carriage return before a line break for a part of it and drops it.
WRITER = r"""
$| = 1;
print "x" x 100000, "\n";
print join("", map { chr } grep { $_ != 10 } 0 .. 255), "\n";
print "\e[31mred\e[0m \e]0;title\a\e[2J\n";
print "token $ENV{TOKEN} and again $ENV{TOKEN}\n" x 2;
print join("", map { "$_%\r" } 1 .. 100), "done\n";
print map { "line $_\n" } 1 .. 20000;
print "the end";
"""


def written(secret: str) -> bytes:
    lines = [
        b"x" * 100000,
        bytes(byte for byte in range(256) if byte != 10),
        b"\x1b[31mred\x1b[0m \x1b]0;title\x07\x1b[2J",
        *[f"token {secret} and again {secret}".encode()] * 2,
        b"".join(b"%d%%\r" % number for number in range(1, 101)) + b"done",
        *[b"line %d" % number for number in range(1, 20001)],
    ]
    return b"\n".join([*lines, b"the end"])


def writer() -> Json:
    # A moment of silence at the end: containerd 1.6 on a busy machine can lose what is written just before it.
    recipe = job(f"perl -e '{WRITER}'; sleep 2")
    recipe["process"]["env"] = [{"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "token", "key": "value"}}}]
    return recipe


def task_of(space: Space, **more: t.Any) -> str:
    """Run `helm_step` as a task with keywords of its own."""
    where = {"kubeconfig": space.kubeconfig, "namespace": space.namespace, "runs_dir": str(space.runs)}
    task = {"mlops.eks.helm_step": {**where, "release": "run", "chart": JOB, **more.pop("parameters")}, **more}
    show = {"ansible.builtin.debug": {"msg": "TAIL {{ step.log_tail }} OUTCOME {{ step.outcome }}"}}
    path = space.directory / "own.yml"
    play = {"hosts": "clusters", "gather_facts": False, "tasks": [{**task, "register": "step"}, show]}
    path.write_text(yaml.safe_dump([play]), encoding="utf-8")
    return space.play(path)


def archive(space: Space, step: str = "run") -> bytes:
    (file,) = (space.evidence(step) / "logs").iterdir()
    return file.read_bytes()


def test_an_archive_is_what_was_written_and_the_terminal_is_spared(space: Space) -> None:
    space.kubectl("create", "secret", "generic", "token", f"--from-literal=value={SECRET}")
    shown = task_of(space, parameters={"values": writer(), "redact": ["the end"]})

    assert archive(space).startswith(written("********").removesuffix(b"the end") + b"********")
    assert f"| {'x' * 2000} ... (clipped" in shown
    assert "| red \n" in shown
    assert "| done\n" in shown
    assert "more lines at this moment" in shown
    assert not [char for char in shown if ord(char) < 32 and char not in "\n\t"]
    assert "| token ******** and again ********" in shown
    kept = b"".join(path.read_bytes() for path in space.runs.rglob("*") if path.is_file())
    assert SECRET.encode() not in kept + shown.encode()
    assert b"the end" not in kept
    assert space.record("run")["pods"][0]["containers"][0]["log_gap"] == ""
    assert not (space.evidence("run") / ".marks").exists()


def test_a_task_that_is_not_to_be_logged_says_nothing(space: Space) -> None:
    shown = task_of(space, parameters={"values": job("echo open secret")}, no_log=True)

    assert "TAIL [] OUTCOME succeeded" in shown
    assert "open secret" not in shown
    assert archive(space).startswith(b"open secret\n")
    files = [path for path in space.evidence("run").rglob("*") if path.is_file()]
    assert {path.name: path.stat().st_mode & 0o777 for path in files} == {path.name: 0o600 for path in files}
    # The recipe itself, with the script, is in values and manifest; nothing else knows the line.
    assert [path.name for path in files if b"open secret" in path.read_bytes() and path.suffix == ".json"] == []


def test_a_reattached_step_prints_only_what_is_new(space: Space) -> None:
    pipeline = space.pipeline(train=gated())
    first = space.start("train", pipeline=pipeline)
    first.shows("| tick 5\n")
    first.end_by(lambda play: play.send(signal.SIGKILL))
    before = ticks([line.rpartition("| ")[2] for line in first.text.splitlines()])
    second = space.start("train", pipeline=pipeline)
    second.shows("re-attached")
    space.open_gate()
    again = ticks([line.rpartition("| ")[2] for line in second.end().splitlines()])

    kept = ticks(space.log("train"))
    assert consecutive(kept)
    assert min(again, default=kept[-1] + 1) > 1
    # A worker may print a little after its play was killed, but never twice what it had archived.
    assert min(again, default=kept[-1] + 1) >= before[-1]


def _short_lived(name: str, script: str) -> Json:
    container = {"name": "main", "image": IMAGE, "command": ["bash", "-c", script]}
    spec = {"restartPolicy": "Never", "containers": [container]}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {"backoffLimit": 0, "ttlSecondsAfterFinished": 0, "template": {"spec": spec}},
    }


def test_a_pod_deleted_as_soon_as_it_ends_leaves_its_whole_log(space: Space) -> None:
    space.apply(_short_lived("brief", f"{GATE}; seq 1 5000; sleep 2"))
    play = space.start_task("workload_wait", kind="Job", name="brief", timeout=600)
    play.shows("1 running")
    space.open_gate()
    play.end()

    assert archive(space, "brief") == "".join(f"{number}\n" for number in range(1, 5001)).encode()
    until(lambda: space.names("pods") == [], "the pod is gone")


def test_every_rank_is_shown_with_its_name_and_a_deleted_pod_is_archived(space: Space) -> None:
    both = {**_short_lived("ranks", "trap 'exit 3' TERM; echo rank $JOB_COMPLETION_INDEX; sleep 3600 & wait")}
    both["spec"] |= {"completions": 2, "parallelism": 2, "completionMode": "Indexed"}
    both["spec"].pop("ttlSecondsAfterFinished")
    space.apply(both)
    play = space.start_task("workload_wait", kind="Job", name="ranks", timeout=600, logs="all")
    play.shows("| rank 0\n")
    play.shows("| rank 1\n")
    space.kubectl("delete", "pods", "-l", "job-name=ranks", "--wait=false")
    play.end(2)
    # It did not wait for its time to be over.
    assert space.record("ranks")["outcome"] == "failed"
    logs = [file.read_text(encoding="utf-8") for file in (space.evidence("ranks") / "logs").iterdir()]
    assert {"rank 0\n", "rank 1\n"} <= set(logs)
