# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The retry policy of a step: whether it is tried again after an attempt, and after which delay."""

from __future__ import annotations

import typing as t
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from ansible_collections.mlops.eks.plugins.module_utils._core import step_record
from ansible_collections.mlops.eks.plugins.module_utils._core.clock import from_iso
from ansible_collections.mlops.eks.plugins.module_utils._core.limits import STEP_LIMITS
from ansible_collections.mlops.eks.plugins.module_utils._follow.state import Ending

# Seconds that a back-off grows to.
LONGEST = 600.0
# More doublings would only overflow: every back-off has reached `LONGEST` by then.
_MOST_DOUBLINGS = 30
# Categories of causes that can end an attempt before one of its pods has a node.
_BEFORE_NODE = ("scheduling", "quota", "admission", "validation", "timeout", "interrupted", "workload", "")


@dataclass(frozen=True, kw_only=True)
class Retry:
    """How often a step is tried again, after which categories of causes, and the first delay in seconds."""

    retries: int = int(STEP_LIMITS["retries"].default)
    on: tuple[str, ...] = ("evicted", "node_lost", "preempted")
    backoff: float = STEP_LIMITS["retry_backoff"].default


PastAttempt = Mapping[str, t.Any]
"""An attempt that has ended, as in ledger and record: the fields of `step_record.PastAttempt`."""


def past_attempt(ending: Ending, *, attempt: int, run_id: str, started: str, finished: str) -> PastAttempt:
    """Return the record of an attempt that has ended."""
    past = step_record.PastAttempt(
        attempt=attempt, run_id=run_id, started=started, finished=finished, outcome=ending.outcome
    )
    if (cause := ending.cause) is not None:
        past = replace(past, reason=cause.reason, category=cause.category, object=cause.object, message=cause.message)
    return asdict(past)


def total_seconds(earlier: Sequence[PastAttempt]) -> float:
    """Return the sum of the attempts' durations. The time between them does not count: no controller may have run."""
    return sum(from_iso(one["finished"]) - from_iso(one["started"]) for one in earlier)


def had_node(earlier: Sequence[PastAttempt]) -> bool:
    """Return whether pods of an attempt were scheduled: then the cluster has, or had, nodes that fit."""
    return any(one.get("category", "") not in _BEFORE_NODE for one in earlier)


def retry_delay(policy: Retry, ending: Ending, *, attempt: int, left: float) -> float | None:
    """Return the seconds to wait before the next attempt, or `None` when the step is not tried again.

    `left` are the seconds that remain of the step's timeout, which covers all attempts.
    """
    cause = ending.cause
    if cause is None or cause.reason == "Timeout" or ending.outcome not in ("failed", "timed_out"):
        return None
    wanted = "any" in policy.on or cause.category in policy.on
    delay = min(policy.backoff * 2 ** min(attempt - 1, _MOST_DOUBLINGS), LONGEST)
    return delay if wanted and attempt <= policy.retries and delay < left else None
