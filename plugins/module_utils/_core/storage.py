# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Files that cannot be written: which one, why, and what to do about it.

`Storage.retry_write` writes a file that must be on disk before the engine deletes its origin. `Storage.try_write`
writes any other file, and records a failure instead of raising it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import threading
import typing as t
from collections.abc import Callable, Iterator
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import StorageError

# What each error means, and what to do about it.
_KNOWN: dict[int, tuple[str, str]] = {
    errno.ENOSPC: ("no space left on device", "Free space there"),
    errno.EDQUOT: ("disk quota exceeded", "Free space there or ask for a larger quota"),
    errno.EROFS: ("the file system is read-only", "Mount it writable"),
    errno.EACCES: ("permission denied", "Let the user of ansible-playbook write there"),
    errno.EPERM: ("operation not permitted", "Let the user of ansible-playbook write there"),
    errno.ENOTDIR: ("a part of the path is not a directory", "Remove what is in the way"),
    errno.EEXIST: ("a part of the path is not a directory", "Remove what is in the way"),
    errno.EISDIR: ("it is a directory", "Remove what is in the way"),
    errno.ENAMETOOLONG: ("the name is too long", "Use a shorter path or shorter names"),
    errno.ENOENT: ("it was removed", "Let nobody remove it while a step runs"),
    errno.EFBIG: ("the file is too large", "Raise the limit of the size of files (ulimit -f)"),
    errno.EIO: ("input/output error", "Repair or replace the disk"),
    errno.ESTALE: ("the network file system lost it (stale file handle)", "Mount it again"),
    errno.EMFILE: ("too many open files", "Raise their limit (ulimit -n)"),
    errno.ENFILE: ("too many open files on this machine", "Raise their limit (fs.file-max)"),
}
_SPACE = (errno.ENOSPC, errno.EDQUOT)
_MIB = 2**20
T = t.TypeVar("T")
# Seconds between two attempts to write what must be written, and between two lines about it.
RETRY, REPEAT = 2.0, 60.0
# As many bytes must be free for a directory to be taken for one that can be written.
_PROBE = 16384


def storage_error(path: Path, error: OSError) -> StorageError:
    """Return `error`, met while `path` was written, as one line with the path and a remedy."""
    why, remedy = _KNOWN.get(error.errno or 0, ((error.strerror or str(error)).lower(), "Make it writable"))
    found, remedy = _space(path, why, remedy) if error.errno in _SPACE else (why, remedy)
    return StorageError(f"{path}: {found}. {remedy}.", path=str(path), why=why, found=found, remedy=remedy)


def _space(path: Path, said: str, remedy: str) -> tuple[str, str]:
    """Return what is known of a file system that is full; some have bytes left but no inodes."""
    place = next((one for one in (path, *path.parents) if os.access(one, os.F_OK)), Path("/"))
    try:
        found = os.statvfs(place)
    except OSError:
        return said, remedy
    if found.f_files and not found.f_favail:
        return f"{said} (0 of {found.f_files} inodes free)", "Remove files there"
    free, size = found.f_bavail * found.f_frsize / _MIB, found.f_blocks * found.f_frsize / _MIB
    return f"{said} ({free:,.1f} MiB free of {size:,.0f} MiB)", remedy


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn what the operating system says about `path` into a `StorageError`."""
    try:
        yield
    except OSError as error:
        raise storage_error(path, error) from error


def probe(directory: Path) -> None:
    """Make sure that `directory` can be made and written; what was made and cannot be written is removed again.

    Raises:
        StorageError: it cannot.
    """
    made = [one for one in (directory, *directory.parents) if not os.access(one, os.F_OK)]
    file = directory / f".probe.{os.getpid()}"
    try:
        with writing(directory):
            directory.mkdir(parents=True, exist_ok=True)
            try:
                file.write_bytes(bytes(_PROBE))
            finally:
                file.unlink(missing_ok=True)
    except StorageError:
        for one in made:
            with contextlib.suppress(OSError):
                one.rmdir()
        raise


class Storage:
    """What of the evidence cannot be written at present; the threads that write tell it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._failed: dict[Path, StorageError] = {}
        # What was said last, and when.
        self._told: tuple[str, float] | None = None

    def failed(self, path: Path, error: StorageError) -> None:
        """Note that `path` could not be written."""
        with self._lock:
            self._failed[path] = error

    def wrote(self, path: Path) -> None:
        """Note that `path` is written, or is not wanted any more."""
        if self._failed:
            with self._lock:
                self._failed.pop(path, None)

    @property
    def error(self) -> StorageError | None:
        """What is wrong now: of several files the first that failed speaks for all."""
        with self._lock:
            return next(iter(self._failed.values()), None)

    def try_write(self, path: Path, write: Callable[[], T]) -> T | None:
        """Write `path`, and only note when that cannot be done."""
        try:
            found = write()
        except StorageError as error:
            self.failed(path, error)
            return None
        self.wrote(path)
        return found

    def retry_write(self, path: Path, write: Callable[[], T], wait: Callable[[], bool]) -> T:
        """Write `path`, as often as it takes; between two attempts `wait` tells whether to go on.

        Raises:
            StorageError: `wait` gave it up.
        """
        while True:
            try:
                found = write()
            except StorageError as error:
                self.failed(path, error)
                if not wait():
                    raise
            else:
                self.wrote(path)
                return found

    def status_line(self, at: float, meanwhile: str, *, every: float = REPEAT) -> str:
        """Return what is to be said now, if anything: what is wrong and what is done `meanwhile`, or that it is over.

        It is said at once, again after `every` seconds, and when something else is done.
        """
        error = self.error if self._failed else None
        if error is None:
            over, self._told = self._told is not None, None
            return "the evidence can be written again" if over else ""
        if self._told and self._told[0] == meanwhile and at - self._told[1] < (every or REPEAT):
            return ""
        self._told = (meanwhile, at)
        return f"{error.path}: {error.found}; {meanwhile}. {error.remedy}."
