# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Who a controller is, and whether it still runs: a process that no later one can be taken for."""

from __future__ import annotations

import os
import pwd
import socket
from pathlib import Path

# States of a process in /proc that has ended and waits for its parent to notice.
_ENDED = ("Z", "X")


def this_controller() -> str:
    """Return who we are: `host/boot/pid/start`, which no later process can repeat."""
    pid = os.getpid()
    return f"{socket.gethostname()}/{_boot()}/{pid}/{_started(pid)}"


def this_user() -> str:
    """Return who runs this process: the user who became another by sudo, else the process's own."""
    try:
        own = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        # Containers of OpenShift have users without a name.
        own = str(os.getuid())
    return os.environ.get("SUDO_USER") or own


def shown(holder: str) -> str:
    """Return a holder as people read it."""
    host, _, rest = holder.partition("/")
    parts = rest.split("/")
    return f"{host} (process {parts[1]})" if len(parts) == 3 else holder


def _boot() -> str:
    """Return what makes process numbers comparable: the boot, and the process namespace of a container."""
    path, namespace = Path("/proc/sys/kernel/random/boot_id"), Path("/proc/self/ns/pid")
    if not path.exists() or not namespace.is_symlink():
        return "0"
    return f"{path.read_text(encoding='ascii').strip()[:8]}-{namespace.readlink().name.strip('pid:[]')}"


def _started(pid: int) -> str:
    """Return when process `pid` started, in the kernel's ticks, or `0` when it does not run."""
    try:
        state, *fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
        return "0" if state in _ENDED else fields[18]
    except (OSError, IndexError, ValueError):
        return "0"


def is_dead(holder: str) -> bool:
    """Return whether the holder was a process of this very machine that no longer runs."""
    parts = holder.split("/")
    if len(parts) != 4 or parts[:2] != [socket.gethostname(), _boot()] or not parts[2].isdigit():
        return False
    return Path("/proc").is_dir() and _started(int(parts[2])) != parts[3]
