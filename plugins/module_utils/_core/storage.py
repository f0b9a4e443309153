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

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import EksError, StorageError

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
    errno.ENOENT: ("it was removed", "Do not remove it while a step runs"),
    errno.EFBIG: ("the file is too large", "Raise the limit of the size of files (ulimit -f)"),
    errno.EIO: ("input/output error", "Repair or replace the disk"),
    errno.ESTALE: ("the network file system lost it (stale file handle)", "Mount it again"),
    errno.EMFILE: ("too many open files", "Raise their limit (ulimit -n)"),
    errno.ENFILE: ("too many open files on this machine", "Raise their limit (fs.file-max)"),
}
# What they mean where it is not known that a file was written.
_UNEXPECTED: dict[int, tuple[str, str]] = {
    errno.ENOENT: ("no such file or directory", "Create it, or correct the path"),
    errno.EACCES: ("permission denied", "Give the user of ansible-playbook this permission"),
    errno.EPERM: ("operation not permitted", "Give the user of ansible-playbook this permission"),
}
_SPACE = (errno.ENOSPC, errno.EDQUOT)
_MIB = 2**20
T = t.TypeVar("T")
# Seconds between two attempts of `retry_write`, and between two lines about them.
RETRY, REPEAT = 2.0, 60.0
# Bytes that must be free in a writable directory.
_PROBE = 16384


def storage_error(path: Path, error: OSError) -> StorageError:
    """Return an error of writing `path` as one line with path, reason and remedy."""
    why, remedy = _KNOWN.get(error.errno or 0, ((error.strerror or str(error)).lower(), "Make it writable"))
    found, remedy = _space(path, why, remedy) if error.errno in _SPACE else (why, remedy)
    return StorageError(f"{path}: {found}. {remedy}.", path=str(path), why=why, found=found, remedy=remedy)


def unexpected_error(what: str, error: OSError) -> EksError:
    """Return an error of the operating system that nothing else handles, in `what`, as one line."""
    why, remedy = _UNEXPECTED.get(error.errno or 0) or _KNOWN.get(error.errno or 0) or ("", "")
    why = why or (error.strerror or str(error) or type(error).__name__).lower()
    remedy = f"{remedy}, then run the same command again" if remedy else "Run the same command again"
    place = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
    return EksError(f"{what}: {place}{why}. {remedy}.")


def _space(path: Path, why: str, remedy: str) -> tuple[str, str]:
    """Return the free space, and a remedy, of a full file system; it may have free bytes but no free inodes."""
    place = next((one for one in (path, *path.parents) if os.access(one, os.F_OK)), Path("/"))
    try:
        found = os.statvfs(place)
    except OSError:
        return why, remedy
    if found.f_files and not found.f_favail:
        return f"{why} (0 of {found.f_files} inodes free)", "Remove files there"
    free, size = found.f_bavail * found.f_frsize / _MIB, found.f_blocks * found.f_frsize / _MIB
    return f"{why} ({free:,.1f} MiB free of {size:,.0f} MiB)", remedy


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Convert an `OSError` about `path` to a `StorageError`."""
    try:
        yield
    except OSError as error:
        raise storage_error(path, error) from error


def probe(directory: Path) -> None:
    """Check that `directory` can be created and written; directories created in vain are removed.

    Raises:
        StorageError: it cannot be written.
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
    """Keeps track of the files of the evidence that cannot be written now. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._failed: dict[Path, StorageError] = {}
        # The last status line, and its time.
        self._last_line: tuple[str, float] | None = None

    def failed(self, path: Path, error: StorageError) -> None:
        """Record that `path` could not be written."""
        with self._lock:
            self._failed[path] = error

    def wrote(self, path: Path) -> None:
        """Record that `path` was written, or is no longer needed."""
        if self._failed:
            with self._lock:
                self._failed.pop(path, None)

    @property
    def error(self) -> StorageError | None:
        """The error of the file that failed first, `None` if all can be written."""
        with self._lock:
            return next(iter(self._failed.values()), None)

    def try_write(self, path: Path, write: Callable[[], T]) -> T | None:
        """Write `path`; record a failure instead of raising it, and return `None`."""
        try:
            found = write()
        except StorageError as error:
            self.failed(path, error)
            return None
        self.wrote(path)
        return found

    def retry_write(self, path: Path, write: Callable[[], T], wait: Callable[[], bool]) -> T:
        """Write `path`, and retry as long as `wait` returns true.

        Raises:
            StorageError: `wait` returned false.
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
        """Return the line to print at time `at`, or the empty string: the error and what the engine does `meanwhile`.

        The line is printed at once, when `meanwhile` changes, every `every` seconds, and when the error is over.
        """
        error = self.error if self._failed else None
        if error is None:
            over, self._last_line = self._last_line is not None, None
            return "the evidence can be written again" if over else ""
        if self._last_line and self._last_line[0] == meanwhile and at - self._last_line[1] < (every or REPEAT):
            return ""
        self._last_line = (meanwhile, at)
        return f"{error.path}: {error.found}; {meanwhile}. {error.remedy}."
