# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""The ways in which a controller comes to its end before its time."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable
from pathlib import Path


def _parents() -> dict[int, int]:
    """Return the parent of every process."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                found[int(entry.name)] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
    return found


def family(pid: int) -> set[int]:
    """Return a process and all its descendants."""
    parents, found = _parents(), {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def _send(number: signal.Signals) -> Callable[[int], None]:
    return lambda pid: os.kill(pid, number)


def _kill_all(pid: int) -> None:
    """Kill a process and its descendants, as the end of a container or of a machine does: Helm too."""
    os.kill(pid, signal.SIGSTOP)
    for one in sorted(family(pid), reverse=True):
        with contextlib.suppress(ProcessLookupError):
            os.kill(one, signal.SIGKILL)


# By name: what is meant, and how it is done to the process id of ansible-playbook, which leads its process group.
WAYS: dict[str, tuple[str, Callable[[int], None]]] = {
    "sigkill": ("SIGKILL to all its processes, Helm too", _kill_all),
    "sigkill-main": ("SIGKILL to ansible-playbook alone", _send(signal.SIGKILL)),
    "sigterm": ("SIGTERM", _send(signal.SIGTERM)),
    "sigint": ("Ctrl-C", lambda pid: os.killpg(pid, signal.SIGINT)),
}
# Where nothing survives, the request at the gate has not left the machine.
NOTHING_SURVIVES = ("sigkill",)
