# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Wait for something that has to be asked for, and say what it is."""

from __future__ import annotations

from collections.abc import Callable

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import Clock, human
from ansible_collections.mlops.eks.plugins.module_utils._core.limits import unlimited

# Seconds after which it is said again what is waited for.
_HEARTBEAT = 60.0


class Waiting:
    """A wait of at most `timeout` seconds, 0 for no limit; its pauses grow from 1 s to `slowest` s."""

    def __init__(self, say: Callable[[str], None], clock: Clock, timeout: float, *, slowest: float = 15.0) -> None:
        self._say, self._clock, self._slowest = say, clock, slowest
        self.timeout = unlimited(timeout)
        self._begun = self._told = clock.now()
        self._said, self._pause = "", 1.0

    @property
    def over(self) -> bool:
        """Whether the time is up."""
        return self._clock.now() - self._begun >= self.timeout

    def pause(self, what: str) -> None:
        """Pause until it is time to look again; say `what` is waited for when that is news, or as a sign of life."""
        now = self._clock.now()
        if what != self._said or now - self._told >= _HEARTBEAT:
            self._say(f"{what} ({human(now - self._begun)})")
            self._said, self._told = what, now
        left = max(0.0, self._begun + self.timeout - now)
        self._clock.sleep(min(self._pause, left))
        self._pause = min(self._pause * 1.5, self._slowest)
