# Copyright (c) 2026 mlops.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A worker that is killed takes its ansible-playbook along, which would otherwise wait for it for ever.

The kernel that runs out of memory kills one process, mostly the worker. Strategy `linear` notices; `host_pinned`, with
which clusters do not wait for each other, does not (ansible-core 2.21, `StrategyBase._wait_on_pending_results` alone
asks `has_dead_workers`).
"""

from __future__ import annotations

import contextlib
import multiprocessing
import subprocess
import typing as t
from collections.abc import Iterator

# Seconds in which ansible-playbook may notice by itself and end in its own way, as it does after Ctrl-C.
GRACE = 10
# Standard input ends without a line when the worker is gone.
_WATCH = 'read -r line || { sleep "$1"; kill -TERM "$0"; }'


@contextlib.contextmanager
def end_play_if_worker_dies(grace: float = GRACE) -> Iterator[None]:
    """End ansible-playbook by SIGTERM when this worker dies before the end of the block."""
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
