# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Turn one step record (`step.json`) into a `Step`. Pure; tolerates any content of the record.

The type of a field in `_core/step_record.py` decides how its key is read. The code here reads only the fields for which
that is not so.
"""

from __future__ import annotations

import math
import re
import typing as t
from collections.abc import Callable, Collection, Mapping
from dataclasses import fields
from datetime import UTC, datetime

from ansible_collections.mlops.eks.plugins.module_utils._core.step_record import PHASES, SEVERITY, Resource, Workload
from ansible_collections.mlops.eks.plugins.module_utils._core.text import plain
from ansible_collections.mlops.eks.plugins.module_utils._report.model import (
    Attempt,
    Cause,
    Container,
    Evidence,
    Phase,
    Pod,
    Progress,
    Step,
)

Record = Mapping[str, t.Any]
_T = t.TypeVar("_T")

TAIL_LINES = 40
LINE_LENGTH = 2000

_EARLIER_RUN = re.compile(r"\bin run ([\w.-]+)")


def clean(value: object) -> str:
    """Return `value` as printable text; anything but a string or a number is the empty string."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return ""
    return plain(str(value))


def tail(value: object) -> tuple[str, ...]:
    """Return the last log lines as a terminal shows them: only the last state of a progress bar."""
    lines = [line for item in _list(value) if isinstance(item, str) for line in item.rstrip("\r\n").split("\n")]
    drawn = [clean(line.rstrip("\r").rpartition("\r")[2]) for line in lines[-TAIL_LINES:]]
    return tuple(line if len(line) <= LINE_LENGTH else line[:LINE_LENGTH] + " …" for line in drawn)


def moment(value: object) -> datetime | None:
    """Return an ISO 8601 time in UTC; `None` if it is not one. A time without a zone is UTC."""
    if not isinstance(value, str):
        return None
    try:
        parsed = datetime.fromisoformat(value)
        return parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def number(value: object, default: float = 0.0) -> float:
    """Return a finite number of at least 0, else `default`."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return default
    try:
        real = float(value)
    except OverflowError:
        return default
    return real if math.isfinite(real) and real >= 0 else default


def _texts(value: object) -> tuple[str, ...]:
    return tuple(filter(None, map(clean, _list(value))))


_READERS: Mapping[object, Callable[[t.Any], t.Any]] = {
    "str": clean,
    "str | None": lambda value: clean(value) or None,
    "bool": lambda value: value is True,
    "int": lambda value: int(number(value)),
    "int | None": lambda value: value if isinstance(value, int) and not isinstance(value, bool) else None,
    "float": number,
    "float | None": lambda value: None if value is None else number(value),
    "Time | None": moment,
    "Sequence[str]": _texts,
    "Mapping[str, float]": lambda value: {clean(name): number(amount) for name, amount in _dict(value).items()},
    "Mapping[str, str] | None": lambda value: {clean(name): clean(text) for name, text in _dict(value).items()} or None,
}


def _read(kind: type[_T], record: Record, **special: t.Any) -> _T:
    """Return a `kind` with the fields in `special`, and each other field read by its type."""
    plain_fields = (field for field in fields(t.cast(t.Any, t.get_origin(kind) or kind)) if field.name not in special)
    return kind(**special, **{field.name: _READERS[field.type](record.get(field.name)) for field in plain_fields})


def step(record: Record, *, directory: str, files: Collection[str], runs: Collection[str]) -> Step:
    """Return a step.

    Args:
        record: the content of `step.json`.
        directory: the step's directory below the run directory, as `<cluster>/<NN>-<step>`.
        files: the paths of the files in that directory.
        runs: the ids of the other runs that have a report.
    """
    workload, pods = _read(Workload, _dict(record.get("workload"))), _pods(record, directory, files)
    return _read(
        Step,
        record,
        outcome=_outcome(record, "running"),
        workload=workload if str(workload) else None,
        attempt=int(number(record.get("attempt"), 1)),
        attempts=tuple(_attempt(_dict(one), directory, files) for one in _list(record.get("attempts"))),
        progress=_read(Progress, progress) if (progress := _dict(record.get("progress"))) else None,
        skipped_report=_earlier_report(clean(record.get("skipped_because")), runs),
        cause=_cause(_dict(record.get("cause")), pods),
        phases=_phases(record),
        pods=pods,
        resources=_resources(record),
        log_tail=tail(record.get("log_tail")),
        evidence=tuple(Evidence(name=name, path=f"{directory}/{name}") for name in sorted(files, key=_evidence_order)),
    )


def _outcome(record: Record, default: str) -> str:
    return outcome if (outcome := record.get("outcome")) in SEVERITY else default


def _attempt(record: Record, directory: str, files: Collection[str]) -> Attempt:
    place = f"attempt-{int(number(record.get('attempt')))}/"
    return _read(
        Attempt,
        record,
        outcome=_outcome(record, "failed"),
        evidence=f"{directory}/{place}" if any(name.startswith(place) for name in files) else None,
    )


def _evidence_order(name: str) -> tuple[bool, str]:
    return name.startswith("logs/"), name


def _earlier_report(because: str, runs: Collection[str]) -> str | None:
    found = _EARLIER_RUN.search(because)
    return f"../{found[1]}/report.html" if found and found[1] in runs else None


def _cause(record: Record, pods: tuple[Pod, ...]) -> Cause | None:
    if not record:
        return None
    logs = {(f"Pod/{pod.name}", one.name): one.log for pod in pods for one in pod.containers}
    log = logs.get((clean(record.get("object")), clean(record.get("container"))))
    return _read(Cause, record, log_tail=tail(record.get("log_tail")), log=log)


def _phases(record: Record) -> tuple[Phase, ...]:
    found = [
        Phase(name=name, started=started, finished=moment(item.get("finished")))
        for item in map(_dict, _list(record.get("phases")))
        if (name := item.get("name")) in PHASES and (started := moment(item.get("started"))) is not None
    ]
    return tuple(sorted(found, key=lambda phase: phase.started))


def _pods(record: Record, directory: str, files: Collection[str]) -> tuple[Pod, ...]:
    return tuple(
        _read(
            Pod,
            pod,
            containers=tuple(
                _container(item, directory, files) for item in map(_dict, _list(pod.get("containers"))) if item
            ),
        )
        for pod in map(_dict, _list(record.get("pods")))
        if pod
    )


def _container(record: Record, directory: str, files: Collection[str]) -> Container:
    log = record.get("log")
    return _read(Container, record, log=f"{directory}/{log}" if isinstance(log, str) and log in files else None)


def _resources(record: Record) -> dict[str, Resource]:
    return {
        clean(name): _read(Resource, item)
        for name, item in sorted((str(key), _dict(value)) for key, value in _dict(record.get("resources")).items())
        if item
    }


def _list(value: object) -> list[t.Any]:
    return value if isinstance(value, list) else []


def _dict(value: object) -> dict[str, t.Any]:
    return value if isinstance(value, dict) else {}
