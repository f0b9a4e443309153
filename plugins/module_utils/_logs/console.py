# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The console: log lines for the terminal, limited so that printing never slows the reading of logs."""

from __future__ import annotations

import threading
import typing as t
from collections import Counter, deque
from collections.abc import Callable, Iterator

from ansible_collections.mlops.eks.plugins.module_utils._core.bounds import NOTES
from ansible_collections.mlops.eks.plugins.module_utils._core.text import clipped

# Whose lines are printed; all lines are archived.
Shown = t.Literal["leader", "all", "none"]
# Lines held until the next print (every 0.1 s); further lines are counted, not printed.
HELD = 200
# The least number of these lines for each rank.
_MIN_SHARE = 4
_WIDTH = 2000


class Console:
    """A bounded queue of lines, from the log threads to the thread that prints.

    `wake` is called once when there are lines, and again only after `drain`.
    """

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._lock = threading.Lock()
        self._lines: deque[tuple[str, bytes]] = deque()
        self._notes: dict[str, bool] = {}
        self._taken: Counter[str] = Counter()
        # The sources of the lines before the last `drain`.
        self._before: frozenset[str] = frozenset()
        self._dropped = 0
        self._awake = False

    def offer(self, source: str, block: bytes) -> None:
        """Take as many lines of `block` as fit, and count the rest."""
        if not block:
            return
        count = block.count(b"\n") + (not block.endswith(b"\n"))
        with self._lock:
            room = min(self._room(source), count)
            self._lines.extend((source, line) for line in block.split(b"\n", room)[:room])
            self._taken[source] += room
            self._dropped += count - room
            wake, self._awake = not self._awake, True
        if wake:
            self._wake()

    def note(self, line: str) -> None:
        """Take a line of the engine; it is printed only once."""
        with self._lock:
            if line in self._notes or len(self._notes) > NOTES:
                return
            if len(self._notes) == NOTES:
                line = f"there are more than {NOTES} lines about the logs; no more are printed"
            self._notes[line] = False
            wake, self._awake = not self._awake, True
        if wake:
            self._wake()

    @property
    def notes(self) -> tuple[str, ...]:
        """All lines of the engine so far."""
        with self._lock:
            return tuple(self._notes)

    def drain(self) -> Iterator[str]:
        """Yield the held lines, how many lines were dropped, and the lines of the engine."""
        with self._lock:
            lines, dropped = list(self._lines), self._dropped
            notes = [line for line, shown in self._notes.items() if not shown]
            self._notes.update(dict.fromkeys(notes, True))
            self._lines.clear()
            self._before = frozenset(self._taken)
            self._taken.clear()
            self._dropped, self._awake = 0, False
        for source, line in lines:
            yield f"{source} | {clipped(line, _WIDTH)}"
        if dropped:
            yield f"... {dropped} more lines at this moment; all of them are in the evidence"
        yield from notes

    def _room(self, source: str) -> int:
        """Return how many lines `source` may still add: all that fit while it is the only source, else its share."""
        sources = len(self._before | self._taken.keys() | {source})
        share = max(_MIN_SHARE, HELD // sources) - self._taken[source]
        return max(0, min(HELD - len(self._lines), share))
