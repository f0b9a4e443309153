# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""A chart, wherever it is: found, fetched if need be, and read."""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._charts import dependencies, git_source, helm_source
from ansible_collections.mlops.eks.plugins.module_utils._charts.programs import UnreachableSourceError
from ansible_collections.mlops.eks.plugins.module_utils._charts.reference import Reference, check
from ansible_collections.mlops.eks.plugins.module_utils._charts.store import FetchedChart, Store
from ansible_collections.mlops.eks.plugins.module_utils._core.bounds import CHART, read
from ansible_collections.mlops.eks.plugins.module_utils._core.cache import cache_dir
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import SourceError
from ansible_collections.mlops.eks.plugins.module_utils._helm.cli import find_helm, require_helm_4
from ansible_collections.mlops.eks.plugins.module_utils._recipe import chart as charts
from ansible_collections.mlops.eks.plugins.module_utils._recipe.chart import Chart, Origin
from ansible_collections.mlops.eks.plugins.module_utils._recipe.pipeline import Step


def find(reference: Reference, *, helm: str | None = None) -> Chart:
    """Return the chart that is meant. What comes from elsewhere is asked for anew, unless nothing else can be meant.

    Raises:
        SourceError: it is not there, or its source does not let us have it; the key of the step is named.
        InvalidInputError: its files are broken.
        MissingToolError: Helm or git is needed, and not installed.
    """
    check(reference)
    store = Store(cache_dir() / "charts")
    if reference.kind == "local":
        return _local(reference, store)
    given, note = _given(reference, store, helm)
    return _read(str(reference), store, given, repo=reference.repo or "", note=note)


def _read(ref: str, store: Store, given: FetchedChart, **more: str) -> Chart:
    package = store.package(given.digest)
    origin = Origin(commit=given.commit, package=package, package_digest=given.digest, **more)
    return replace(charts.read(ref, store.chart(given.digest)), origin=origin)


def _local(reference: Reference, store: Store) -> Chart:
    package = Path(reference.chart)
    if not os.path.isfile(package):  # noqa: PTH113
        found = charts.find(reference.chart)
        dependencies.require_bundled(found.path, found.ref)
        return found
    digest = store.add(read(package, CHART, what=f"chart {reference.chart}"), shown=reference.chart)
    return _read(reference.chart, store, FetchedChart(digest=digest))


def _given(reference: Reference, store: Store, helm: str | None) -> tuple[FetchedChart, str]:
    """Return what is used, and what the user should know about it."""
    if reference.digest and store.has(reference.digest):
        return FetchedChart(digest=reference.digest), ""
    known = store.recall(reference)
    if known and reference.is_commit:
        return known, ""
    try:
        given = _fetch(reference, store, helm)
    except UnreachableSourceError as error:
        return _without_asking(reference, known, error)
    if reference.digest not in (None, given.digest):
        raise SourceError(
            f"chart {reference} {given.version}: its package is {given.digest}, not {reference.digest}. "
            "Find out who changed it, then correct digest.",
            key="digest",
        )
    store.remember(reference, given)
    return given, ""


def _fetch(reference: Reference, store: Store, helm: str | None) -> FetchedChart:
    with tempfile.TemporaryDirectory(prefix="chart-") as scratch:
        program = require_helm_4(find_helm(helm))
        if reference.kind == "git":
            return git_source.fetch(reference, store, Path(scratch), helm=program, git=shutil.which("git"))
        return helm_source.fetch(reference, store, Path(scratch), helm=program)


def _without_asking(reference: Reference, known: FetchedChart | None, error: SourceError) -> tuple[FetchedChart, str]:
    """Return the copy of what cannot have become something else in the meantime."""
    if known is None:
        raise error
    said = f"{known.version}, commit {known.commit}" if known.commit else f"{known.version}, {known.digest}"
    if known.immutable:
        return known, f"{error} Using the copy fetched before ({said})."
    pin = f"version: {known.commit or known.version}"
    raise SourceError(
        f"{error} What {reference.version!r} means now is not known; when last asked it was {said}. "
        f"Say '{pin}' to use that copy.",
        key=error.key,
    ) from error


# The chart of a step of a pipeline, and what only the chart can say of the step.
def chart_of(step: Step) -> Chart:
    """Return the chart the step asks for; errors as `find`."""
    return find(Reference(chart=step.chart, repo=step.repo, version=step.version, digest=step.digest))


def stays(step: Step, chart: Chart) -> bool:
    """Return whether the step stays installed: as the pipeline says, else as its chart does."""
    return chart.serves if step.keep is None else step.keep
