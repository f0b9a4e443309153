# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The nodes that a pipeline needs, from the `node_type` keys of its recipes."""

from __future__ import annotations

import typing as t
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._charts.find import chart_of, stays
from ansible_collections.mlops.eks.plugins.module_utils._core.units import quantity
from ansible_collections.mlops.eks.plugins.module_utils._recipe.chart import Chart
from ansible_collections.mlops.eks.plugins.module_utils._recipe.layers import Values, coalesce, layers
from ansible_collections.mlops.eks.plugins.module_utils._recipe.pipeline import Step, locate, read
from ansible_collections.mlops.eks.plugins.module_utils._recipe.source import Source, load


@dataclass(frozen=True, kw_only=True)
class Pods:
    """Equal pods for nodes of one instance type. `resources` are those of one pod, in base units."""

    node_type: str
    count: int
    resources: dict[str, float]


@dataclass(frozen=True, kw_only=True)
class StepNeeds:
    """All pods that run during a step of a pipeline, including servers that earlier steps started."""

    name: str
    pods: tuple[Pods, ...]


def step_needs(pipeline: str) -> list[StepNeeds]:
    """Return the needs of each step of the pipeline in that directory, without steps that need no nodes.

    Raises:
        InvalidInputError: with file, line and key of the first mistake.
    """
    found = read(locate(pipeline))
    kept: tuple[Pods, ...] = ()
    needs = []
    for step in found.steps:
        chart = chart_of(step)
        pods = (*kept, *_pods(_values(step, chart)))
        if pods:
            needs.append(StepNeeds(name=f"{found.name}/{step.name}", pods=pods))
        if stays(step, chart):
            kept = pods
    return needs


def _values(step: Step, chart: Chart) -> Values:
    sources = [load(Path(name)) for name in step.recipes]
    if step.values:
        sources.append(Source(name="values", data=dict(step.values)))
    return coalesce(chart.defaults, layers(sources).values)


def _pods(values: Values) -> Iterator[Pods]:
    """Yield the pods of every `resources` mapping that names a node type, at any depth."""
    replicas = ((values.get("server") or {}).get("autoscaling") or {}).get("maxReplicas")
    for where in _mappings(values):
        resources = where.get("resources")
        if isinstance(resources, dict) and resources.get("node_type"):
            count = resources.get("nnodes") or where.get("replicas") or replicas or 1
            asked = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
            named = resources["node_type"]
            yield Pods(
                # The first of several stands for all of them.
                node_type=str(named[0] if isinstance(named, list) else named),
                count=int(count),
                resources={name: quantity(amount) for name, amount in asked.items() if amount is not None},
            )


def _mappings(value: t.Any) -> Iterator[dict[str, t.Any]]:
    if isinstance(value, dict):
        yield value
    entries = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for entry in entries:
        yield from _mappings(entry)
