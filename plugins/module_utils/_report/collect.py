# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Read a run directory. A missing or broken record becomes a warning in the report, not an error."""

from __future__ import annotations

import json
import math
import os
import re
import typing as t
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.bounds import RECORD, read
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._core.step_record import SCHEMA
from ansible_collections.mlops.eks.plugins.module_utils._core.text import listed
from ansible_collections.mlops.eks.plugins.module_utils._report import parse
from ansible_collections.mlops.eks.plugins.module_utils._report.model import Cluster, Run, Step

_STEP_DIRECTORY = re.compile(r"(\d{2,})-(.+)")
_MOST_RUNS = 8


@dataclass(frozen=True, kw_only=True)
class Collected:
    """A run as the page shows it, and the content of `run.json`, which has the records unchanged."""

    run: Run
    document: dict[str, t.Any]


@dataclass(frozen=True, kw_only=True)
class _RecordedStep:
    record: dict[str, t.Any]
    step: Step


def run_directory(runs_dir: Path, run_id: str) -> Path:
    """Return the directory of run `run_id`.

    Raises:
        InvalidInputError: there is no such run; the message lists the existing runs, newest first.
    """
    if not runs_dir.is_dir():
        raise InvalidInputError(
            f"Cannot report run {run_id!r}: directory {runs_dir} does not exist. "
            "Set runs_dir to the directory that holds the runs."
        )
    known = sorted((entry.name for entry in runs_dir.iterdir() if _is_run(entry)), reverse=True)
    if run_id in known:
        return runs_dir / run_id
    existing = f"it has {listed(known, _MOST_RUNS, rest='older')}" if known else "it has no runs yet"
    raise InvalidInputError(f"Cannot report run {run_id!r}: {runs_dir} has no such run; {existing}.", runs=known)


def collect(directory: Path) -> Collected:
    """Read every step record below the run directory."""
    reports = frozenset(path.parent.name for path in directory.parent.glob("*/report.html"))
    found = [(entry.name, _steps(entry, directory.name, reports)) for entry in _directories(directory)]
    clusters = [(_cluster(name, steps), steps) for name, steps in found if steps]
    run = Run(run_id=parse.clean(directory.name), clusters=tuple(cluster for cluster, _ in clusters))
    document = {
        "schema": SCHEMA,
        "run_id": run.run_id,
        "pipeline": run.pipeline,
        "started": run.started.isoformat() if run.started else None,
        "finished": run.finished.isoformat() if run.finished else None,
        "outcome": run.outcome,
        "clusters": [
            {
                "name": cluster.name,
                "namespace": cluster.namespace,
                "release": cluster.release,
                "outcome": cluster.outcome,
                "steps": [one.record for one in steps],
            }
            for cluster, steps in clusters
        ],
    }
    return Collected(run=run, document=document)


def _is_run(entry: Path) -> bool:
    return not entry.name.startswith(".") and entry.is_dir()


def _directories(parent: Path) -> list[Path]:
    return sorted(entry for entry in parent.iterdir() if _is_run(entry))


def _cluster(directory: str, steps: list[_RecordedStep]) -> Cluster:
    named = (parse.clean(one.record.get("cluster")) for one in steps)
    return Cluster(name=next(filter(None, named), parse.clean(directory)), steps=tuple(one.step for one in steps))


def _steps(cluster: Path, run_id: str, reports: frozenset[str]) -> list[_RecordedStep]:
    found = [
        _step(entry, run_id, int(match[1]), match[2], reports)
        for entry in _directories(cluster)
        if (match := _STEP_DIRECTORY.fullmatch(entry.name))
    ]
    return sorted(found, key=lambda one: one.step.index)


def _step(directory: Path, run_id: str, index: int, name: str, reports: frozenset[str]) -> _RecordedStep:
    """Read one step. If its record cannot be read, the name of its directory gives cluster, index and name."""
    cluster = directory.parent.name
    record, problem = _read(directory / "step.json")
    if problem:
        record = {"schema": SCHEMA, "run_id": run_id, "cluster": cluster, "step": name, "outcome": "running"}
        record |= {"index": index, "warnings": [problem]}
    stated = {**record, "step": record.get("step") or name, "index": index}
    step = parse.step(stated, directory=f"{cluster}/{directory.name}", files=_files(directory), runs=reports)
    return _RecordedStep(record=record, step=step)


def _read(path: Path) -> tuple[dict[str, t.Any], str]:
    """Return a record, and one sentence about what is wrong with it."""
    try:
        content = read(path, RECORD, what="step.json").decode(errors="replace")
        record = json.loads(content, parse_constant=lambda _name: None, parse_float=_finite)
    except FileNotFoundError:
        return {}, "The step left no step.json: it was interrupted before its first record."
    except InvalidInputError as error:
        return {}, str(error)
    except OSError as error:
        return {}, f"step.json cannot be read: {error.strerror}."
    except (ValueError, RecursionError):
        return {}, "step.json is not JSON: another program wrote it, or the disk was full."
    if not isinstance(record, dict):
        return {}, "step.json does not hold a mapping: another program wrote it."
    return record, ""


def _finite(text: str) -> float | None:
    """Keep `run.json` valid: 1e999 parses as infinity, which JSON does not have."""
    return value if math.isfinite(value := float(text)) else None


def _files(directory: Path) -> frozenset[str]:
    return frozenset(_walk(directory, ""))


def _walk(directory: Path, prefix: str) -> Iterator[str]:
    try:
        entries = list(os.scandir(directory))
    except OSError:
        return
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(directory / entry.name, f"{prefix}{entry.name}/")
        elif entry.is_file():
            yield prefix + entry.name
