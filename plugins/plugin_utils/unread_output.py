# Copyright (c) 2026 mlops.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Find out whether the standard output of a process still has a reader. Works around a bug of ansible-core.

Bug: when the reader of its output exits (`| head`, a log collector that dies), ansible-playbook waits for its workers
for ever. `results_thread_main` prints the lines of the workers and collects their results; it treats the `OSError` of a
print as the end of its queue and returns, so no result arrives any more.

Versions: 2.19.0 and 2.21.5 have the bug, by their source. There is no version check, as no fixed version is known.
"""

from __future__ import annotations

import errno
import os
import select
from pathlib import Path


def is_unread(process: int) -> bool:
    """Return whether the standard output of a process is a pipe without a reader; False if /proc does not show it."""
    output = Path(f"/proc/{process}/fd/1")
    try:
        # A socket cannot be opened, so it counts as read.
        return output.is_fifo() and _has_no_reader(output)
    except OSError as error:
        # A named pipe without a reader cannot be opened; an unnamed one can.
        return error.errno == errno.ENXIO


def _has_no_reader(pipe: Path) -> bool:
    writer = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    try:
        poll = select.poll()
        poll.register(writer, 0)
        return any(event & select.POLLERR for _, event in poll.poll(0))
    finally:
        os.close(writer)
