# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The archive of one log: written as it is read, and behind the reader while it cannot be written.

Lines that cannot be written are not held in memory. They are read again from the kubelet once the disk has room; lines
that the kubelet has rotated away by then are counted.
"""

from __future__ import annotations

import contextlib
import errno
import os
import typing as t
from collections.abc import Iterator
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import from_iso
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import StorageError
from ansible_collections.mlops.eks.plugins.module_utils._core.storage import writing
from ansible_collections.mlops.eks.plugins.module_utils._logs.offsets import Offset, adopt
from ansible_collections.mlops.eks.plugins.module_utils._logs.sinks import LogStore
from ansible_collections.mlops.eks.plugins.module_utils._logs.timestamps import Position, Text

# Bytes that must fit on the disk before a log that could not be written is read again.
_MIN_FREE = 4096


class Archive:
    """The archive of one log, complete up to `position`.

    `ahead` is how far the log was read beyond that: it counts all lines read, and the size they would have.
    """

    def __init__(self, file: Path, uid: str, log_store: LogStore) -> None:
        self.file, self._uid, self._log_store = file, uid, log_store
        self._offset = Offset(file, uid, log_store.open)
        self.position = Position()
        self.ahead: Position | None = None
        # Lines and bytes that the kubelet rotated away before they were archived.
        self.lost: tuple[int, int] = (0, 0)
        self._why = ""
        self._begun = False
        self._stream: t.BinaryIO | None = None
        # How far it is synced to the disk.
        self._synced = Position()

    @property
    def blocked(self) -> bool:
        """Whether the log was read further than it can be written."""
        return self.ahead is not None and self._stream is None

    @property
    def shown_until(self) -> float:
        """The stamp, in seconds since the epoch, up to which lines were printed before; 0 for none."""
        stamp = self.ahead.stamp if self.ahead else b""
        return max(self._log_store.shown_until, from_iso(stamp.decode()) if stamp else 0.0)

    @property
    def gap(self) -> str:
        """What was read but is missing, and why."""
        lines, size = self.lost
        if self.ahead:
            lines, size = lines + self.ahead.lines - self.position.lines, size + self.ahead.size - self.position.size
        if lines > 0:
            why = f"they could not be kept ({self._why}) before the kubelet removed them"
            return f"{lines} lines ({size} bytes) are missing: {why}"
        return f"its end may be missing: it could not be kept ({self._why})" if self.ahead else ""

    @contextlib.contextmanager
    def opened(self) -> Iterator[Position]:
        """Open the archive for `add`, and yield the position from which to read the log.

        While the file cannot be written, that is how far the log was read.
        """
        stack = contextlib.ExitStack()
        try:
            if self.ahead:
                self._check_writable()
            self._stream = self._open(stack)
            self._catch_up(self.position.lines, self.position.size)
        except StorageError as error:
            self._fail(error)
        try:
            yield self.position if self._stream else self.ahead or self.position
        finally:
            self._stream = None
            try:
                with writing(self.file):
                    stack.close()
            except StorageError as error:
                self._fail(error)

    def add(self, text: Text, position: Position) -> bool:
        """Append `text`, which ends at `position`, and return whether to read on.

        Reading stops when text that was read before cannot be written again.
        """
        if self._stream is None:
            self.ahead = position
            return True
        try:
            with writing(self.file):
                self._stream.write(text.old)
                self._stream.write(text.new)
                self._stream.flush()
                self._offset.write(position)
        except StorageError as error:
            again, self._stream = self.ahead is not None, None
            self._fail(error)
            self.ahead = self.ahead if again else position
            return not again
        before, self.position = self.position, position
        self._catch_up(before.lines + text.old.count(b"\n"), before.size + len(text.old))
        return True

    def finish(self) -> bool:
        """Sync the file at the end of the log, and return whether all that was read is on disk."""
        if self._stream is None:
            return False
        try:
            with writing(self.file):
                _sync(self._stream.fileno())
        except StorageError as error:
            # Unsynced data may be lost: it is read again.
            self._stream, self.ahead, self.position = None, self.ahead or self.position, self._synced
            self._fail(error)
            return False
        if self.ahead:
            self._settle(self.position.lines, self.position.size)
        self._synced = self.position
        return True

    def forget(self) -> None:
        """Remove the offset: the archive is complete, or will never be."""
        with contextlib.suppress(OSError):
            self._offset.remove()

    def tail(self, size: int) -> tuple[bytes, bool]:
        """Return up to `size` of its last bytes, and whether there are bytes before them."""
        start = max(0, self.position.size - size)
        try:
            with self.file.open("rb") as archive:
                archive.seek(start)
                return archive.read(self.position.size - start), start > 0
        except OSError:
            return b"", False

    def _check_writable(self) -> None:
        """Write some bytes and remove them.

        Raises:
            StorageError: the disk is full or fails.
        """
        with writing(self.file):
            self.file.parent.mkdir(parents=True, exist_ok=True)
            descriptor = self._log_store.open(str(self.file), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
            with os.fdopen(descriptor, "r+b", buffering=0) as file:
                size = os.fstat(descriptor).st_size
                try:
                    if os.pwrite(descriptor, bytes(_MIN_FREE), size) < _MIN_FREE:
                        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                finally:
                    file.truncate(size)

    def _open(self, stack: contextlib.ExitStack) -> t.BinaryIO:
        with writing(self.file):
            self._begin()
            stream = stack.enter_context(self.file.open("r+b"))
            stack.enter_context(self._offset)
            stream.truncate(self.position.size)
            stream.seek(self.position.size)
        return stream

    def _begin(self) -> None:
        """Create the file, also after it was removed or truncated."""
        if self._begun and self.file.exists() and self.file.stat().st_size >= self.position.size:
            return
        self.file.parent.mkdir(parents=True, exist_ok=True)
        os.close(self._log_store.open(str(self.file), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC))
        if self._begun:
            self.ahead, self.position = self.ahead or self.position, Position()
        else:
            self.position = adopt(self.file, self._uid, self._log_store.earlier_evidence)
        self._begun = True

    def _fail(self, error: StorageError) -> None:
        self._why = error.why
        self.ahead = self.ahead or self.position
        self._log_store.storage.failed(self.file, error)

    def _catch_up(self, lines: int, size: int) -> None:
        """Settle with `lines` and `size` when the archive has caught up with what was read."""
        if self.ahead is not None and (self.position.stamp, self.position.same) >= (self.ahead.stamp, self.ahead.same):
            self._settle(lines, size)

    def _settle(self, lines: int, size: int) -> None:
        """Count what was read but not archived: `lines` of `size` bytes are archived."""
        ahead, self.ahead = t.cast(Position, self.ahead), None
        if ahead.lines > lines:
            self.lost = (self.lost[0] + ahead.lines - lines, self.lost[1] + max(0, ahead.size - size))
        self._log_store.storage.wrote(self.file)


def _sync(descriptor: int) -> None:
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some FUSE file systems do not implement it.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS):
            raise
