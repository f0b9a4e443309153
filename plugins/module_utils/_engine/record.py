# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The step record `step.json`: who writes it, and the task result that is made of it.

It is rewritten at every phase change, so that it is up to date when a run is interrupted. `_core/step_record.py`
has its schema.
"""

from __future__ import annotations

import contextlib
import socket
import typing as t
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import Clock, from_iso, iso
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import StorageError
from ansible_collections.mlops.eks.plugins.module_utils._core.files import to_json, write_atomically
from ansible_collections.mlops.eks.plugins.module_utils._core.step_record import (
    Container,
    Phase,
    Pod,
    Resource,
    StepRecord,
)
from ansible_collections.mlops.eks.plugins.module_utils._core.storage import REPEAT, RETRY
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.causes import Cause
from ansible_collections.mlops.eks.plugins.module_utils._follow.state import State
from ansible_collections.mlops.eks.plugins.module_utils._kube import pods as pod_view
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.table import Kind
from ansible_collections.mlops.eks.plugins.module_utils._logs.sinks import LogFile
from ansible_collections.mlops.eks.plugins.module_utils._plan.task import Task

Record = dict[str, t.Any]
# Fields of the record that a task returns to Ansible.
_RETURNED = (
    *("outcome", "cause", "identity", "run_id", "workload", "phases"),
    *("progress", "restarts", "attempt", "attempts", "log_tail"),
)
# Lines of the failing container's log that are printed; the result has more, the evidence all.
_PRINTED = 20
# What the step does meanwhile, for the message about evidence that cannot be written.
FOLLOWING = "following goes on, and what is missing is read again from the kubelet when there is room"
KEEPING = (
    "the step has ended; its pods stay until the evidence is whole. After Ctrl-C the same command goes on from here"
)


@dataclass(kw_only=True)
class Journal:
    """The record of one step, in memory and on disk."""

    task: Task
    started: float
    fields: Record = field(default_factory=dict)

    def begin(self, *, reattached: bool) -> None:
        """Write the record of an attempt, before anything is installed; errors as `write`."""
        queued = Phase(name="queued", started=iso(self.started), finished=None)
        self.write(reattached=reattached, phases=[asdict(queued)])

    def write(self, **changes: t.Any) -> Record:
        """Merge `changes` into the record and store it.

        Raises:
            StorageError: it cannot be stored; the file stays as it was, and the next call stores these changes too.
        """
        self.fields.update(changes)
        record = self._record()
        write_atomically(self.file, to_json(record), private=self.task.private)
        return record

    def note(self, **changes: t.Any) -> Record:
        """Merge `changes` into the record, and store it if there is room."""
        return self.task.storage.try_write(self.file, lambda: self.write(**changes)) or self._record()

    def _record(self) -> Record:
        return self.task.mask.document({**self._initial(), **self.fields})

    def _initial(self) -> Record:
        """Return the record of a step that has not started."""
        task = self.task
        record = StepRecord(
            run_id=task.run_id,
            cluster=task.cluster,
            namespace=task.namespace,
            release=task.release,
            helm_release=task.helm_release,
            pipeline=task.pipeline,
            step=task.step,
            index=task.index,
            total=task.total,
            chart=task.chart,
            recipes=list(task.recipes),
            controller=socket.gethostname(),
            started=iso(self.started),
        )
        return asdict(record)

    @property
    def file(self) -> Path:
        """Path of the record."""
        return self.task.evidence / "step.json"


@dataclass(kw_only=True)
class Writer:
    """Writes the evidence of a step that must be on disk before the pods are removed.

    With `waits_for_room` it waits while the disk is full, until `lost` returns that another controller has taken over.
    It does not wait where pods stay anyway, nor before a rollback.
    """

    task: Task
    clock: Clock
    say: Callable[[str], None]
    lost: Callable[[], bool] = lambda: False
    waits_for_room: bool = True
    _recorded: bool = field(default=False, init=False)

    def report(self, at: float, meanwhile: str, *, every: float = REPEAT) -> None:
        """Print what cannot be written, and what the step does `meanwhile`, at most once in `every` seconds."""
        if message := self.task.storage.status_line(at, meanwhile, every=every):
            self.say(f"{self.task.place}: {message}")

    def wait(self, meanwhile: str = KEEPING) -> bool:
        """Print why the step waits, and wait a moment; return whether to try again."""
        if not self.waits_for_room or self.lost():
            return False
        self.report(self.clock.now(), meanwhile)
        self.clock.sleep(RETRY)
        return not self.lost()

    def retry_write(self, write: Callable[[], t.Any], meanwhile: str = KEEPING) -> None:
        """Write a part of the evidence as soon as there is room for it.

        Raises:
            StorageError: there is no room, and the writer does not wait for it.
        """
        self.task.storage.retry_write(self.task.evidence, write, partial(self.wait, meanwhile))

    def record(self, journal: Journal, **fields: t.Any) -> Record:
        """Write the record of a step that has ended; the first call waits for room."""
        if not self._recorded:
            with contextlib.suppress(StorageError):
                self.retry_write(partial(journal.write, **fields))
        self._recorded, record = True, journal.note(**fields)
        if self.task.storage.error is None:
            self.report(self.clock.now(), "")
        return record


def phases(state: State, finished: float | None) -> list[Record]:
    """Return the phases of the workload; each ends when the next one starts."""
    entered = sorted(state.phases.items(), key=lambda entry: entry[1])
    ends = [at for _, at in entered[1:]] + [finished]
    return [
        asdict(Phase(name=name, started=iso(at), finished=None if end is None else iso(max(at, end))))
        for (name, at), end in zip(entered, ends, strict=True)
    ]


def course(state: State) -> Record:
    """Return the progress of the program and its number of restarts."""
    return {"progress": state.progress.to_record() if state.progress else None, "restarts": state.restarts}


def pods(state: State, kind: Kind, logs: Mapping[tuple[str, str], LogFile]) -> list[Record]:
    """Return every pod ever seen, with its containers and their log files."""
    return [asdict(_pod(pod, kind, logs)) for _, pod in sorted(state.pods.items())]


def _pod(pod: Document, kind: Kind, logs: Mapping[tuple[str, str], LogFile]) -> Pod[str]:
    name = pod_view.name(pod)
    found = list(pod_view.containers(pod))
    return Pod(
        name=name,
        role=kind.role(pod),
        node=pod_view.node(pod),
        phase=pod_view.phase(pod),
        created=pod["metadata"].get("creationTimestamp"),
        started=(pod.get("status") or {}).get("startTime"),
        finished=_finished(found),
        requests=pod_view.requests(pod),
        containers=[_container(container, logs.get((name, container.name))) for container in found],
    )


def _container(container: pod_view.Container, log: LogFile | None) -> Container[str]:
    return Container(
        name=container.name,
        image=container.image,
        state=container.state,
        reason=container.reason,
        exit_code=container.exit_code,
        restarts=container.restarts,
        started=container.started or container.ended.get("startedAt"),
        finished=container.finished,
        log=log.file if log else None,
        log_lines=log.lines if log else 0,
        log_bytes=log.bytes if log else 0,
        log_gap=log.gap if log else "",
    )


def _finished(containers: list[pod_view.Container]) -> str | None:
    ends = [container.finished for container in containers if container.finished]
    return max(ends) if ends and len(ends) == len(containers) else None


def resources(records: list[Record], finished: float) -> dict[str, dict[str, float]]:
    """Return what the pods requested: `{resource: {requested: at the peak, seconds: request x seconds held}}`."""
    seconds: dict[str, float] = {}
    steps: list[tuple[float, str, float]] = []
    for pod in records:
        if not pod["started"]:
            continue
        begun, ended = from_iso(pod["started"]), from_iso(pod["finished"]) if pod["finished"] else finished
        for resource, amount in pod["requests"].items():
            seconds[resource] = round(seconds.get(resource, 0.0) + amount * max(0.0, ended - begun), 3)
            # Times are in whole seconds: a pod that ended in its first second is counted too.
            steps += [(begun, resource, amount), (max(begun + 0.001, ended), resource, -amount)]
    held, peak = dict.fromkeys(seconds, 0.0), dict.fromkeys(seconds, 0.0)
    # Ends before starts at the same second: a second attempt follows the first.
    for _, resource, amount in sorted(steps, key=lambda step: (step[0], step[2])):
        held[resource] += amount
        peak[resource] = max(peak[resource], round(held[resource], 9))
    return {name: asdict(Resource(requested=peak[name], seconds=seconds[name])) for name in seconds}


def cause(found: Cause | None) -> Record | None:
    """Return a cause as plain data."""
    return found.to_record() if found else None


def log_tail_lines(cause: Cause | None) -> list[str]:
    """Return the last lines of the failing container's log, with a heading."""
    if cause is None or not cause.log_tail:
        return []
    return [f"last lines of {cause.object} ({cause.container}):", *(f"  {line}" for line in cause.log_tail[-_PRINTED:])]


def result(record: Record, task: Task, *, changed: bool, msg: str, failed: bool = False, **more: t.Any) -> Record:
    """Return the task result of a step; `failed` is a key of it only when it is true."""
    shown = {key: record.get(key) for key in _RETURNED}
    base: Record = {"changed": changed, "msg": msg, "evidence": str(task.evidence), **shown, **more}
    # Ansible gives `warnings` a meaning of its own.
    base["events"] = record["warnings"]
    return {**base, "failed": True} if failed else base
