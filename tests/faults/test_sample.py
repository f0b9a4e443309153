# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""A sample of the faults, small enough for every change; all of them: `make faults`."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest
from fault import Setting
from interrupt import interrupt

pytestmark = pytest.mark.cluster


@pytest.mark.parametrize(("way", "points"), [("sigkill", ("unmarked", "settled"))])
def test_a_killed_controller_costs_a_re_run(
    native_cluster: t.Any, tmp_path: Path, way: str, points: tuple[str, ...]
) -> None:
    # Where most can go wrong: a workload of which Helm has not said that it is there, and one that has just ended.
    setting = Setting(kubeconfig=native_cluster.kubeconfig, directory=tmp_path, seed=1, say=print)
    found = interrupt(setting, way, points)
    assert [result.violations for result in found.values()] == [()] * len(points)
    assert all(result.injected for result in found.values())
