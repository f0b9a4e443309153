# Copyright (c) 2026 mlops.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether anybody still reads what a process prints.

When the reader of its output goes (`| head`, a log collector that dies), the thread of ansible-playbook that takes
results and lines from the workers ends with it, and ansible-playbook waits for them for ever (ansible-core 2.21,
`results_thread_main`).
"""

from __future__ import annotations

import errno
import os
import select
from pathlib import Path


def is_unread(process: int) -> bool:
    """Return whether the standard output of a process is a pipe without a reader; no, where /proc does not tell."""
    output = Path(f"/proc/{process}/fd/1")
    try:
        # Sockets cannot be opened; what becomes of them is not known.
        return output.is_fifo() and _has_no_reader(output)
    except OSError as error:
        # What opening a named pipe says that has no reader; a pipe of a shell opens.
        return error.errno == errno.ENXIO


def _has_no_reader(pipe: Path) -> bool:
    writer = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    try:
        poll = select.poll()
        poll.register(writer, 0)
        return any(event & select.POLLERR for _, event in poll.poll(0))
    finally:
        os.close(writer)
