# Copyright (c) 2026 mlops.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""End ansible-playbook when one of its workers is killed. Works around a bug of ansible-core.

Bug: with strategy `free` or `host_pinned`, ansible-playbook waits for ever for a worker that was killed, for example by
the kernel when memory runs out. Only `StrategyBase._wait_on_pending_results` calls `TaskQueueManager.has_dead_workers`.
The main loop of `free.StrategyModule.run`, which `host_pinned` inherits, does not call it while a host is blocked, and
the host of a dead worker stays blocked. Strategy `linear` calls it after each task.

Versions: 2.19.0 and 2.21.5 have the bug, by their source. There is no version check, as no fixed version is known.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import subprocess
import typing as t
from collections.abc import Iterator

# Seconds that ansible-playbook has to end by itself, as it does after Ctrl-C.
GRACE = 10
# Standard input reaches its end without a line when the worker is dead.
_WATCH = 'read -r line || { sleep "$1"; kill -TERM "$0"; }'


@contextlib.contextmanager
def end_play_if_worker_dies(grace: float = GRACE) -> Iterator[None]:
    """Send SIGTERM to ansible-playbook if this worker dies inside the block."""
    parent = multiprocessing.parent_process()
    if parent is None:
        yield
        return
    command = ["/bin/sh", "-c", _WATCH, str(parent.pid), f"{grace:g}"]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as guard:
        try:
            yield
        finally:
            with contextlib.suppress(BrokenPipeError):
                t.cast(t.IO[bytes], guard.stdin).write(b"\n")
                t.cast(t.IO[bytes], guard.stdin).flush()
