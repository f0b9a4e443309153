# Copyright (c) 2026 mlops.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Print whole lines: a signal ends the worker only between two of them. Works around a bug of ansible-core.

Bug: after Ctrl-C or SIGTERM, ansible-playbook hangs if a worker was just handing it a line. `WorkerProcess._term` kills
the worker at once, even inside `SimpleQueue.put`, which holds a lock that all processes share. A dead process never
releases it, and `StrategyBase.cleanup` waits for it in `_final_q.put(_sentinel)`. tests/faults reproduces it.

Versions: 2.21.5 has the bug, by its source. A worker of 2.19.0 installs no handlers; those it inherits are deferred as
well, but a signal with the default action kills it at once. There is no version check, as no fixed version is known.
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
    """Prints by `show`, and defers signal handlers until the current line is printed."""

    def __init__(self, show: Say) -> None:
        self._show = show
        self._lock = threading.RLock()
        self._printing_thread = 0
        self._deferred: list[Callable[[], object]] = []

    def say(self, line: str) -> None:
        """Print one line."""
        try:
            with self._lock:
                self._printing_thread = threading.get_ident()
                try:
                    self._show(line)
                finally:
                    self._printing_thread = 0
        finally:
            # Handlers run in the main thread, so only a line of the main thread can defer one.
            while self._deferred and threading.current_thread() is threading.main_thread():
                self._deferred.pop(0)()

    def deferred(self, handler: Handler) -> Handler:
        """Return a handler that calls `handler` between two lines."""

        def wait(number: int, frame: types.FrameType | None) -> None:
            if self._printing_thread == threading.get_ident():
                self._deferred.append(lambda: handler(number, frame))
                return
            with self._lock:
                handler(number, frame)

        return wait


@contextmanager
def whole_lines(show: Say) -> Iterator[Say]:
    """Yield a printer of lines; inside the block, handlers of SIGINT and SIGTERM run between two lines."""
    printer, before = _Printer(show), {number: signal.getsignal(number) for number in _SIGNALS}
    for number, handler in before.items():
        if callable(handler):
            signal.signal(number, printer.deferred(handler))
    try:
        yield printer.say
    finally:
        for number, handler in before.items():
            if callable(handler):
                signal.signal(number, handler)
