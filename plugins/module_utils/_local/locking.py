# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""One writer at a time, across processes; who waits says so."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import ConflictError


@contextlib.contextmanager
def locked(path: Path, what: str, say: Callable[[str], None], *, timeout: float = 1800) -> Iterator[None]:
    """Hold an exclusive lock on `path` (created, never removed: removing it would let two writers in).

    The kernel releases it when this process dies, however it dies.

    Raises:
        ConflictError: another process held it for `timeout` seconds.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+", encoding="utf-8") as file:
        _acquire(file.fileno(), path, what, say, timeout)
        yield


def _acquire(descriptor: int, path: Path, what: str, say: Callable[[str], None], timeout: float) -> None:
    deadline = time.monotonic() + timeout
    waited = False
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = _holder(path)
            if time.monotonic() > deadline:
                raise ConflictError(
                    f"{what}: process {holder} holds {path} for more than {timeout:.0f} s; end it or wait"
                ) from None
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
