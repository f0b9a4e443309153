# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Time in seconds since the epoch that never runs backwards, and its formats."""

from __future__ import annotations

import time
from datetime import UTC, datetime


class Clock:
    """Wall-clock time that advances with the monotonic clock: a correction of the time does not affect a wait."""

    def __init__(self) -> None:
        self._offset = time.time() - time.monotonic()

    def now(self) -> float:
        """Return seconds since the epoch."""
        return time.monotonic() + self._offset

    def sleep(self, seconds: float) -> None:
        """Sleep for `seconds`."""
        time.sleep(seconds)


def iso(seconds: float) -> str:
    """Return `2026-11-21T09:15:02.123Z`."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def micro(seconds: float) -> str:
    """Return the Kubernetes MicroTime form, `2026-11-21T09:15:02.123456Z`."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def from_iso(text: str) -> float:
    """Return seconds since the epoch of an RFC 3339 time, with or without a fraction."""
    return datetime.fromisoformat(text).timestamp()


def human(seconds: float) -> str:
    """Return a duration as `8 s`, `2 min 5 s` or `3 h 4 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"
