# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Another user of the namespace: a foreign chart, and Helm by hand."""

from __future__ import annotations

import subprocess
from pathlib import Path

from plays import helm_binary
from space import Space


def helm(space: Space, *arguments: str) -> None:
    """Run Helm as a user does by hand."""
    command = [helm_binary(), *arguments, "--kubeconfig", space.kubeconfig, "-n", space.namespace]
    subprocess.run(command, check=True, capture_output=True, text=True)


def chart(directory: Path) -> Path:
    """Return a foreign chart with one ConfigMap."""
    where = directory / "theirs"
    (where / "templates").mkdir(parents=True, exist_ok=True)
    (where / "Chart.yaml").write_text("apiVersion: v2\nname: theirs\nversion: 1.0.0\n", encoding="utf-8")
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: theirs}\ndata: {key: theirs}\n"
    (where / "templates/one.yaml").write_text(text, encoding="utf-8")
    return where
