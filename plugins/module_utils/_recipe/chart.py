# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Charts: found in the catalogue or a directory, with what the engine needs to know of each."""

from __future__ import annotations

import hashlib
import json
import os
import typing as t
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._core.nearest import did_you_mean
from ansible_collections.mlops.eks.plugins.module_utils._core.text import shown
from ansible_collections.mlops.eks.plugins.module_utils._recipe.source import load

CATALOGUE = Path(__file__).resolve().parents[3] / "charts"
# Prose and test inputs of a chart do not change what it installs.
_NOT_CONTENT = ("README.md", "ci", ".helmignore")


@dataclass(frozen=True, kw_only=True)
class Chart:
    """One chart directory.

    `serves` says that its workload ends ready and stays; `digest` is the SHA-256 of all that shapes what is installed.
    """

    ref: str
    path: Path
    name: str
    version: str
    digest: str
    serves: bool
    defaults: dict[str, t.Any]
    schema: dict[str, t.Any] | None


def find(ref: str, *, catalogue: Path = CATALOGUE, base: Path | None = None) -> Chart:
    """Return the chart `ref`: `<group>/<chart>` of the catalogue, or a directory (relative to `base`).

    Raises:
        InvalidInputError: there is no such chart, or its files are broken.
    """
    for candidate in (catalogue / ref, (base or Path.cwd()) / ref):
        # Not Path.is_file: a name too long for the file system is an error there.
        if os.path.isfile(candidate / "Chart.yaml"):  # noqa: PTH113
            return _read(ref, candidate.resolve())
    if "://" in ref:
        raise InvalidInputError(f"chart {ref!r}: only catalogue charts and directories are supported. Pull it first.")
    known = sorted(str(path.parent.relative_to(catalogue)) for path in catalogue.glob("*/*/Chart.yaml"))
    raise InvalidInputError(
        f"chart {shown(ref)}: not in the catalogue and not a chart directory.{did_you_mean(ref, known)}"
    )


def _read(ref: str, path: Path) -> Chart:
    meta = load(path / "Chart.yaml").data
    values = path / "values.yaml"
    schema = path / "values.schema.json"
    try:
        parsed = json.loads(schema.read_text(encoding="utf-8")) if schema.is_file() else None
    except ValueError as error:
        raise InvalidInputError(f"{schema}: not valid JSON: {error}.") from error
    return Chart(
        ref=ref,
        path=path,
        name=str(meta.get("name", path.name)),
        version=str(meta.get("version", "0")),
        digest=digest(path),
        serves=(meta.get("annotations") or {}).get("mlops.eks/until") == "ready",
        defaults=load(values, empty=True).data if values.is_file() else {},
        schema=parsed,
    )


def digest(path: Path) -> str:
    """Return the SHA-256 of a chart directory's content: names and bytes, symbolic links followed."""
    total = hashlib.sha256()
    for name, file in sorted(_files(path, "")):
        content = file.read_bytes()
        total.update(f"{name}\0{len(content)}\0".encode() + content)
    return total.hexdigest()


def _files(directory: Path, prefix: str) -> Iterator[tuple[str, Path]]:
    for entry in directory.iterdir():
        if entry.name in _NOT_CONTENT:
            continue
        if entry.is_dir():
            yield from _files(entry, f"{prefix}{entry.name}/")
        else:
            yield f"{prefix}{entry.name}", entry
