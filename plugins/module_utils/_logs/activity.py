# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Log activity: the newest lines of the containers; they show the reducer that a step writes, and its progress."""

from __future__ import annotations

import threading
import typing as t
from collections import deque

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import from_iso

# Lines of the leader that a tick searches for progress, and the characters of each.
_MAX_LINES = 1000
_WIDTH = 2000
# Lines of other containers, to find the last one that is not empty.
_LAST_LINES = 20
Stamped = tuple[bytes, bytes]


class Output(t.NamedTuple):
    """What containers wrote to their logs since the last tick; the last one was `line` of `pod`.

    `lines` are the leader's newest lines with their time stamps; empty when the step has no progress pattern.
    """

    pod: str
    line: str
    lines: tuple[tuple[float, str], ...] = ()


class Activity:
    """A bounded queue of the newest lines, from the log threads to the thread of the reducer."""

    def __init__(self, *, progress: bool) -> None:
        self._lock = threading.Lock()
        self._lines: deque[Stamped] = deque(maxlen=_MAX_LINES if progress else 0)
        self._last: tuple[str, bytes] | None = None

    def wanted(self, *, leads: bool) -> int:
        """Return how many of the newest lines to offer."""
        return (self._lines.maxlen if leads else 0) or _LAST_LINES

    def offer(self, pod: str, lines: list[Stamped], *, leads: bool) -> None:
        """Take the newest of `lines`, each with its time stamp."""
        with self._lock:
            # The last lines of a program are often empty.
            self._last = (pod, next((text for _, text in reversed(lines[-_MAX_LINES:]) if text.strip()), lines[-1][1]))
            if leads and self._lines.maxlen:
                self._lines.extend((stamp, text[-_WIDTH:]) for stamp, text in lines[-_MAX_LINES:])

    def take(self, at: float) -> Output | None:
        """Return the output since the last call, or `None`."""
        with self._lock:
            last, lines = self._last, list(self._lines)
            self._last = None
            self._lines.clear()
        if last is None:
            return None
        pod, line = last
        found = tuple((_time(stamp, at), text.decode(errors="replace")) for stamp, text in lines)
        return Output(pod=pod, line=line[:_WIDTH].decode(errors="replace"), lines=found)


def _time(stamp: bytes, at: float) -> float:
    """Return when a line was written; without a stamp, `at`."""
    try:
        return from_iso(stamp.decode())
    except ValueError:
        return at
