"""The project's real `helm`, and a chart that shows its values."""

from __future__ import annotations

import json
import math
import subprocess
import typing as t
from collections.abc import Sequence
from pathlib import Path

import yaml

from ansible_collections.mlops.eks.plugins.module_utils._helm.cli import find_helm

Values = dict[str, t.Any]


def same(ours: t.Any, theirs: t.Any) -> bool:
    """Return whether two documents are equal. Helm's numbers are Go's, which JSON does not distinguish."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(same(ours[key], theirs[key]) for key in ours)
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    numbers = [isinstance(one, int | float) and not isinstance(one, bool) for one in (ours, theirs)]
    if all(numbers):
        return math.isclose(ours, theirs, rel_tol=1e-15)
    return type(ours) is type(theirs) and ours == theirs


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
        [find_helm(), "template", "r", str(chart), *arguments], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        return None
    found: Values = json.loads(yaml.safe_load(done.stdout)["seen"])
    return found
