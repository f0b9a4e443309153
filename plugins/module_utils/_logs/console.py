# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Log lines on their way to the terminal: capped, so that a job that floods its log is never slowed by the screen."""

from __future__ import annotations

import threading
import typing as t
from collections import Counter, deque
from collections.abc import Callable, Iterator

from ansible_collections.mlops.eks.plugins.module_utils._core.bounds import NOTES
from ansible_collections.mlops.eks.plugins.module_utils._core.text import clipped

# Whose lines are printed; everyone's are kept.
Shown = t.Literal["leader", "all", "none"]
# Lines held for the next look of the printer (every tenth of a second); what comes beyond is counted, not shown.
HELD = 200
# Of which a rank has this many even when all others flood.
_FAIR = 4
_WIDTH = 2000


class Console:
    """A bounded hand-over of lines from the log threads to the thread that prints.

    `wake` is called once when there is something to print, and again only after `drain`.
    """

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._lock = threading.Lock()
        self._lines: deque[tuple[str, bytes]] = deque()
        self._notes: dict[str, bool] = {}
        self._taken: Counter[str] = Counter()
        # Who had something to say before the last look.
        self._before: frozenset[str] = frozenset()
        self._dropped = 0
        self._awake = False

    def offer(self, source: str, block: bytes) -> None:
        """Take as many lines of `block` as there is room for and count the rest."""
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
        """Take a line of ours; it is shown once, however often it is told."""
        with self._lock:
            if line in self._notes or len(self._notes) > NOTES:
                return
            if len(self._notes) == NOTES:
                line = f"there is more to be said of the logs than {NOTES} lines"
            self._notes[line] = False
            wake, self._awake = not self._awake, True
        if wake:
            self._wake()

    @property
    def notes(self) -> tuple[str, ...]:
        """All lines of ours so far."""
        with self._lock:
            return tuple(self._notes)

    def drain(self) -> Iterator[str]:
        """Yield what is held, how many lines were not shown, and our own lines."""
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
        """Return how many lines `source` may still add: all that fit while it is alone, else its share."""
        sources = len(self._before | self._taken.keys() | {source})
        share = max(_FAIR, HELD // sources) - self._taken[source]
        return max(0, min(HELD - len(self._lines), share))
