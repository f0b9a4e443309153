# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""A sample of what a hostile API server does; all of it: `make faults`."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest
from fault import Setting
from hostile import faults

pytestmark = pytest.mark.cluster


@pytest.mark.parametrize("name", ["api@truncated", "api@token-expired", "api@helm-reset"])
def test_a_hostile_server_changes_nothing(native_cluster: t.Any, tmp_path: Path, name: str) -> None:
    (fault,) = (fault for fault in faults() if fault.name == name)
    found = fault.run(Setting(kubeconfig=native_cluster.kubeconfig, directory=tmp_path, seed=1, say=print))
    assert found.violations == ()
    assert found.injected > 0
