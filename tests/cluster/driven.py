# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""The recorded scenarios as test parameters, with the cluster that each needs."""

from __future__ import annotations

import typing as t
from collections.abc import Iterable
from pathlib import Path

import pytest
from operator_workloads import OPERATOR_SCENARIOS
from ray_workloads import RAY_SCENARIOS
from recorded_workloads import SCENARIOS
from samples import Json
from space import Space

BY_NAME = {scenario.name: scenario for scenario in (*SCENARIOS, *OPERATOR_SCENARIOS, *RAY_SCENARIOS)}
# `make test` drives these: its cluster has their operator, and the rest is in other tests or takes too long.
SAMPLE = ("jobset-succeeds", "jobset-worker-fails")
# Seconds a scenario may take. Ray needs a minute and more to start on two cores that others use as well.
LONG = 600


def run_step(space: Space, chart: str | Path, values: Json, rc: int = 0, **more: t.Any) -> str:
    """Run a chart as a step to its end and return what was shown."""
    step = {"release": "run", "chart": str(chart), "values": values, "timeout": LONG - 60, **more}
    return space.start_task("helm_step", **step).end(rc, seconds=LONG)


def scenarios(names: Iterable[str]) -> list[t.Any]:
    """Return test parameters: all but a sample need every operator."""
    return [pytest.param(name, marks=[] if name in SAMPLE else [pytest.mark.operators]) for name in names]
