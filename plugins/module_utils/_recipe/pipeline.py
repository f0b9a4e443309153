# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Read a pipeline: the ordered steps of `pipeline.yaml`, validated before anything runs."""

from __future__ import annotations

import os
import typing as t
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.bounds import STEPS
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._core.limits import STEP_LIMITS
from ansible_collections.mlops.eks.plugins.module_utils._core.names import RELEASE
from ansible_collections.mlops.eks.plugins.module_utils._core.nearest import did_you_mean
from ansible_collections.mlops.eks.plugins.module_utils._core.text import shown
from ansible_collections.mlops.eks.plugins.module_utils._recipe.chart import CATALOGUE
from ansible_collections.mlops.eks.plugins.module_utils._recipe.declared_secrets import DeclaredSecret, declared_secrets
from ansible_collections.mlops.eks.plugins.module_utils._recipe.keys import (
    PIPELINE_KEYS,
    STEP_KEYS,
    check_keys,
    check_patterns,
)
from ansible_collections.mlops.eks.plugins.module_utils._recipe.source import Source, load

FILE = "pipeline.yaml"


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step of a pipeline.

    Later `recipes` override earlier ones. If `keep` is `None`, the chart decides whether the step stays installed.
    `limits` holds those of `STEP_LIMITS` that the step sets.
    """

    name: str
    chart: str
    recipes: tuple[str, ...]
    repo: str | None = None
    version: str | None = None
    digest: str | None = None
    values: dict[str, t.Any] = field(default_factory=dict)
    keep: bool | None = None
    progress: str | None = None
    retry_on: tuple[str, ...] | None = None
    workload: str | None = None
    until: str | None = None
    fail_on: tuple[str, ...] = ()
    limits: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Pipeline:
    """An ordered list of steps that share one release name."""

    name: str
    directory: str
    namespace: str | None
    description: str
    steps: tuple[Step, ...]
    secrets: tuple[DeclaredSecret, ...] = ()

    def to_result(self) -> dict[str, t.Any]:
        """Return plain data for Ansible."""
        document = asdict(self)
        document["steps"] = [_plain(step) for step in document["steps"]]
        document["secrets"] = [one.to_document() for one in self.secrets]
        return document


def _plain(step: dict[str, t.Any]) -> dict[str, t.Any]:
    return {key: list(value) if isinstance(value, tuple) else value for key, value in step.items()}


def locate(given: str) -> Path:
    """Return the directory of the pipeline: `given`, or the one of that name in the collection."""
    path, shipped = Path(given).expanduser(), CATALOGUE.parent / given
    return shipped if not path.exists() and shipped.exists() else path


def file_of(directory: Path) -> Path:
    """Return the path of `pipeline.yaml`; `directory` may be the file itself."""
    return directory if directory.is_file() else directory / FILE


def read(directory: Path) -> Pipeline:
    """Read `pipeline.yaml` of `directory` (or the file itself).

    Raises:
        InvalidInputError: with file, line and key of the mistake.
    """
    path = file_of(directory)
    if not path.exists():
        raise InvalidInputError(
            f"pipeline {str(directory)!r}: there is no {FILE} in it. Name a directory that has one."
        )
    source = load(path)
    check_keys(source, source.data, (), PIPELINE_KEYS)
    if not source.data["steps"]:
        raise InvalidInputError(f"{source.at(('steps',))}: steps is empty. A pipeline needs at least one step.")
    if len(source.data["steps"]) > STEPS:
        message = f"expected at most {STEPS} steps, found {len(source.data['steps'])}. Make two pipelines."
        raise InvalidInputError(f"{source.at(('steps',))}: steps: {message}")
    steps = [_step(source, index, path.parent) for index in range(len(source.data["steps"]))]
    _check_unique(source, steps)
    return Pipeline(
        name=source.data["name"],
        directory=str(path.parent),
        namespace=source.data.get("namespace"),
        description=source.data.get("description", ""),
        steps=tuple(steps),
        secrets=declared_secrets(source, text=False),
    )


def choose(pipeline: Pipeline, *, from_step: str | None, only_steps: Sequence[str]) -> list[Step]:
    """Return the steps to run, in order.

    Raises:
        InvalidInputError: a name is not a step of the pipeline, or nothing is left.
    """
    names = [step.name for step in pipeline.steps]
    for wanted in [*only_steps, *([from_step] if from_step else [])]:
        if wanted not in names:
            raise InvalidInputError(f"pipeline {pipeline.name}: no step {wanted!r}.{did_you_mean(wanted, names)}")
    start = names.index(from_step) if from_step else 0
    chosen = [step for step in pipeline.steps[start:] if not only_steps or step.name in only_steps]
    if not chosen:
        raise InvalidInputError(f"pipeline {pipeline.name}: from_step {from_step!r} leaves none of only_steps.")
    return chosen


def helm_release(release: str, step: str, *, keep: bool) -> str:
    """Return the Helm release of a step; a step that stays installed has a release of its own."""
    return f"{release}-{step}" if keep else release


def check_release(name: str) -> None:
    """Check a release name against the rules of Helm and Kubernetes.

    Raises:
        InvalidInputError: the name breaks a rule.
    """
    RELEASE.check("release", name)


def _step(source: Source, index: int, base: Path) -> Step:
    data, path = source.data["steps"][index], ("steps", index)
    if not isinstance(data, dict):
        raise InvalidInputError(f"{source.at(path)}: a step must be a mapping with name, chart and recipe.")
    check_keys(source, data, path, STEP_KEYS)
    if "recipe" in data and "recipes" in data:
        raise InvalidInputError(
            f"{source.at((*path, 'recipes'))}: step {data['name']!r} has recipe and recipes. Keep one."
        )
    recipes = [data["recipe"]] if "recipe" in data else data.get("recipes", [])
    files = [found.name for found in base.glob("*.yaml") if found.name != FILE]
    for name in recipes:
        # Path.is_file would raise for a name that is too long.
        if not os.path.isfile(base / str(name)):  # noqa: PTH113
            where = source.at((*path, "recipe" if "recipe" in data else "recipes"))
            raise InvalidInputError(f"{where}: recipe {shown(name)} is not in {base}.{did_you_mean(str(name), files)}")
    check_patterns(source, data, path)
    fail_on = data.get("fail_on", [])
    for one in fail_on:
        if not isinstance(one, str):
            expected = STEP_KEYS["fail_on"].expected
            raise InvalidInputError(
                f"{source.at((*path, 'fail_on'))}: fail_on: expected {expected}, found {shown(one)}."
            )
    return Step(
        name=data["name"],
        chart=_beside(base, data),
        repo=data.get("repo"),
        version=data.get("version"),
        digest=data.get("digest"),
        recipes=tuple(str(base / str(name)) for name in recipes),
        values=data.get("values", {}),
        keep=data.get("keep"),
        progress=data.get("progress"),
        retry_on=tuple(data["retry_on"]) if "retry_on" in data else None,
        workload=data.get("workload"),
        until=data.get("until"),
        fail_on=(fail_on,) if isinstance(fail_on, str) else tuple(fail_on),
        limits={name: data[name] for name in STEP_LIMITS if name in data},
    )


def _beside(base: Path, data: dict[str, t.Any]) -> str:
    """Return the chart of a step; a path relative to the pipeline takes precedence."""
    chart = str(data["chart"])
    local = "repo" not in data and "://" not in chart
    return str(base / chart) if local and os.path.exists(base / chart) else chart  # noqa: PTH110


def _check_unique(source: Source, steps: Sequence[Step]) -> None:
    first: dict[str, int] = {}
    for index, step in enumerate(steps):
        if step.name in first:
            lines = (source.at(("steps", first[step.name], "name")), source.at(("steps", index, "name")))
            raise InvalidInputError(f"{lines[1]}: step {step.name!r} is already at {lines[0]}. Give each its own name.")
        first[step.name] = index
