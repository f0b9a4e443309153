# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""What the containers write, for whoever only needs to know that they do, and how far they are: looked at by ticks."""

from __future__ import annotations

import threading
import typing as t
from collections import deque

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import from_iso

# Lines of the leader that are searched for progress at a tick, and as much of each as a pattern may look at.
_KEPT = 1000
_WIDTH = 2000
# Of which others the last that is not empty is wanted.
_LAST = 20
Stamped = tuple[bytes, bytes]


class Written(t.NamedTuple):
    """What containers wrote since the last look: last of all `pod`'s `line`.

    `lines` are the newest of the leader's, each with the moment its node noted; empty where nobody looks for progress.
    """

    pod: str
    line: str
    lines: tuple[tuple[float, str], ...] = ()


class Activity:
    """A bounded hand-over of the newest lines from the log threads to the thread that reduces."""

    def __init__(self, *, progress: bool) -> None:
        self._lock = threading.Lock()
        self._lines: deque[Stamped] = deque(maxlen=_KEPT if progress else 0)
        self._last: tuple[str, bytes] | None = None

    def wanted(self, *, leads: bool) -> int:
        """Return how many of the newest lines are worth offering."""
        return (self._lines.maxlen if leads else 0) or _LAST

    def offer(self, pod: str, lines: list[Stamped], *, leads: bool) -> None:
        """Take the newest of `lines`, each with the stamp of its node."""
        with self._lock:
            # The words before the end of a program are often empty lines.
            self._last = (pod, next((text for _, text in reversed(lines[-_KEPT:]) if text.strip()), lines[-1][1]))
            if leads and self._lines.maxlen:
                self._lines.extend((stamp, text[-_WIDTH:]) for stamp, text in lines[-_KEPT:])

    def take(self, at: float) -> Written | None:
        """Return what was written since the last call, or `None`."""
        with self._lock:
            last, lines = self._last, list(self._lines)
            self._last = None
            self._lines.clear()
        if last is None:
            return None
        pod, line = last
        found = tuple((_moment(stamp, at), text.decode(errors="replace")) for stamp, text in lines)
        return Written(pod=pod, line=line[:_WIDTH].decode(errors="replace"), lines=found)


def _moment(stamp: bytes, at: float) -> float:
    """Return when a line was written; what carries no stamp was written now."""
    try:
        return from_iso(stamp.decode())
    except ValueError:
        return at
