# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Find a chart in the catalogue or a directory, and read its metadata, defaults and schema."""

from __future__ import annotations

import hashlib
import json
import os
import re
import typing as t
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.bounds import (
    CHART,
    CHART_DEPTH,
    CHART_FILE,
    CHART_FILES,
    size,
)
from ansible_collections.mlops.eks.plugins.module_utils._core.bounds import read as read_file
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError, SourceError
from ansible_collections.mlops.eks.plugins.module_utils._core.nearest import did_you_mean
from ansible_collections.mlops.eks.plugins.module_utils._core.text import shown
from ansible_collections.mlops.eks.plugins.module_utils._recipe.schema import keys_of
from ansible_collections.mlops.eks.plugins.module_utils._recipe.source import load

CATALOGUE = Path(__file__).resolve().parents[3] / "charts"
# README and test values of a chart and its subcharts do not change what it installs.
_IN_CHARTS = re.compile(r"^(?:charts/[^/]+/)+")
_NOT_CONTENT = ("README.md", "ci", ".helmignore")
# Entries of a chart directory that do not belong to the chart.
_NOT_CHART = (".git",)


@dataclass(frozen=True, kw_only=True)
class Origin:
    """The origin of a chart that is a package or comes from a repository.

    `package` is a file with the SHA-256 `package_digest`, as `sha256:…`. `commit` is empty if the source is not git.
    `note` is a message for the user about how the chart was fetched.
    """

    package: Path
    package_digest: str
    repo: str = ""
    commit: str = ""
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Chart:
    """One chart directory.

    `serves` is true if its workload becomes ready and stays, `image_optional` if a recipe may leave the image blank.
    `digest` is the SHA-256 of all files that decide what is installed.
    """

    ref: str
    path: Path
    name: str
    version: str
    digest: str
    serves: bool
    defaults: dict[str, t.Any]
    schema: dict[str, t.Any] | None
    origin: Origin | None = None
    image_optional: bool = False

    @property
    def takes_run(self) -> bool:
        """Whether it takes the names of run and step as values, as every chart of the catalogue does."""
        return keys_of(self.schema, "run") >= {"name", "step"}

    @property
    def label(self) -> str:
        """Name, version, and commit or digest, for messages."""
        if self.origin is None:
            return f"{self.name} {self.version}"
        commit = self.origin.commit
        return f"{self.name} {self.version} ({f'commit {commit[:12]}' if commit else self.origin.package_digest[:19]})"

    @property
    def source(self) -> dict[str, str] | None:
        """The origin, as in the record of a step."""
        origin = self.origin
        return {"repo": origin.repo, "commit": origin.commit, "digest": origin.package_digest} if origin else None


def find(ref: str, *, catalogue: Path = CATALOGUE) -> Chart:
    """Return the chart `ref`: `<group>/<chart>` of the catalogue, or a directory.

    Raises:
        SourceError: there is no such chart.
        InvalidInputError: its files are broken.
    """
    for candidate in (catalogue / ref, Path(ref)):
        # Path.is_file would raise for a name that is too long.
        if os.path.isfile(candidate / "Chart.yaml"):  # noqa: PTH113
            return read(ref, candidate.resolve())
    known = sorted(str(path.parent.relative_to(catalogue)) for path in catalogue.glob("*/*/Chart.yaml"))
    raise SourceError(
        f"chart {shown(ref)}: not in the catalogue, not a chart directory and not a package.{did_you_mean(ref, known)}"
    )


def read(ref: str, path: Path) -> Chart:
    """Return the chart in directory `path`.

    Raises:
        InvalidInputError: its files are broken.
    """
    meta = load(path / "Chart.yaml").data
    annotations = meta.get("annotations") or {}
    values = path / "values.yaml"
    schema = path / "values.schema.json"
    try:
        parsed = json.loads(read_file(schema, CHART_FILE, what=str(schema))) if schema.is_file() else None
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"{schema}: not valid JSON: {error}.") from error
    return Chart(
        ref=ref,
        path=path,
        name=str(meta.get("name", path.name)),
        version=str(meta.get("version", "0")),
        digest=digest(path),
        serves=annotations.get("mlops.eks/until") == "ready",
        image_optional=annotations.get("mlops.eks/image") == "optional",
        defaults=load(values, empty=True).data if values.is_file() else {},
        schema=parsed,
    )


def digest(path: Path) -> str:
    """Return the SHA-256 of a chart directory's content: names and bytes, symbolic links followed."""
    total = hashlib.sha256()
    for name, file in sorted(files(path)):
        if _IN_CHARTS.sub("", name).partition("/")[0] not in _NOT_CONTENT:
            content = file.read_bytes()
            total.update(f"{name}\0{len(content)}\0".encode() + content)
    return total.hexdigest()


def files(directory: Path) -> Iterator[tuple[str, Path]]:
    """Yield the name within the chart, and the path, of every file of a chart directory.

    Raises:
        SourceError: an entry is not a regular file, or the directory is too large for a chart.
    """
    total = 0
    for count, (name, entry) in enumerate(_entries(directory, ""), start=1):
        if count > CHART_FILES:
            raise SourceError(f"chart {directory}: it has more than {CHART_FILES} files and directories. {_REMEDY}")
        if entry.is_dir():
            continue
        if not entry.is_file():
            raise SourceError(f"chart file {entry}: neither a file nor a link to one. Remove it.")
        total += (length := entry.stat().st_size)
        if length > CHART_FILE or total > CHART:
            raise SourceError(
                f"chart file {entry}: too large; Helm takes files of {size(CHART_FILE)} and charts of {size(CHART)}. "
                f"{_REMEDY}"
            )
        yield name, entry


_REMEDY = "Is it a chart directory, and nothing but a chart in it?"


def _entries(directory: Path, prefix: str) -> Iterator[tuple[str, Path]]:
    """Yield everything below a directory; symbolic links are followed, up to `CHART_DEPTH` levels."""
    if prefix.count("/") > CHART_DEPTH:
        raise SourceError(f"chart file {directory}: it is more than {CHART_DEPTH} directories deep. {_REMEDY}")
    for entry in directory.iterdir():
        if entry.name not in _NOT_CHART:
            yield f"{prefix}{entry.name}", entry
            if entry.is_dir():
                yield from _entries(entry, f"{prefix}{entry.name}/")


def uses_capabilities(path: Path) -> bool:
    """Return whether templates of a chart may use `.Capabilities`; true if a subchart is a package."""
    # `kubeVersion` in Chart.yaml does not count.
    inside = (file for name, file in files(path) if name.endswith(".tgz") or "templates/" in name)
    return any(file.suffix == ".tgz" or b"Capabilities" in file.read_bytes() for file in inside)
