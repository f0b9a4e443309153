# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Turn one step record, however incomplete or odd, into a `Step`. Pure; never raises on what a record holds."""

from __future__ import annotations

import math
import re
import typing as t
from collections.abc import Collection, Mapping
from datetime import UTC, datetime

from ansible_collections.mlops.eks.plugins.module_utils._core.text import plain
from ansible_collections.mlops.eks.plugins.module_utils._report.model import (
    SEVERITY,
    Attempt,
    Cause,
    Container,
    Evidence,
    Phase,
    Pod,
    Progress,
    Resource,
    Step,
)

Record = Mapping[str, t.Any]

PHASES = ("queued", "pulling", "running", "finishing")
TAIL_LINES = 40
LINE_LENGTH = 2000

_EARLIER_RUN = re.compile(r"\bin run ([\w.-]+)")


def clean(value: object) -> str:
    """Return `value` as printable text; anything but a string or a number is the empty string."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return ""
    return plain(str(value))


def tail(value: object) -> tuple[str, ...]:
    """Return the last log lines as a terminal would leave them: of a progress bar, only its last state."""
    lines = [line for item in _list(value) if isinstance(item, str) for line in item.rstrip("\r\n").split("\n")]
    drawn = [clean(line.rstrip("\r").rpartition("\r")[2]) for line in lines[-TAIL_LINES:]]
    return tuple(line if len(line) <= LINE_LENGTH else line[:LINE_LENGTH] + " …" for line in drawn)


def moment(value: object) -> datetime | None:
    """Return an ISO 8601 moment in UTC; `None` when it is not one. A moment without a zone is UTC."""
    if not isinstance(value, str):
        return None
    try:
        parsed = datetime.fromisoformat(value)
        return parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def number(value: object, default: float = 0.0) -> float:
    """Return a finite number that is not negative, else `default`."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return default
    try:
        real = float(value)
    except OverflowError:
        return default
    return real if math.isfinite(real) and real >= 0 else default


def step(record: Record, *, directory: str, files: Collection[str], runs: Collection[str]) -> Step:
    """Return the step that `record` tells of.

    Args:
        record: the content of `step.json`.
        directory: the step's directory below the run directory, as `<cluster>/<NN>-<step>`.
        files: the paths of the files in that directory.
        runs: the ids of the runs beside this one that have a report.
    """
    outcome = record.get("outcome")
    because = clean(record.get("skipped_because"))
    pods = _pods(record, directory, files)
    return Step(
        name=clean(record.get("step")),
        index=int(number(record.get("index"))),
        total=int(number(record.get("total"))),
        outcome=outcome if outcome in SEVERITY else "running",
        namespace=clean(record.get("namespace")),
        release=clean(record.get("release")),
        pipeline=clean(record.get("pipeline")),
        chart=clean(record.get("chart")),
        chart_version=clean(record.get("chart_version")),
        recipes=tuple(filter(None, map(clean, _list(record.get("recipes"))))),
        identity=clean(record.get("identity")),
        workload="/".join(filter(None, (clean(_dict(record.get("workload")).get(key)) for key in ("kind", "name")))),
        controller=clean(record.get("controller")),
        **_course(record, directory, files),
        started=moment(record.get("started")),
        finished=moment(record.get("finished")),
        skipped_because=because,
        skipped_report=_earlier_report(because, runs),
        cause=_cause(record.get("cause"), pods),
        phases=_phases(record),
        pods=pods,
        resources=_resources(record),
        log_tail=tail(record.get("log_tail")),
        warnings=tuple(filter(None, map(clean, _list(record.get("warnings"))))),
        evidence=tuple(Evidence(name=name, path=f"{directory}/{name}") for name in sorted(files, key=_evidence_order)),
    )


def _course(record: Record, directory: str, files: Collection[str]) -> dict[str, t.Any]:
    """Return the fields of a step that tell how it went: in how many attempts, how often started again, how far."""
    return {
        "attempt": int(number(record.get("attempt"), 1)),
        "attempts": _attempts(record, directory, files),
        "restarts": int(number(record.get("restarts"))),
        "progress": _progress(record.get("progress")),
        "reattached": record.get("reattached") is True,
    }


def _attempts(record: Record, directory: str, files: Collection[str]) -> tuple[Attempt, ...]:
    found = []
    for one in map(_dict, _list(record.get("attempts"))):
        outcome, place = one.get("outcome"), f"attempt-{int(number(one.get('attempt')))}/"
        attempt = Attempt(
            number=int(number(one.get("attempt"))),
            outcome=outcome if outcome in SEVERITY else "failed",
            started=moment(one.get("started")),
            finished=moment(one.get("finished")),
            reason=clean(one.get("reason")),
            object=clean(one.get("object")),
            message=clean(one.get("message")),
            run=clean(one.get("run_id")),
            evidence=f"{directory}/{place}" if any(name.startswith(place) for name in files) else None,
        )
        found.append(attempt)
    return tuple(found)


def _progress(value: object) -> Progress | None:
    said = _dict(value)
    return Progress(done=number(said.get("done")), total=number(said.get("total"))) if said else None


def _evidence_order(name: str) -> tuple[bool, str]:
    return name.startswith("logs/"), name


def _earlier_report(because: str, runs: Collection[str]) -> str | None:
    found = _EARLIER_RUN.search(because)
    return f"../{found[1]}/report.html" if found and found[1] in runs else None


def _cause(value: object, pods: tuple[Pod, ...]) -> Cause | None:
    record = _dict(value)
    if not record:
        return None
    subject, container = clean(record.get("object")), clean(record.get("container"))
    kept = {(f"Pod/{pod.name}", one.name): one.log for pod in pods for one in pod.containers}
    return Cause(
        reason=clean(record.get("reason")),
        object=subject,
        container=container,
        message=clean(record.get("message")),
        remedy=clean(record.get("remedy")),
        log_tail=tail(record.get("log_tail")),
        log=kept.get((subject, container)),
    )


def _phases(record: Record) -> tuple[Phase, ...]:
    found = [
        Phase(name=name, started=started, finished=moment(item.get("finished")))
        for item in map(_dict, _list(record.get("phases")))
        if (name := item.get("name")) in PHASES and (started := moment(item.get("started"))) is not None
    ]
    return tuple(sorted(found, key=lambda phase: phase.started))


def _pods(record: Record, directory: str, files: Collection[str]) -> tuple[Pod, ...]:
    return tuple(
        Pod(
            name=clean(pod.get("name")),
            role=clean(pod.get("role")),
            node=clean(pod.get("node")),
            phase=clean(pod.get("phase")),
            started=moment(pod.get("started")),
            finished=moment(pod.get("finished")),
            requests={clean(name): number(amount) for name, amount in _dict(pod.get("requests")).items()},
            containers=tuple(
                _container(item, directory, files) for item in map(_dict, _list(pod.get("containers"))) if item
            ),
        )
        for pod in map(_dict, _list(record.get("pods")))
        if pod
    )


def _container(record: Record, directory: str, files: Collection[str]) -> Container:
    code, lines, log = record.get("exit_code"), record.get("log_lines"), record.get("log")
    return Container(
        name=clean(record.get("name")),
        image=clean(record.get("image")),
        state=clean(record.get("state")),
        reason=clean(record.get("reason")),
        exit_code=code if isinstance(code, int) and not isinstance(code, bool) else None,
        restarts=int(number(record.get("restarts"))),
        log=f"{directory}/{log}" if isinstance(log, str) and log in files else None,
        log_lines=int(number(lines)) if lines is not None else None,
    )


def _resources(record: Record) -> dict[str, Resource]:
    return {
        clean(name): Resource(requested=number(item.get("requested")), seconds=number(item.get("seconds")))
        for name, item in sorted((str(key), _dict(value)) for key, value in _dict(record.get("resources")).items())
        if item
    }


def _list(value: object) -> list[t.Any]:
    return value if isinstance(value, list) else []


def _dict(value: object) -> dict[str, t.Any]:
    return value if isinstance(value, dict) else {}
