# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Export a cluster's Lustre file systems to S3, and verify that every file was exported."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

from ansible_collections.mlops.eks.plugins.module_utils._aws import lustre
from ansible_collections.mlops.eks.plugins.module_utils._aws.lustre import Lustre
from ansible_collections.mlops.eks.plugins.module_utils._aws.session import Aws, Reply
from ansible_collections.mlops.eks.plugins.module_utils._core.clock import Clock, human
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import ConflictError, DeniedError
from ansible_collections.mlops.eks.plugins.module_utils._core.names import checked
from ansible_collections.mlops.eks.plugins.module_utils._core.secret_redaction import redacted
from ansible_collections.mlops.eks.plugins.module_utils._core.waiting import Waiting

Say = Callable[[str], None]
_USABLE = ("AVAILABLE", "UPDATING")
_ENDED = ("SUCCEEDED", "FAILED", "CANCELED")


@redacted
@checked("fsx_export")
def fsx_export(params: Mapping[str, t.Any], *, check: bool, say: Say, clock: Clock | None = None) -> dict[str, t.Any]:
    """Export the Lustre file systems of a cluster, all at once.

    Raises:
        ConflictError: files would be lost with a file system, or an export did not write all of them to S3.
    """
    aws = Aws(region=params["region"], profile=params["profile"])
    systems = lustre.file_systems(aws, params["name"])
    problems = [problem for system in systems for problem in _problems(system, discard=params["discard_unexported"])]
    if problems:
        raise ConflictError("; ".join(problems), problems=problems)
    wanted = [system for system in systems if system.exported]
    rows = [{"file_system": system.identifier, "paths": [one.path for one in system.exported]} for system in wanted]
    if check:
        for system in wanted:
            say(f"would export {system} to {_where(system)}")
        return {"changed": bool(wanted), "exports": rows}
    run = _Export(aws, say, clock or Clock(), params["timeout"])
    with ThreadPoolExecutor(max(1, len(wanted))) as pool:
        done = list(pool.map(run.export, wanted))
    return {"changed": bool(wanted), "exports": [row | ended for row, ended in zip(rows, done, strict=True)]}


def _problems(system: Lustre, *, discard: bool) -> Iterator[str]:
    """Yield the reasons why a file system cannot be exported to S3, each with the remedy."""
    if system.lifecycle not in _USABLE and system.exported:
        why = f": {system.failure}" if system.failure else ""
        yield f"{system} is {system.lifecycle}{why}. Its files cannot be exported now; repair it, then run this again"
    for entry in system.exported:
        if entry.lifecycle not in _USABLE:
            why = f": {entry.failure}" if entry.failure else ""
            yield (
                f"{system}: {entry.identifier}, which associates {entry.path} with {entry.uri}, is {entry.lifecycle}"
                f"{why}. Repair the bucket or its policy, then run this again"
            )
    if not system.whole and not discard:
        paths = ", ".join(entry.path for entry in system.exported)
        what = f"nothing outside of {paths}" if paths else "nothing of it"
        yield (
            f"{system}: {what} is exported to S3 and would be lost. Copy what you need, then allow the loss of the"
            " rest: discard_unexported"
        )


def _where(system: Lustre) -> str:
    return ", ".join(entry.uri for entry in system.exported)


class _Export(t.NamedTuple):
    """The exports of one run."""

    aws: Aws
    say: Say
    clock: Clock
    timeout: float

    def export(self, system: Lustre) -> dict[str, t.Any]:
        """Export one file system, or follow the export that an interrupted run started. Return task and file count."""
        waiting = Waiting(self.say, self.clock, self.timeout)
        task = lustre.running_export(self.aws, system)
        verb = "follows the export" if task else "exports"
        task = task or lustre.start_export(self.aws, system)
        self.say(f"{system}: {verb} to {_where(system)} ({task['TaskId']})")
        task = self._follow(system, task, waiting)
        files = _files(task)
        self._check(system, task)
        self._drain(system, waiting)
        self.say(f"{system}: {files['SucceededCount']} files exported, none failed")
        return {"task": task["TaskId"], "files": files["SucceededCount"]}

    def _follow(self, system: Lustre, task: Reply, waiting: Waiting) -> Reply:
        while task["Lifecycle"] not in _ENDED:
            if waiting.over:
                raise ConflictError(
                    f"{system}: its export {task['TaskId']} is not finished after {human(self.timeout)}; it goes on."
                    " Run the same command again to follow it.",
                    task=task["TaskId"],
                )
            files, state = _files(task), task["Lifecycle"].lower()
            waiting.pause(f"{system}: export {state}, {files['SucceededCount']} of {files['TotalCount']} files")
            task = lustre.task(self.aws, task["TaskId"])
        return task

    def _check(self, system: Lustre, task: Reply) -> None:
        failed = _files(task)["FailedCount"]
        if task["Lifecycle"] == "SUCCEEDED" and not failed:
            return
        number, state, why = task["TaskId"], task["Lifecycle"].lower(), lustre.failure(task)
        raise ConflictError(
            f"{system}: its export {number} {state}{f': {why}' if why else ''}; {failed} files failed. They are in"
            f" {lustre.reports(system)}/task-{number}/failures.csv. Repair that, then run this again.",
            task=number,
            failed_files=failed,
        )

    def _drain(self, system: Lustre, waiting: Waiting) -> None:
        """Wait until the automatic export of changes and deletions is complete."""
        while (age := self._age(system)) > 0:
            if waiting.over:
                raise ConflictError(
                    f"{system}: changes still wait for their automatic export, the oldest for {human(age)}."
                    " Run the same command again later."
                )
            waiting.pause(f"{system}: changes still wait for their automatic export")

    def _age(self, system: Lustre) -> float:
        try:
            return lustre.oldest_queued(self.aws, system, self.clock.now())
        except DeniedError as error:
            self.say(
                f"{system}: cannot look at the queue of automatic exports; the export itself was complete. {error}"
            )
            return 0.0


def _files(task: Reply) -> dict[str, int]:
    found = task.get("Status") or {}
    return {key: int(found.get(key) or 0) for key in ("TotalCount", "SucceededCount", "FailedCount")}
