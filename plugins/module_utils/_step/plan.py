# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""What a step will install, worked out before anything is touched."""

from __future__ import annotations

import json
import tempfile
import typing as t
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._helm.cli import Helm
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds import KINDS, Kind
from ansible_collections.mlops.eks.plugins.module_utils._kube.paths import Ref
from ansible_collections.mlops.eks.plugins.module_utils._recipe.chart import Chart, find
from ansible_collections.mlops.eks.plugins.module_utils._recipe.identity import identity
from ansible_collections.mlops.eks.plugins.module_utils._recipe.layers import Layers, coalesce, layers
from ansible_collections.mlops.eks.plugins.module_utils._recipe.schema import validate
from ansible_collections.mlops.eks.plugins.module_utils._recipe.source import Source, load
from ansible_collections.mlops.eks.plugins.module_utils._step.task import Task

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A step's chart and checked values: enough to tell whether it has been done before."""

    chart: Chart
    layers: Layers
    values: dict[str, t.Any]
    identity: str


@dataclass(frozen=True, kw_only=True)
class Plan(Draft):
    """A draft with its rendered objects, and the workload among them whose status decides the step."""

    manifest: tuple[Document, ...]
    kind: Kind
    workload: Document
    ref: Ref

    @property
    def objects(self) -> list[str]:
        """The objects as `Kind/name`."""
        return [f"{entry['kind']}/{entry['metadata']['name']}" for entry in self.manifest]


def make_draft(task: Task) -> Draft:
    """Read, layer and validate.

    Raises:
        InvalidInputError: the chart, a recipe or a value is wrong; the message names file, line and key.
    """
    chart = find(task.chart)
    sources = [load(Path(name)) for name in task.recipes]
    if task.values:
        sources.append(Source(name="values", data=dict(task.values)))
    layered = layers(sources)
    values = layered.values
    if chart.schema is not None:
        validate(coalesce(chart.defaults, values), chart.schema, where=layered, chart=chart.ref)
    named = identity(chart_digest=chart.digest, values=values, release=task.helm_release, namespace=task.namespace)
    return Draft(chart=chart, layers=layered, values=values, identity=named)


def make_plan(task: Task, draft: Draft, helm: Helm) -> Plan:
    """Render what a draft will install; nothing is installed.

    Raises:
        InvalidInputError: a template refuses the values, or renders no workload or several.
    """
    with value_files(task) as files:
        text = helm.template(task.helm_release, draft.chart.path, files)
    manifest = tuple(entry for entry in yaml.load_all(text, Loader=_Loader) if entry)
    kind, workload = _workload(manifest, draft.chart)
    return Plan(
        **vars(draft),
        manifest=manifest,
        kind=kind,
        workload=workload,
        ref=Ref(kind.api_version, kind.kind, kind.plural, task.namespace, workload["metadata"]["name"]),
    )


@contextmanager
def value_files(task: Task) -> Iterator[list[Path]]:
    """Yield the `--values` files of a step: its recipes as they are, then `values` as the last layer."""
    files = [Path(name) for name in task.recipes]
    if not task.values:
        yield files
        return
    with tempfile.NamedTemporaryFile("w", suffix=".json", prefix="values-", encoding="utf-8") as last:
        json.dump(dict(task.values), last)
        last.flush()
        yield [*files, Path(last.name)]


def _workload(manifest: tuple[Document, ...], chart: Chart) -> tuple[Kind, Document]:
    """Return the object that decides the step: what runs to completion comes before what serves."""
    found = [
        (KINDS[entry["apiVersion"], entry["kind"]], entry)
        for entry in manifest
        if (entry["apiVersion"], entry["kind"]) in KINDS and not _is_hook(entry)
    ]
    for serves in (False, True):
        rows = [row for row in found if row[0].serves is serves]
        if len(rows) == 1:
            return rows[0]
        if rows:
            names = ", ".join(f"{entry['kind']}/{entry['metadata']['name']}" for _, entry in rows)
            raise InvalidInputError(f"chart {chart.ref}: renders several workloads ({names}). A step has exactly one.")
    kinds = ", ".join(sorted({entry["kind"] for entry in manifest})) or "nothing"
    known = ", ".join(sorted(kind for _, kind in KINDS))
    raise InvalidInputError(
        f"chart {chart.ref}: renders no workload that can be followed (found {kinds}; known: {known})."
    )


def _is_hook(entry: Document) -> bool:
    return "helm.sh/hook" in (entry["metadata"].get("annotations") or {})
