# Copyright (c) 2026 mlops.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A printer whose lines are finished before a signal ends the worker.

Ansible ends a worker where it stands. One that is handing a line to ansible-playbook at that moment takes the lock of
their queue to its grave, and ansible-playbook waits for that lock for ever instead of ending: Ctrl-C seems to do
nothing. Seen by tests/faults; the lock is the one of `multiprocessing.SimpleQueue.put`.
"""

from __future__ import annotations

import signal
import threading
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Say = Callable[[str], None]
Handler = Callable[[int, types.FrameType | None], object]
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class _Printer:
    """Prints by `show`; `on_signal` waits for the line that is being printed."""

    def __init__(self, show: Say) -> None:
        self._show = show
        self._lock = threading.RLock()
        self._speaker = 0
        self._later: list[Callable[[], object]] = []

    def say(self, line: str) -> None:
        """Print one line."""
        try:
            with self._lock:
                self._speaker = threading.get_ident()
                try:
                    self._show(line)
                finally:
                    self._speaker = 0
        finally:
            # Handlers run in the main thread: only a line of its own can have kept one waiting.
            while self._later and threading.current_thread() is threading.main_thread():
                self._later.pop(0)()

    def on_signal(self, handler: Handler) -> Handler:
        """Return `handler`, to be called between two lines."""

        def wait(number: int, frame: types.FrameType | None) -> None:
            if self._speaker == threading.get_ident():
                self._later.append(lambda: handler(number, frame))
                return
            with self._lock:
                handler(number, frame)

        return wait


@contextmanager
def whole_lines(show: Say) -> Iterator[Say]:
    """Yield a printer by `show`; until the end of the block the process's handlers wait for its lines."""
    printer, before = _Printer(show), {number: signal.getsignal(number) for number in _SIGNALS}
    for number, handler in before.items():
        if callable(handler):
            signal.signal(number, printer.on_signal(handler))
    try:
        yield printer.say
    finally:
        for number, handler in before.items():
            if callable(handler):
                signal.signal(number, handler)
