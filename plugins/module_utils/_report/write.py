# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Write `run.json` and `report.html` of a run atomically, and only when they change."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import json
import operator
import os
import time
import typing as t
from collections.abc import Callable, Iterator
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import StorageError
from ansible_collections.mlops.eks.plugins.module_utils._core.files import SHARED, mode_of, write_atomically
from ansible_collections.mlops.eks.plugins.module_utils._core.names import check_options
from ansible_collections.mlops.eks.plugins.module_utils._core.secret_redaction import redacted
from ansible_collections.mlops.eks.plugins.module_utils._core.storage import storage_error
from ansible_collections.mlops.eks.plugins.module_utils._report.collect import collect, run_directory
from ansible_collections.mlops.eks.plugins.module_utils._report.html import render

RECORD, PAGE = "run.json", "report.html"
# The old and the new content by file name.
Changes = dict[str, tuple[str | None, str]]


@redacted
def report(runs_dir: Path, run_id: str, *, check: bool, diff: bool, say: Callable[[str], None]) -> dict[str, t.Any]:
    """Bring the report of a run up to date and return the task's result.

    Hosts of one play may call this at the same time: each reads and writes under a lock on the run directory. A call
    that waited while another one began to read returns the result of that one, so that two hundred clusters that end
    together write the report a few times.

    Raises:
        InvalidInputError: there is no such run, or the name is not valid.
        MissingToolError: Jinja is not installed where this runs.
        StorageError: the directory cannot be read or written; an earlier report stays.
    """
    check_options("run_report", {"run_id": run_id, "runs_dir": str(runs_dir)})
    asked = time.time_ns()
    try:
        directory = run_directory(runs_dir, run_id)
        with _locked(directory):
            known = None if check or diff else _outcome_since(asked, directory)
            mode = _mode(directory)
            outcome, changes = (known, {}) if known else _bring_up_to_date(directory, mode, check=check)
    except (StorageError, OSError) as error:
        found = error if isinstance(error, StorageError) else storage_error(Path(error.filename or runs_dir), error)
        # The role that runs a pipeline ignores this error, so that the outcome of the run stays visible.
        say(f"report | {run_id} | not written: {found} The task mlops.eks.run_report writes it later.")
        raise StorageError(f"Cannot report run {run_id!r}: {found}", path=found.path) from error
    if changes:
        say(f"report | {run_id} | {outcome} | {directory / PAGE}")
    differences = [_difference(directory / name, *change, mode) for name, change in changes.items()]
    shown = {"diff": differences} if diff else {}
    return {
        "changed": bool(changes),
        "run_id": run_id,
        "outcome": outcome,
        "record": str(directory / RECORD),
        "report": str(directory / PAGE),
        **shown,
    }


def _mode(directory: Path) -> int:
    """Return the permissions of the report: those that all its records have, as the record of a step may be private."""
    return functools.reduce(operator.and_, map(mode_of, directory.glob("*/*/step.json")), SHARED)


def _bring_up_to_date(directory: Path, mode: int, *, check: bool) -> tuple[str, Changes]:
    begun = time.time_ns()
    collected = collect(directory)
    wanted = {RECORD: json.dumps(collected.document, indent=2) + "\n", PAGE: render(collected.run)}
    changes = {
        name: (before, after) for name, after in wanted.items() if (before := _current(directory / name)) != after
    }
    if not check:
        for name, (_before, after) in changes.items():
            write_atomically(directory / name, after, mode=mode)
        for name in wanted:
            # A later step may be private.
            if (wider := mode_of(directory / name)) & ~mode:
                (directory / name).chmod(wider & mode)
        os.utime(directory / RECORD, ns=(begun, begun))
    return collected.run.outcome, changes


def _outcome_since(asked: int, directory: Path) -> str | None:
    """Return the outcome in `run.json` if it is as new as `asked`: its mtime is when the reading of records began."""
    record = directory / RECORD
    try:
        # A time in the future means that the clock was set back.
        if not asked <= record.stat().st_mtime_ns <= time.time_ns():
            return None
        return str(json.loads(record.read_text(encoding="utf-8"))["outcome"])
    except FileNotFoundError:
        return None


@contextlib.contextmanager
def _locked(directory: Path) -> Iterator[None]:
    """Lock the run directory itself, so that no lock file remains in it."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        # Some network file systems cannot lock a directory; each write is atomic there too.
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _current(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8", errors="replace")
    except FileNotFoundError:
        return None


def _difference(path: Path, before: str | None, after: str, mode: int) -> dict[str, str]:
    """Return a diff: the content of `run.json`, but only size and digest of the page and of a private record."""
    show = str if path.name == RECORD and mode & 0o077 else _digest
    return {
        "before_header": str(path),
        "after_header": str(path),
        "before": "" if before is None else show(before),
        "after": show(after),
    }


def _digest(text: str) -> str:
    raw = text.encode()
    return f"{len(raw)} bytes, sha256 {hashlib.sha256(raw).hexdigest()}\n"
