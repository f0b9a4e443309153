# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""What changed since the last run of a step, as far as the evidence of that run is on this controller."""

from __future__ import annotations

import typing as t
from collections.abc import Iterator
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.files import to_yaml, to_yaml_stream
from ansible_collections.mlops.eks.plugins.module_utils._core.libraries import yaml
from ansible_collections.mlops.eks.plugins.module_utils._core.text import listed
from ansible_collections.mlops.eks.plugins.module_utils._ledger.ledger import Entry, Ledger
from ansible_collections.mlops.eks.plugins.module_utils._logs.secrets import without_data
from ansible_collections.mlops.eks.plugins.module_utils._plan.plan import Draft, Plan
from ansible_collections.mlops.eks.plugins.module_utils._plan.task import Task
from ansible_collections.mlops.eks.plugins.module_utils._recipe.chart import Chart

# Keys that a sentence names; `--diff` shows all.
_NAMED = 6
_ABSENT = object()


def differences(ledger: Ledger, task: Task, plan: Plan) -> list[dict[str, str]]:
    """Return values and manifest before and after, in the form of Ansible's `diff`."""
    last = _last_evidence(ledger.read().get(task.step), task)
    contents = (
        # Masked before it is YAML, which breaks long lines and the secrets in them.
        ("values.yaml", to_yaml(task.mask.document(plan.values))),
        ("manifest.yaml", to_yaml_stream(task.mask.document(without_data(entry)) for entry in plan.manifest)),
    )
    return [_difference(name, last, after) for name, after in contents]


def what_changed(entry: Entry | None, task: Task, draft: Draft) -> str:
    """Return text such as `values resources.nnodes, image changed`; empty when the last chart and values are unknown.

    `entry` is the step's entry in the ledger, with another identity than `draft`.
    """
    if entry is None:
        return ""
    chart = _chart_changed(entry, draft.chart) if entry.chart_digest else ""
    before = _read(_last_evidence(entry, task), "values.yaml")
    if not before:
        # The identity changed. If the chart did not, the values did.
        return chart or ("values changed" if entry.chart_digest else "")
    keys = list(_changed(yaml.safe_load(before), task.mask.document(draft.values), ""))
    if not keys:
        return chart or "chart changed"
    values = f"values {listed(keys, _NAMED)} changed"
    return f"{chart}, and its {values}" if chart else values


def _chart_changed(entry: Entry, chart: Chart) -> str:
    if entry.chart_digest == chart.digest:
        return ""
    # An edited chart directory keeps its label.
    return "chart changed" if entry.chart == chart.label else f"chart changed from {entry.chart} to {chart.label}"


def _changed(before: t.Any, after: t.Any, path: str) -> Iterator[str]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted({*before, *after}, key=str):
            yield from _changed(
                before.get(key, _ABSENT), after.get(key, _ABSENT), f"{path}.{key}" if path else str(key)
            )
    elif before != after:
        yield path


def _difference(name: str, last: Path | None, after: str) -> dict[str, str]:
    before = _read(last, name)
    where = last.parent.parent.name if before and last else ""
    header = f"{name} of {where}" if where else f"{name} (no earlier run on this controller)"
    return {"before_header": header, "before": before, "after_header": f"{name} of this run", "after": after}


def _read(directory: Path | None, name: str) -> str:
    file = directory / name if directory else None
    return file.read_text(encoding="utf-8") if file and file.is_file() else ""


def _last_evidence(entry: Entry | None, task: Task) -> Path | None:
    found = sorted((task.runs_dir / entry.run_id / task.cluster).glob(f"??-{task.step}")) if entry else []
    return found[0] if found else None
