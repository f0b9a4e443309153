# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Log lines on their way to the terminal: capped, so that a job that floods its log is never slowed by the screen."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator

# Lines held for the next look of the printer (every tenth of a second); what comes beyond is counted, not shown.
HELD = 200
_WIDTH = 2000


class Screen:
    """A bounded hand-over of lines from the log threads to the thread that prints.

    `wake` is called once when there is something to print, and again only after `drain`.
    """

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._lock = threading.Lock()
        self._lines: deque[str] = deque()
        self._dropped = 0
        self._awake = False

    def offer(self, prefix: str, lines: list[bytes]) -> None:
        """Take as many `lines` as there is room for and count the rest."""
        with self._lock:
            room = HELD - len(self._lines)
            self._lines.extend(_shown(prefix, line) for line in lines[:room])
            self._dropped += max(0, len(lines) - room)
            wake, self._awake = not self._awake, True
        if wake:
            self._wake()

    def drain(self) -> Iterator[str]:
        """Yield what is held, and how many lines were not shown."""
        with self._lock:
            lines, dropped = list(self._lines), self._dropped
            self._lines.clear()
            self._dropped, self._awake = 0, False
        yield from lines
        if dropped:
            yield f"... {dropped} more lines at this moment; all of them are in the evidence"


def _shown(prefix: str, line: bytes) -> str:
    text = line[:_WIDTH].decode(errors="replace").rstrip("\r")
    # Progress bars rewrite their line: the last state is the one to show.
    text = text.rsplit("\r", 1)[-1]
    return f"{prefix} | {''.join(char if char.isprintable() or char == chr(9) else ' ' for char in text)}"
