# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Start programs that outlive the play, find them again, stop them.

A process is identified by its pid and its start time, because pids are re-used. It counts as running only inside the
current network namespace of its node.
"""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import CommandError
from ansible_collections.mlops.eks.plugins.module_utils._local.commands import SYSTEM_PATH
from ansible_collections.mlops.eks.plugins.module_utils._local.components import Component
from ansible_collections.mlops.eks.plugins.module_utils._local.layout import Layout

LOG_LIMIT = 8 * 1024 * 1024
# The shell writes its pid, raises the limit of open files and executes the program in the same process.
LAUNCH = 'echo $$ >"$0"; ulimit -n "$(ulimit -H -n)"; exec "$@"'


@dataclasses.dataclass(frozen=True, kw_only=True)
class Record:
    """The record of a started component."""

    pid: int
    started: int
    identity: str


def start(component: Component, layout: Layout) -> None:
    """Start `component` in its network namespace and its own session, with its output in its log."""
    pid_file = layout.root / "run" / f"{component.name}.pid"
    pid_file.unlink(missing_ok=True)
    log = layout.log(component.name)
    if log.exists() and log.stat().st_size > LOG_LIMIT:
        log.replace(log.with_suffix(".log.1"))
    enter = ["nsenter", f"--net={component.netns}", "--"]
    with log.open("ab") as output:
        subprocess.run(
            ["setsid", "--fork", "sh", "-c", LAUNCH, str(pid_file), *enter, *component.argv],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd="/",
            check=True,
            env={"PATH": SYSTEM_PATH, "HOME": "/root", "LANG": "C.UTF-8"},
        )
    pid = _read_pid(pid_file, component.name)
    record = Record(pid=pid, started=start_time(pid) or 0, identity=component.identity())
    _record_path(layout, component.name).write_text(json.dumps(dataclasses.asdict(record)), encoding="utf-8")


def state(component: Component, layout: Layout) -> str:
    """Return `running`, `outdated` (it runs with other arguments or files) or `stopped`."""
    record = recorded(layout, component.name)
    if record is None or not _is_alive(record, component):
        return "stopped"
    return "running" if record.identity == component.identity() else "outdated"


def stop(layout: Layout, name: str, *, grace_period: float = 10.0) -> None:
    """Stop a component by SIGTERM, after `grace_period` seconds by SIGKILL."""
    record = recorded(layout, name)
    if record is not None and start_time(record.pid) == record.started:
        end([record.pid], grace_period=grace_period)
    _record_path(layout, name).unlink(missing_ok=True)


def end(pids: Iterable[int], *, grace_period: float) -> None:
    """Send SIGTERM to `pids`, wait up to `grace_period` seconds (0: no SIGTERM), then send SIGKILL and wait."""
    known = {pid: start_time(pid) for pid in pids}
    for number, seconds in ((signal.SIGTERM, grace_period), (signal.SIGKILL, 10.0)):
        if seconds == 0:
            continue
        for pid in _still(known):
            send(pid, number)
        until(lambda: not _still(known), seconds)


def send(pid: int, number: signal.Signals) -> None:
    """Send a signal to a process, which may have ended."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def until(condition: Callable[[], bool], seconds: float, *, pause: float = 0.02) -> bool:
    """Return whether `condition` became true within `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(pause)
    return True


def start_time(pid: int) -> int | None:
    """Return the start time of `pid` in clock ticks after boot, or `None` if it has ended.

    A zombie has ended, unless other threads of it still run: they hold its ports and its locks.
    """
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The command's name, in parentheses, may contain blanks: count fields after the last parenthesis.
    fields = text.rpartition(")")[2].split()
    state, threads, started = fields[0], int(fields[17]), int(fields[19])
    return None if state in "ZX" and threads <= 1 else started


def netns_inode(pid: int | str) -> int | None:
    """Return the inode of a process's network namespace, or `None` if the process has ended."""
    try:
        return Path(f"/proc/{pid}/ns/net").stat().st_ino
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return None


def recorded(layout: Layout, name: str) -> Record | None:
    """Return the record of a component, or `None` if it is missing or incomplete."""
    try:
        return Record(**json.loads(_record_path(layout, name).read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def _is_alive(record: Record, component: Component) -> bool:
    if start_time(record.pid) != record.started:
        return False
    try:
        return netns_inode(record.pid) == component.netns.stat().st_ino
    except FileNotFoundError:
        return False


def _still(known: dict[int, int | None]) -> list[int]:
    return [pid for pid, started in known.items() if started is not None and start_time(pid) == started]


def _record_path(layout: Layout, name: str) -> Path:
    return layout.root / "run" / f"{name}.json"


def _read_pid(path: Path, name: str) -> int:
    def written() -> bool:
        return path.exists() and path.read_text(encoding="utf-8").endswith("\n")

    if not until(written, 60):
        raise CommandError(f"Cannot start {name}: no process within 60 s")
    return int(path.read_text(encoding="utf-8"))
