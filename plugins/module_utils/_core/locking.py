# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""File locks between processes; a process that waits for one prints a line."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import ConflictError


@contextlib.contextmanager
def locked(path: Path, what: str, say: Callable[[str], None], *, timeout: float = 1800) -> Iterator[int]:
    """Hold an exclusive lock on `path`, and yield its file descriptor. The holder may remove the file.

    The kernel releases the lock when this process and all that inherited the descriptor have exited.

    Raises:
        ConflictError: another process still holds it after `timeout` seconds.
    """
    deadline = time.monotonic() + timeout
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+", encoding="utf-8") as file:
            _acquire(file.fileno(), path, what, say, deadline)
            # If the former holder removed the file, this lock is on a file that no other process opens.
            if not _is_current(file.fileno(), path):
                continue
            yield file.fileno()
            return


def _is_current(descriptor: int, path: Path) -> bool:
    try:
        return os.fstat(descriptor).st_ino == path.stat().st_ino
    except FileNotFoundError:
        return False


def _acquire(descriptor: int, path: Path, what: str, say: Callable[[str], None], deadline: float) -> None:
    waited = False
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = _holder(path)
            if time.monotonic() > deadline:
                raise ConflictError(f"{what}: process {holder} still holds {path}; end it or wait") from None
            if not waited:
                say(f"{what}: another run is at work (process {holder}); waiting for it")
            waited = True
            time.sleep(0.2)
            continue
        os.ftruncate(descriptor, 0)
        os.write(descriptor, str(os.getpid()).encode())
        return


def _holder(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip() or "unknown"
    except OSError:
        return "unknown"
