# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Wait for something that must be polled, and print what it is."""

from __future__ import annotations

from collections.abc import Callable

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import Clock, human
from ansible_collections.mlops.eks.plugins.module_utils._core.limits import unlimited

# Seconds after which the line is printed again.
_HEARTBEAT = 60.0


class Waiting:
    """A wait of at most `timeout` seconds, 0 for no limit; its pauses grow from 1 s to `slowest` s."""

    def __init__(self, say: Callable[[str], None], clock: Clock, timeout: float, *, slowest: float = 15.0) -> None:
        self._say, self._clock, self._slowest = say, clock, slowest
        self.timeout = unlimited(timeout)
        self._begun = self._printed_at = clock.now()
        self._printed, self._pause = "", 1.0

    @property
    def over(self) -> bool:
        """Whether the time is up."""
        return self._clock.now() - self._begun >= self.timeout

    def pause(self, what: str) -> None:
        """Sleep until the next poll. Print `what` when it has changed, and every 60 seconds."""
        now = self._clock.now()
        if what != self._printed or now - self._printed_at >= _HEARTBEAT:
            self._say(f"{what} ({human(now - self._begun)})")
            self._printed, self._printed_at = what, now
        left = max(0.0, self._begun + self.timeout - now)
        self._clock.sleep(min(self._pause, left))
        self._pause = min(self._pause * 1.5, self._slowest)
