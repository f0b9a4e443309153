# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Whether a step that failed is tried again, and when."""

from __future__ import annotations

import typing as t
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import from_iso
from ansible_collections.mlops.eks.plugins.module_utils._core.limits import STEP_LIMITS
from ansible_collections.mlops.eks.plugins.module_utils._follow.state import Ending

# A back-off that is doubled for ever would outlast the trouble.
LONGEST = 600.0
# Doubled more often than this, any back-off is longer than that, and a thousand times overflows.
_DOUBLED = 30
# Causes that an attempt may have ended with before any of its pods had a node.
_UNPLACED = ("scheduling", "quota", "admission", "validation", "timeout", "interrupted", "workload", None)


@dataclass(frozen=True, kw_only=True)
class Retry:
    """How often a step is tried again, after which categories of causes, and after how many seconds at first."""

    retries: int = int(STEP_LIMITS["retries"].default)
    on: tuple[str, ...] = ("evicted", "node_lost", "preempted")
    backoff: float = STEP_LIMITS["retry_backoff"].default


Tried = Mapping[str, t.Any]
"""An attempt that is over, as ledger and record keep it: `attempt`, `run_id`, `started`, `finished`, `outcome`, and the
`reason`, `category`, `object` and `message` of its cause."""


def tried(ending: Ending, *, attempt: int, run_id: str, started: str, finished: str) -> Tried:
    """Return the record of an attempt that ended with a cause."""
    cause = ending.cause
    about = (
        {}
        if cause is None
        else {"reason": cause.reason, "category": cause.category, "object": cause.object, "message": cause.message}
    )
    return {
        "attempt": attempt,
        "run_id": run_id,
        "started": started,
        "finished": finished,
        "outcome": ending.outcome,
        **about,
    }


def seconds(earlier: Sequence[Tried]) -> float:
    """Return what earlier attempts took. The time between them does not count: no controller may have been there."""
    return sum(from_iso(one["finished"]) - from_iso(one["started"]) for one in earlier)


def placed(earlier: Sequence[Tried]) -> bool:
    """Return whether an attempt got as far as a node: what nodes like it needs, the cluster has or had."""
    return any(one.get("category") not in _UNPLACED for one in earlier)


def pause(policy: Retry, ending: Ending, *, attempt: int, left: float) -> float | None:
    """Return the seconds to wait before the next attempt, or `None` when there is none.

    `left` is what remains of the step's timeout; the timeout itself is the end of all attempts.
    """
    cause = ending.cause
    if cause is None or cause.reason == "Timeout" or ending.outcome not in ("failed", "timed_out"):
        return None
    wanted = "any" in policy.on or cause.category in policy.on
    wait = min(policy.backoff * 2 ** min(attempt - 1, _DOUBLED), LONGEST)
    return wait if wanted and attempt <= policy.retries and wait < left else None
