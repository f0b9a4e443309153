# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""A namespace of its own for every test, on the session's real cluster."""

from __future__ import annotations

import os
import secrets
import signal
import typing as t
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from space import Space


@contextmanager
def _space(kubeconfig: str, host: str, directory: Path) -> Iterator[Space]:
    space = Space(host=host, kubeconfig=kubeconfig, namespace=f"t-{secrets.token_hex(4)}", directory=directory)
    space.kubectl("create", "namespace", space.namespace)
    try:
        yield space
    finally:
        for play in space.plays:
            if play.process.poll() is None:
                play.send(signal.SIGKILL)
        space.kubectl("delete", "namespace", space.namespace, "--wait=false")


@pytest.fixture
def space(native_cluster: t.Any, tmp_path: Path) -> Iterator[Space]:
    """Return an empty namespace on the cluster."""
    with _space(native_cluster.kubeconfig, "east", tmp_path) as found:
        yield found
