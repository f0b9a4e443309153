# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""A sample of the faults, small enough for every change; all of them: `make faults`. Nodes: tests/cluster."""

from __future__ import annotations

import typing as t
from pathlib import Path
from types import ModuleType

import hostile
import pytest
import stops
from fault import Result, Setting
from interrupt import interrupt

pytestmark = [pytest.mark.cluster, pytest.mark.slow]


@pytest.fixture
def setting(native_cluster: t.Any, tmp_path: Path) -> Setting:
    return Setting(kubeconfig=native_cluster.kubeconfig, directory=tmp_path, seed=1, say=print)


def test_a_killed_controller_costs_a_re_run(setting: Setting) -> None:
    # Where most can go wrong: a workload of which Helm has not said that it is there, and one that has just ended.
    found = interrupt(setting, "sigkill", ("unmarked", "settled"), steps=("prepare", "serve"))
    assert {name: (result.injected, result.violations) for name, result in found.items()} == {
        "sigkill@unmarked": (2, ()),
        "sigkill@settled": (2, ()),
    }


def test_a_hostile_server_changes_nothing(setting: Setting) -> None:
    assert _run(setting, hostile, "api@truncated").injected > 0


def test_a_run_that_is_stopped_between_two_steps_begins_no_other(setting: Setting) -> None:
    assert _run(setting, stops, "stopped-between-steps").injected == 1


def _run(setting: Setting, source: ModuleType, name: str) -> Result:
    """Inject one fault, after which nothing may be wrong."""
    (fault,) = (fault for fault in source.faults() if fault.name == name)
    found: Result = fault.run(setting)
    assert found.violations == ()
    return found
