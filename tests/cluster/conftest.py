# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""A separate namespace for every test, on the session's real cluster."""

from __future__ import annotations

import fcntl
import tempfile
import typing as t
from collections.abc import Iterator
from pathlib import Path

import pytest
from space import Space, fresh


@pytest.fixture
def space(native_cluster: t.Any, tmp_path: Path) -> Iterator[Space]:
    """Return an empty namespace on the cluster."""
    with fresh(native_cluster.kubeconfig, tmp_path) as found:
        yield found


@pytest.fixture(scope="module")
def module_space(native_cluster: t.Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Space]:
    """Return a namespace that the tests of one file share."""
    with fresh(native_cluster.kubeconfig, tmp_path_factory.mktemp("space")) as found:
        yield found


@pytest.fixture
def one_ray(name: str) -> Iterator[None]:
    """Let one Ray cluster run at a time across all workers; `name` is the scenario's."""
    if not name.startswith("ray"):
        yield
        return
    with (Path(tempfile.gettempdir()) / "mlops-eks-one-ray").open("w", encoding="utf-8") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        yield


@pytest.fixture
def second_space(second_cluster: t.Any, tmp_path: Path) -> Iterator[Space]:
    """Return an empty namespace on the second cluster."""
    with fresh(second_cluster.kubeconfig, tmp_path, host="west") as found:
        yield found
