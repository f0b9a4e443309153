# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""A pipeline checked as a whole before its first step runs."""

from __future__ import annotations

import typing as t
from collections.abc import Mapping
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._kube.expressions import parse
from ansible_collections.mlops.eks.plugins.module_utils._recipe.chart import find
from ansible_collections.mlops.eks.plugins.module_utils._recipe.layers import coalesce, layers
from ansible_collections.mlops.eks.plugins.module_utils._recipe.pipeline import (
    Pipeline,
    Step,
    check_release,
    choose,
    file_of,
    helm_release,
    locate,
    read,
    stays,
)
from ansible_collections.mlops.eks.plugins.module_utils._recipe.schema import validate
from ansible_collections.mlops.eks.plugins.module_utils._recipe.source import Source, load
from ansible_collections.mlops.eks.plugins.module_utils._step.task import new_run_id


def pipeline_info(params: Mapping[str, t.Any]) -> dict[str, t.Any]:
    """Return the pipeline with the steps chosen, every one of its recipes checked.

    Raises:
        InvalidInputError: with file, line and key of the first mistake.
    """
    where = locate(params["pipeline"])
    pipeline = read(where)
    source = load(file_of(where))
    release = params["release"] or pipeline.name
    check_release(release)
    chosen = choose(pipeline, from_step=params["from_step"], only_steps=params["only_steps"] or [])
    over = [Source(name="recipe_values", data=params["recipe_values"])] if params["recipe_values"] else []
    for index, step in enumerate(pipeline.steps):
        # Steps that do not run now need not fit to values that are given now.
        _check(step, source.below(("steps", index)), release, over if step in chosen else [])
    return {
        "changed": False,
        "pipeline": {**_plain(pipeline), "steps": [_row(pipeline, step) for step in chosen]},
        "release": release,
        "run_id": new_run_id(pipeline.name),
    }


def _check(step: Step, written: Source, release: str, over: list[Source]) -> None:
    """Check what a step is made of: `written` in the pipeline, its recipes, and the values `over` all of them."""
    with written.blamed(("chart",)):
        chart = find(step.chart)
    with written.blamed(("name",)):
        check_release(helm_release(release, step.name, keep=stays(step)))
    sources = [load(Path(name)) for name in step.recipes]
    if step.values:
        sources.append(written.below(("values",)))
    layered = layers([*sources, *over])
    if chart.schema is not None:
        validate(coalesce(chart.defaults, layered.values), chart.schema, where=layered, chart=chart.ref)
    for key, text in (("until", step.until), *(("fail_on", text) for text in step.fail_on)):
        if text is not None:
            with written.blamed((key,), key=key):
                parse(text)


def _plain(pipeline: Pipeline) -> dict[str, t.Any]:
    return {key: value for key, value in pipeline.to_result().items() if key != "steps"}


def _row(pipeline: Pipeline, step: Step) -> dict[str, t.Any]:
    """Return a step with its place: number, and the steps before it."""
    names = [entry.name for entry in pipeline.steps]
    index = names.index(step.name)
    found: dict[str, t.Any] = pipeline.to_result()["steps"][index]
    keep = stays(pipeline.steps[index])
    return {**found, "keep": keep, "index": index + 1, "total": len(names), "after": names[:index]}
