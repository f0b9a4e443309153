"""The real `helm` of the project, and a chart that shows what it read."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import typing as t
from collections.abc import Sequence
from pathlib import Path

import yaml

Values = dict[str, t.Any]


def binary() -> str:
    """Return helm: from MLOPS_EKS_HELM, the project's cache or PATH; there must be one."""
    cache = (
        os.environ.get("MLOPS_EKS_CACHE")
        or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mlops-eks"
    )
    for candidate in (os.environ.get("MLOPS_EKS_HELM"), str(Path(cache) / "bin" / "helm"), "helm"):
        found = shutil.which(candidate) if candidate else None
        if found:
            return found
    raise AssertionError("no helm: run 'make tools', or set MLOPS_EKS_HELM")


def mirror(directory: Path, defaults: Values) -> Path:
    """Return a chart that renders nothing but its values."""
    chart = directory / "mirror"
    (chart / "templates").mkdir(parents=True, exist_ok=True)
    (chart / "Chart.yaml").write_text("apiVersion: v2\nname: mirror\nversion: 0.1.0\n", encoding="utf-8")
    (chart / "values.yaml").write_text(json.dumps(defaults), encoding="utf-8")
    (chart / "templates" / "values.yaml").write_text("seen: {{ toJson .Values | quote }}\n", encoding="utf-8")
    return chart


def seen(chart: Path, files: Sequence[Path]) -> Values | None:
    """Return the values the chart sees, or `None` when helm refuses them."""
    arguments = [part for file in files for part in ("--values", str(file))]
    done = subprocess.run(
        [binary(), "template", "r", str(chart), *arguments], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        return None
    found: Values = json.loads(yaml.safe_load(done.stdout)["seen"])
    return found
