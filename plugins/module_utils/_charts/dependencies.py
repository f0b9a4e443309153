# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Dependencies of a chart that are not in its `charts/` directory."""

from __future__ import annotations

import re
import typing as t
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._charts.helm_source import configure, plain_http
from ansible_collections.mlops.eks.plugins.module_utils._charts.package import unpack
from ansible_collections.mlops.eks.plugins.module_utils._charts.programs import ask, refused
from ansible_collections.mlops.eks.plugins.module_utils._charts.reference import Reference
from ansible_collections.mlops.eks.plugins.module_utils._core.bounds import CHART, read
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import SourceError
from ansible_collections.mlops.eks.plugins.module_utils._recipe.source import load

_EXACT = re.compile(r"=?v?\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?")


def missing(chart: Path) -> list[dict[str, t.Any]]:
    """Return the entries of `dependencies` in Chart.yaml that are not in `charts/`."""
    rows = load(chart / "Chart.yaml").data.get("dependencies")
    # Helm refuses malformed entries itself.
    wanted = [one for one in rows if isinstance(one, dict) and "name" in one] if isinstance(rows, list) else []
    if not wanted:
        return []
    inside = list((chart / "charts").iterdir()) if (chart / "charts").is_dir() else []
    names = {_name(entry) for entry in inside}
    return [
        one
        for one in wanted
        if one["name"] not in names and not any(_is_package(entry, str(one["name"])) for entry in inside)
    ]


def _name(entry: Path) -> str:
    metadata = entry / "Chart.yaml"
    return str(load(metadata).data.get("name", "")) if metadata.is_file() else ""


def _is_package(entry: Path, name: str) -> bool:
    return bool(re.fullmatch(rf"{re.escape(name)}-v?\d.*\.tgz", entry.name))


def require_bundled(chart: Path, shown: str) -> None:
    """Check that the user's chart directory has its dependencies; the collection does not write to it.

    Raises:
        SourceError: some are missing; the message names them.
    """
    if absent := missing(chart):
        names = ", ".join(str(one["name"]) for one in absent)
        raise SourceError(
            f"chart {shown}: it depends on {names}, not in its charts/. Run 'helm dependency build {chart}'."
        )


def build(chart: Path, reference: Reference, scratch: Path, *, helm: str) -> None:
    """Fetch the dependencies of a chart in a temporary tree by `helm dependency build`.

    Raises:
        SourceError: a dependency is not pinned, or cannot be fetched.
    """
    absent = missing(chart)
    if not absent:
        return
    lock = chart / "Chart.lock"
    locked = lock.is_file()
    if not locked:
        _check_pinned(absent, reference)
    addresses = [str(one.get("repository") or "") for one in absent]
    indexed = [address for address in dict.fromkeys(addresses) if address and not address.startswith(("file:", "oci:"))]
    flags = configure(helm, indexed, scratch)[1] + plain_http(
        address for address in addresses if address.startswith("oci:")
    )
    answer = ask([helm, "dependency", "build", chart, *flags])
    if not answer.ok:
        raise refused(reference, answer, key="chart")
    # Helm writes the current time into Chart.lock and packages; without them, equal charts have equal bytes.
    if not locked:
        lock.unlink()
    for package in sorted((chart / "charts").glob("*.tgz")):
        unpack(read(package, CHART, what=f"chart {package.name}"), package.with_suffix(""), shown=package.name)
        package.unlink()


def _check_pinned(absent: list[dict[str, t.Any]], reference: Reference) -> None:
    for one in absent:
        version, repository = str(one.get("version", "")), str(one.get("repository") or "")
        if not repository.startswith("file:") and not _EXACT.fullmatch(version):
            raise SourceError(
                f"chart {reference}: it depends on {one['name']} {version or 'of any version'}, which is not pinned. "
                "Commit the Chart.lock that 'helm dependency update' writes."
            )
