# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Check a whole pipeline before its first step runs."""

from __future__ import annotations

import typing as t
from collections.abc import Mapping
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._charts.find import chart_of, stays
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError, SourceError
from ansible_collections.mlops.eks.plugins.module_utils._core.names import checked
from ansible_collections.mlops.eks.plugins.module_utils._core.secret_redaction import errors_redacted
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.expressions import parse
from ansible_collections.mlops.eks.plugins.module_utils._plan.images import require_image_value
from ansible_collections.mlops.eks.plugins.module_utils._plan.plan import checked_values
from ansible_collections.mlops.eks.plugins.module_utils._plan.task import new_run_id
from ansible_collections.mlops.eks.plugins.module_utils._recipe.chart import Chart
from ansible_collections.mlops.eks.plugins.module_utils._recipe.layers import Layers, Values, layers
from ansible_collections.mlops.eks.plugins.module_utils._recipe.marked_secrets import split_secrets
from ansible_collections.mlops.eks.plugins.module_utils._recipe.pipeline import (
    Pipeline,
    Step,
    check_release,
    choose,
    file_of,
    helm_release,
    locate,
    read,
)
from ansible_collections.mlops.eks.plugins.module_utils._recipe.source import Source, inline, load
from ansible_collections.mlops.eks.plugins.module_utils._recipe.templates import refuse_calls


@errors_redacted
@checked("pipeline_info")
def pipeline_info(params: Mapping[str, t.Any]) -> dict[str, t.Any]:
    """Return the pipeline with the chosen steps, after a check of every step.

    Raises:
        InvalidInputError: the first mistake, with file, line and key.
    """
    where = locate(params["pipeline"])
    pipeline = read(where)
    source = load(file_of(where))
    release = params["release"] or pipeline.name
    check_release(release)
    chosen = choose(pipeline, from_step=params["from_step"], only_steps=params["only_steps"] or [])
    over = [inline("recipe_values", params["recipe_values"])] if params["recipe_values"] else []
    charts = {}
    for index, step in enumerate(pipeline.steps):
        written = source.below(("steps", index))
        chart = charts[step.name] = _chart(step, written)
        with written.errors_at(("name",)):
            check_release(helm_release(release, step.name, keep=stays(step, chart)))
        # `recipe_values` are for the chosen steps; the others need not fit them.
        layered = _layers(step, written, over if step in chosen else [])
        if not params.get("allow_lookup"):
            refuse_calls(layered)
        values = _check(step, chart, written, layered)
        if step in chosen:
            require_image_value(values, layered, chart)
    rows = [_row(pipeline, step, charts) for step in chosen]
    for index, row in enumerate(rows):
        row["later_releases"] = [
            helm_release(release, later["name"], keep=True) for later in rows[index + 1 :] if later["keep"]
        ]
    result = {
        "changed": False,
        "pipeline": {**_plain(pipeline), "steps": rows},
        "release": release,
        "run_id": new_run_id(pipeline.name),
    }
    notes = [chart.origin.note for chart in charts.values() if chart.origin and chart.origin.note]
    return {**result, "warnings": notes} if notes else result


def _chart(step: Step, written: Source) -> Chart:
    try:
        return chart_of(step)
    except InvalidInputError as error:
        with written.errors_at((error.key if isinstance(error, SourceError) else "chart",)):
            raise


def _layers(step: Step, written: Source, over: list[Source]) -> Layers:
    """Return a step's values in layers: recipes, values in the pipeline (`written`), and `over` on top of them."""
    sources = [load(Path(name)) for name in step.recipes]
    if step.values:
        sources.append(written.below(("values",)))
    return layers([*sources, *over])


def _check(step: Step, chart: Chart, written: Source, layered: Layers) -> Values:
    """Check a step's values against its chart and parse its expressions; return them over those of the chart."""
    if step.values:
        _refuse_secrets(chart, written.below(("values",)))
    values = checked_values(layered, chart)
    for key, text in (("until", step.until), *(("fail_on", text) for text in step.fail_on)):
        if text is not None:
            with written.errors_at((key,), key=key):
                parse(text)
    return values


def _refuse_secrets(chart: Chart, values: Source) -> None:
    """Refuse a secret in the pipeline itself: the module returns the pipeline, and the play may log it."""
    for key in split_secrets(layers([values]), chart, "").secrets:
        raise InvalidInputError(
            f"{values.at(tuple(key.split('.')))}: {key}: a secret does not belong in a pipeline. Declare where "
            "it comes from under secrets, and refer to it by {secretKeyRef: {name: …, key: …}}; or give it as "
            "recipe_values."
        )


def _plain(pipeline: Pipeline) -> dict[str, t.Any]:
    return {key: value for key, value in pipeline.to_result().items() if key != "steps"}


def _row(pipeline: Pipeline, step: Step, charts: Mapping[str, Chart]) -> dict[str, t.Any]:
    """Return a step with its number, the names of the steps before it, and its pinned chart."""
    names = [entry.name for entry in pipeline.steps]
    index = names.index(step.name)
    row: dict[str, t.Any] = pipeline.to_result()["steps"][index]
    place = {"index": index + 1, "total": len(names), "after": names[:index]}
    return {**row, **_pinned(charts[step.name]), "keep": stays(step, charts[step.name]), **place}


def _pinned(chart: Chart) -> dict[str, str]:
    """Return version and digest, by which every cluster uses the same chart from a repository or registry."""
    origin = chart.origin
    if origin is None or not (origin.repo or chart.ref.startswith("oci://")):
        return {}
    return {"version": origin.commit} if origin.commit else {"version": chart.version, "digest": origin.package_digest}
