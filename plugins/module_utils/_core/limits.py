# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Limits that a user may set: default and allowed values; 0 means no limit.

Modules, `pipeline.yaml` and the engine use this table.
"""

from __future__ import annotations

import math
import typing as t
from collections.abc import Mapping

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._core.text import shown

# 30 years in seconds: more is a typing error, and would overflow dates.
MOST = 10**9


class Limit(t.NamedTuple):
    """A number that a user may set: default, minimum, and whether it is an integer."""

    default: float
    least: int = 0
    whole: bool = False

    @property
    def option(self) -> dict[str, t.Any]:
        """The option of a module."""
        if self.whole:
            return {"type": "int", "default": int(self.default)}
        return {"type": "float", "default": self.default}

    def refusal(self, value: float) -> str | None:
        """Return what is wrong with `value`, `None` if it is valid."""
        # Comparisons with NaN are false.
        valid = self.least <= value <= MOST
        return None if valid else f"expected a number from {self.least} to {MOST}, found {shown(value)}"


# Limits of a step. A grace period is the time that a detected failure is tolerated. Work that runs, and work that waits
# for capacity, has no limit by default.
STEP_LIMITS: Mapping[str, Limit] = {
    "timeout": Limit(0.0),
    "no_output_timeout": Limit(0.0),
    "ready_timeout": Limit(1800.0),
    "pending_timeout": Limit(0.0),
    "image_pull_grace": Limit(30.0),
    "config_grace": Limit(15.0),
    "volume_grace": Limit(900.0),
    "unschedulable_grace": Limit(0.0),
    "infeasible_grace": Limit(60.0),
    "failure_grace": Limit(300.0),
    "lost_rank_grace": Limit(120.0),
    "max_restarts": Limit(5, whole=True),
    "retries": Limit(0, whole=True),
    "retry_backoff": Limit(10.0),
    "leftover_grace": Limit(3600.0),
}
# Limits of the controller.
CONTROLLER_LIMITS: Mapping[str, Limit] = {
    "heartbeat": Limit(60.0),
    "log_streams": Limit(32, least=1, whole=True),
    "api_retry_timeout": Limit(60.0),
    "lock_timeout": Limit(1.0),
}
ALL: Mapping[str, Limit] = {**STEP_LIMITS, **CONTROLLER_LIMITS}


def options(*names: str) -> dict[str, dict[str, t.Any]]:
    """Return the options of a module for these limits."""
    return {name: ALL[name].option for name in names}


def unlimited(value: float) -> float:
    """Return a limit for comparisons: infinity for 0."""
    return value or math.inf


def default(name: str) -> float:
    """Return the default of a limit for comparisons."""
    return unlimited(ALL[name].default)


def check(params: Mapping[str, t.Any], limits: Mapping[str, Limit] = ALL) -> None:
    """Check the numbers in `params`.

    Raises:
        InvalidInputError: a number is out of range; the message names it.
    """
    for name, limit in limits.items():
        value = params.get(name)
        refusal = None if value is None else limit.refusal(value)
        if refusal:
            raise InvalidInputError(f"{name}: {refusal}.")
