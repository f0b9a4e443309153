# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""What a step will install: its draft (chart and values) and its plan (the rendered objects)."""

from __future__ import annotations

import contextlib
import json
import tempfile
import typing as t
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import EksError, InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._core.storage import writing
from ansible_collections.mlops.eks.plugins.module_utils._helm.cli import Capabilities, Helm
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document, Kube
from ansible_collections.mlops.eks.plugins.module_utils._kube.discovery import api_versions, server_version
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.table import Kind
from ansible_collections.mlops.eks.plugins.module_utils._kube.paths import Ref
from ansible_collections.mlops.eks.plugins.module_utils._logs.secrets import SHORTEST
from ansible_collections.mlops.eks.plugins.module_utils._plan.images import require_images
from ansible_collections.mlops.eks.plugins.module_utils._plan.manifest import read_manifest
from ansible_collections.mlops.eks.plugins.module_utils._plan.node_types import check_node_types
from ansible_collections.mlops.eks.plugins.module_utils._plan.render_errors import located
from ansible_collections.mlops.eks.plugins.module_utils._plan.task import Task
from ansible_collections.mlops.eks.plugins.module_utils._plan.workload import choose, find_kind, refer
from ansible_collections.mlops.eks.plugins.module_utils._recipe.chart import Chart, uses_capabilities
from ansible_collections.mlops.eks.plugins.module_utils._recipe.identity import identity
from ansible_collections.mlops.eks.plugins.module_utils._recipe.layers import Layers, Values, coalesce, layers, merge
from ansible_collections.mlops.eks.plugins.module_utils._recipe.marked_secrets import (
    SplitValues,
    require_references,
    split_secrets,
)
from ansible_collections.mlops.eks.plugins.module_utils._recipe.schema import validate
from ansible_collections.mlops.eks.plugins.module_utils._recipe.source import inline, load
from ansible_collections.mlops.eks.plugins.module_utils._recipe.templates import refuse_calls


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A step's chart and validated values, and the identity by which the ledger knows it.

    Values that the chart marks as secret are replaced by references to Secret `secret`, which will hold them.
    `run` tells the chart run and step.
    """

    chart: Chart
    split: SplitValues
    secret: str
    run: Values
    identity: str

    @property
    def values(self) -> dict[str, t.Any]:
        """The merged values, without the chart's defaults."""
        return self.split.values

    @property
    def overlay(self) -> Values:
        """What Helm gets on top of the recipes and values of the task."""
        return merge(self.run, self.split.overlay)

    @property
    def about(self) -> dict[str, t.Any]:
        """The draft's fields of the step record."""
        return {
            "identity": self.identity,
            "chart_version": self.chart.version,
            "chart_source": self.chart.source,
        }


@dataclass(frozen=True, kw_only=True)
class Plan(Draft):
    """A draft with its rendered objects, and the one among them whose status decides the step."""

    manifest: tuple[Document, ...]
    kind: Kind
    workload: Document
    ref: Ref

    @property
    def objects(self) -> list[str]:
        """The objects as `Kind/name`."""
        return [f"{entry['kind']}/{entry['metadata']['name']}" for entry in self.manifest]


def make_draft(task: Task, chart: Chart) -> Draft:
    """Read, merge and validate the values of a step.

    Raises:
        InvalidInputError: a recipe or value is wrong, or calls a forbidden function; with file, line and key.
    """
    layered, secret = _layers(task), f"{task.helm_release}-secrets"
    split = split_secrets(layered, chart, secret)
    # The mask must know the secrets before a message may contain values.
    task.mask.add(text for text in split.secrets.values() if len(text) >= SHORTEST)
    if not task.allow_lookup:
        refuse_calls(layered)
    checked_values(layered, chart)
    require_references(split, chart)
    run = run_values(task, chart, split.values)
    # The content of a secret is not part of the identity: a new token must not repeat a training.
    step_identity = identity(
        chart_digest=chart.digest,
        values=merge(split.values, run),
        release=task.helm_release,
        namespace=task.namespace,
    )
    return Draft(chart=chart, split=split, secret=secret, run=run, identity=step_identity)


def checked_values(layered: Layers, chart: Chart) -> Values:
    """Return the values of a step over those of its chart, checked.

    Raises:
        InvalidInputError: the schema of the chart, or an instance type that the values name, does not allow them.
    """
    values = coalesce(chart.defaults, layered.values)
    if chart.schema is not None:
        validate(values, chart.schema, where=layered, chart=chart.ref)
    check_node_types(values, layered, chart.ref)
    return values


def run_values(task: Task, chart: Chart, values: Values) -> Values:
    """Return `run.name` and `run.step` for a chart that takes them, except what `values` set themselves.

    They are part of the identity. The id of the run is not among them: it would repeat every step.
    """
    own, passed = values.get("run") or {}, {"name": task.release, "step": task.step}
    if not chart.takes_run or not isinstance(own, dict):
        return {}
    return {"run": {key: value for key, value in passed.items() if not own.get(key)}}


def _layers(task: Task) -> Layers:
    sources = [load(Path(name)) for name in task.recipes]
    return layers([*sources, inline("values", task.values)] if task.values else sources)


def make_plan(task: Task, draft: Draft, helm: Helm, kube: Kube) -> Plan:
    """Render a draft and check that it can be installed; nothing is installed.

    Raises:
        InvalidInputError: as `render`, or a container has no image; the message names file, line and key.
        AbsentError: as `render`.
    """
    plan = render(task, draft, helm, kube)
    require_images(plan.workload, partial(_layers, task), draft.chart)
    return plan


def render(task: Task, draft: Draft, helm: Helm, kube: Kube) -> Plan:
    """Render a draft.

    Raises:
        InvalidInputError: a template refuses the values (the message names file, line and key), or renders no workload
            or several.
        AbsentError: the cluster does not know the workload's kind.
    """
    with value_files(task, draft.overlay) as files:
        capabilities = _capabilities(draft, kube)
        try:
            text = helm.template(task.helm_release, draft.chart.path, files, capabilities)
        except EksError as error:
            raise located(error, _layers(task), draft.chart) from error
    manifest = read_manifest(text, chart=draft.chart.ref)
    workload = choose(manifest, chart=draft.chart.ref, until=task.until is not None, wanted=task.workload)
    kind = find_kind(kube, workload["apiVersion"], workload["kind"], serves=task.keep)
    _check_spec(workload, kind, draft.chart.ref)
    return Plan(
        **vars(draft),
        manifest=manifest,
        kind=kind,
        workload=workload,
        ref=refer(kind, workload["metadata"]["name"], task.namespace),
    )


def _capabilities(draft: Draft, kube: Kube) -> Capabilities:
    """Return the cluster's capabilities for `helm template`; API versions only if the chart or its values use them."""
    asks = uses_capabilities(draft.chart.path) or "Capabilities" in json.dumps(draft.values)
    return Capabilities(server_version(kube), api_versions(kube) if asks else ())


def _check_spec(workload: Document, kind: Kind, chart: str) -> None:
    try:
        kind.selectors(workload)
    except (KeyError, TypeError, AttributeError) as error:
        name = f"{workload['kind']}/{workload['metadata']['name']}"
        raise InvalidInputError(
            f"chart {chart}: {name} does not say which pods are its own: {error} is missing in its spec, or malformed."
        ) from error


@contextlib.contextmanager
def value_files(task: Task, overlay: Values) -> Iterator[list[Path]]:
    """Yield the `--values` files of a step: its recipes, then one file with `values` and `overlay` on top of them.

    `overlay` replaces secrets by references, so that the release contains none, and names the run.
    """
    files = [Path(name) for name in task.recipes]
    values = merge(dict(task.values), overlay)
    if not values:
        yield files
        return
    with contextlib.ExitStack() as stack:
        with writing(Path(tempfile.gettempdir())):
            last = stack.enter_context(tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8"))
            json.dump(values, last)
            last.flush()
        yield [*files, Path(last.name)]
