# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Find a chart: fetch it if needed, and read it."""

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
    """Return the chart of a reference. A remote source is queried each time, unless a digest or commit pins the chart.

    Raises:
        SourceError: the chart does not exist, or its source refuses; the error has the key of the step.
        InvalidInputError: its files are broken.
        MissingToolError: Helm or git is needed and not installed.
    """
    check(reference)
    store = Store(cache_dir() / "charts")
    if reference.kind == "local":
        return _local(reference, store)
    fetched, note = _fetch_or_cached(reference, store, helm)
    return _read(str(reference), store, fetched, repo=reference.repo or "", note=note)


def _read(ref: str, store: Store, fetched: FetchedChart, **more: str) -> Chart:
    package = store.package(fetched.digest)
    origin = Origin(commit=fetched.commit, package=package, package_digest=fetched.digest, **more)
    return replace(charts.read(ref, store.chart(fetched.digest)), origin=origin)


def _local(reference: Reference, store: Store) -> Chart:
    package = Path(reference.chart)
    if not os.path.isfile(package):  # noqa: PTH113
        found = charts.find(reference.chart)
        dependencies.require_bundled(found.path, found.ref)
        return found
    digest = store.add(read(package, CHART, what=f"chart {reference.chart}"), shown=reference.chart)
    return _read(reference.chart, store, FetchedChart(digest=digest))


def _fetch_or_cached(reference: Reference, store: Store, helm: str | None) -> tuple[FetchedChart, str]:
    """Return the package to use, and a message about it for the user."""
    if reference.digest and store.has(reference.digest):
        return FetchedChart(digest=reference.digest), ""
    known = store.recall(reference)
    if known and reference.is_commit:
        return known, ""
    try:
        fetched = _fetch(reference, store, helm)
    except UnreachableSourceError as error:
        return _cached(reference, known, error)
    if reference.digest not in (None, fetched.digest):
        raise SourceError(
            f"chart {reference} {fetched.version}: its package is {fetched.digest}, not {reference.digest}. "
            "Find out who changed it, then correct digest.",
            key="digest",
        )
    store.remember(reference, fetched)
    return fetched, ""


def _fetch(reference: Reference, store: Store, helm: str | None) -> FetchedChart:
    with tempfile.TemporaryDirectory(prefix="chart-") as scratch:
        program = require_helm_4(find_helm(helm))
        if reference.kind == "git":
            return git_source.fetch(reference, store, Path(scratch), helm=program, git=shutil.which("git"))
        return helm_source.fetch(reference, store, Path(scratch), helm=program)


def _cached(reference: Reference, known: FetchedChart | None, error: SourceError) -> tuple[FetchedChart, str]:
    """Return the cached copy of an immutable version."""
    if known is None:
        raise error
    copy = f"{known.version}, commit {known.commit}" if known.commit else f"{known.version}, {known.digest}"
    if known.immutable:
        return known, f"{error} Using the copy fetched before ({copy})."
    pin = f"version: {known.commit or known.version}"
    raise SourceError(
        f"{error} {reference.version!r} may have changed since it was fetched ({copy}). Set '{pin}' to use that copy.",
        key=error.key,
    ) from error


def chart_of(step: Step) -> Chart:
    """Return the chart of the step; errors as `find`."""
    return find(Reference(chart=step.chart, repo=step.repo, version=step.version, digest=step.digest))


def stays(step: Step, chart: Chart) -> bool:
    """Return whether the step stays installed: its `keep`, else whether the chart serves."""
    return chart.serves if step.keep is None else step.keep
