# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import typing as t
from pathlib import Path

import pytest

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import (
    CommandError,
    ConflictError,
    MissingToolError,
)
from ansible_collections.mlops.eks.plugins.module_utils._core.locking import locked
from ansible_collections.mlops.eks.plugins.module_utils._local import cgroups, commands, processes, sweep, waiting
from ansible_collections.mlops.eks.plugins.module_utils._local.layout import Layout


def test_start_time_tells_a_process_from_its_zombie() -> None:
    assert processes.start_time(os.getpid()) is not None
    with subprocess.Popen(["sleep", "60"]) as child:
        assert processes.start_time(child.pid) is not None
        child.send_signal(signal.SIGKILL)
        assert processes.until(lambda: processes.start_time(child.pid) is None, 10)
    assert processes.start_time(child.pid) is None


def test_a_process_goes_on_as_long_as_one_of_its_threads() -> None:
    """Its first thread is a zombie then; a killed API server is that for a moment, and holds its port."""
    leave = "ctypes.CDLL(None).syscall({'x86_64': 60, 'aarch64': 93}[os.uname().machine], 0)"
    script = f"import ctypes, os, threading, time; threading.Thread(target=time.sleep, args=(600,)).start(); {leave}"
    with subprocess.Popen([sys.executable, "-c", script]) as child:
        stat = Path(f"/proc/{child.pid}/stat")
        assert processes.until(lambda: ") Z " in stat.read_text(encoding="utf-8"), 30)
        assert processes.start_time(child.pid) is not None
        processes.end([child.pid], grace_period=0)
        assert processes.start_time(child.pid) is None


def test_end_kills_what_does_not_listen() -> None:
    script = "trap '' TERM; echo ready; while :; do sleep 1; done"
    with subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE, start_new_session=True) as child:
        assert child.stdout is not None
        child.stdout.readline()
        processes.end([child.pid], grace_period=0.1)
        assert child.wait(10) == -signal.SIGKILL


def test_broken_record_counts_as_none(tmp_path: Path) -> None:
    layout = Layout(name="x", state_dir=tmp_path)
    assert processes.recorded(layout, "etcd") is None
    (layout.root / "run").mkdir(parents=True)
    for text in ("", "{", '{"pid": 1}', "[]"):
        (layout.root / "run" / "etcd.json").write_text(text, encoding="utf-8")
        assert processes.recorded(layout, "etcd") is None


def test_leftovers_of_nothing_are_nothing(tmp_path: Path) -> None:
    assert not any(sweep.leftovers(Layout(name="never-there", state_dir=tmp_path)).values())


def test_a_task_that_ends_while_it_is_looked_at_has_no_socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    layout, read = Layout(name="x", state_dir=tmp_path), Path.read_text
    for name in ("ends", "stays"):
        task = layout.root / "containerd/state/io.containerd.runtime.v2.task/k8s.io" / name
        task.mkdir(parents=True)
        (task / "address").write_text(f"unix://{tmp_path}/{name}.sock", encoding="utf-8")

    def late(path: Path, **how: t.Any) -> str:
        if path.parent.name == "ends":
            path.unlink()
        return read(path, **how)

    monkeypatch.setattr(sweep, "SHIM_SOCKETS", tmp_path)
    monkeypatch.setattr(Path, "read_text", late)
    (tmp_path / "stays.sock").touch()
    sweep.remove_dead_sockets(layout)
    assert not (tmp_path / "stays.sock").exists()


def test_waiting_ends_when_a_component_does(tmp_path: Path) -> None:
    layout = Layout(name="x", state_dir=tmp_path)
    for directory in ("run", "logs"):
        (layout.root / directory).mkdir(parents=True)
    (layout.root / "run" / "etcd.json").write_text('{"pid": 1, "started": -1, "identity": ""}', encoding="utf-8")
    layout.log("etcd").write_text("first\nno space left\n", encoding="utf-8")
    with pytest.raises(CommandError, match="etcd ended while waiting until it works: no space left") as caught:
        waiting.wait(layout, ["etcd"], "it works", lambda: False, note=print)
    assert caught.value.details["log_tail"] == ["first", "no space left"]


def test_stream_shows_lines_and_beats_and_keeps_the_tail(tmp_path: Path) -> None:
    lines: list[str] = []
    beat = tmp_path / "beat"
    # It is silent until there was a sign of life in its place.
    argv = ["sh", "-c", f"echo one; until [ -e {beat} ]; do sleep 0.01; done; echo two >&2; exit 3"]
    with pytest.raises(CommandError, match="failed with code 3: two") as caught:
        commands.stream(argv, on_line=lines.append, on_silence=lambda _: beat.touch(), heartbeat=0.1)
    assert lines == ["one", "two"]
    assert caught.value.details["stderr"] == "one\ntwo"


def test_missing_program_is_named() -> None:
    with pytest.raises(MissingToolError, match="Cannot run 'no-such-program': it is not installed"):
        commands.run(["no-such-program"])


def test_lock_is_waited_for_and_the_waiter_says_so(tmp_path: Path) -> None:
    said: list[str] = []
    path = tmp_path / "lock"
    entered, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with locked(path, "first", said.append):
            entered.set()
            leave.wait(10)
            path.unlink()

    holder = threading.Thread(target=hold)
    holder.start()
    assert entered.wait(10)
    with (
        pytest.raises(ConflictError, match=rf"second: process {os.getpid()} still holds"),
        locked(path, "second", said.append, timeout=0),
    ):
        pass
    leave.set()
    with locked(path, "third", said.append):
        # The holder removed the file: this lock is on the one everybody else finds.
        assert path.exists()
    holder.join()
    assert not [line for line in said if line.startswith("first")]


def test_cgroup_v1_cpusets_are_filled(tmp_path: Path) -> None:
    for hierarchy in ("cpuset", "memory"):
        (tmp_path / hierarchy).mkdir()
    (tmp_path / "cpuset" / "cpuset.cpus").write_text("0-1\n", encoding="ascii")
    (tmp_path / "cpuset" / "cpuset.mems").write_text("0\n", encoding="ascii")
    group = tmp_path / "cpuset" / "x"
    group.mkdir()
    for file in ("cpuset.cpus", "cpuset.mems"):
        (group / file).write_text("\n", encoding="ascii")
    assert not cgroups.exists("x", tmp_path)
    cgroups.create("x", tmp_path)
    assert cgroups.exists("x", tmp_path)
    assert (group / "cpuset.cpus").read_text(encoding="ascii") == "0-1\n"


def test_pods_weigh_as_much_as_the_processors_they_are_promised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cgroups.os, "cpu_count", lambda: 4)
    (tmp_path / "cpu" / "x").mkdir(parents=True)
    (tmp_path / "cpu" / "x" / "cpu.shares").write_text("1024\n", encoding="ascii")
    cgroups.create("x", tmp_path)
    assert (tmp_path / "cpu" / "x" / "cpu.shares").read_text(encoding="ascii") == "4096"


def test_cgroup_v2_controllers_are_delegated(tmp_path: Path) -> None:
    for directory in (tmp_path, tmp_path / "x"):
        directory.mkdir(exist_ok=True)
        (directory / "cgroup.controllers").write_text("cpu rdma\n", encoding="ascii")
        (directory / "cgroup.subtree_control").write_text("", encoding="ascii")
    cgroups.create("x", tmp_path)
    assert cgroups.hierarchies(tmp_path) == [tmp_path]
    for directory in (tmp_path, tmp_path / "x"):
        assert (directory / "cgroup.subtree_control").read_text(encoding="ascii") == "+cpu"
