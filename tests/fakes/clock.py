"""A clock that a test sets."""

from __future__ import annotations

from collections.abc import Callable

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import Clock


class FakeClock(Clock):
    """Sleeping advances the clock and calls `meanwhile`, which simulates the environment."""

    def __init__(self, at: float = 1_800_000_000.0) -> None:
        self.at = at
        self.slept: list[float] = []
        self.meanwhile: Callable[[], None] = lambda: None

    def now(self) -> float:
        return self.at

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.at += seconds
        self.meanwhile()
