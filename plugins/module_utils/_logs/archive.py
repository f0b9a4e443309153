# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""One archived log: written as it is read, and behind what was read while it cannot be written.

Nothing is held in memory meanwhile: what is not archived is read again from the kubelet when there is room. What the
kubelet has rotated away by then is counted.
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

# As many bytes must fit for a log that could not be written to be read again.
_ROOM = 4096


class Archive:
    """The archive of one log; `position` is how far it is whole.

    `ahead` is how far the log was read beyond that: with all lines that were ever read, and the size they would have.
    """

    def __init__(self, file: Path, uid: str, log_store: LogStore) -> None:
        self.file, self._uid, self._log_store = file, uid, log_store
        self._offset = Offset(file, uid, log_store.open)
        self.position = Position()
        self.ahead: Position | None = None
        # Lines that are in no archive, and their bytes: the kubelet had rotated them away.
        self.lost: tuple[int, int] = (0, 0)
        self._why = ""
        self._begun = False
        self._stream: t.BinaryIO | None = None
        # How far it is known to be on disk, not only in memory.
        self._synced = Position()

    @property
    def blocked(self) -> bool:
        """Whether the log was read further than it could be written."""
        return self.ahead is not None and self._stream is None

    @property
    def shown_until(self) -> float:
        """Up to which stamp, in seconds since the epoch, lines are not new; 0 when all are."""
        stamp = self.ahead.stamp if self.ahead else b""
        return max(self._log_store.shown_until, from_iso(stamp.decode()) if stamp else 0.0)

    @property
    def gap(self) -> str:
        """What is missing although it was read."""
        lines, size = self.lost
        if self.ahead:
            lines, size = lines + self.ahead.lines - self.position.lines, size + self.ahead.size - self.position.size
        if lines > 0:
            why = f"they could not be kept ({self._why}) before the kubelet removed them"
            return f"{lines} lines ({size} bytes) are missing: {why}"
        return f"its end may be missing: it could not be kept ({self._why})" if self.ahead else ""

    @contextlib.contextmanager
    def opened(self) -> Iterator[Position]:
        """Take what is added until the end of the block, which is to be read from the position that is yielded.

        While the file cannot be written that is how far the log was read.
        """
        stack = contextlib.ExitStack()
        try:
            if self.ahead:
                self._try()
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
        """Append `text`, with which the log is read to `position`.

        Return whether to read on: what was read before, and cannot be written this time either, need not be read now.
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
        """Return whether all that was read is on disk, where the block of `opened` has come to the end of the log."""
        if self._stream is None:
            return False
        try:
            with writing(self.file):
                _sync(self._stream.fileno())
        except StorageError as error:
            # What is in memory is lost with that: it is read again.
            self._stream, self.ahead, self.position = None, self.ahead or self.position, self._synced
            self._fail(error)
            return False
        if self.ahead:
            self._settle(self.position.lines, self.position.size)
        self._synced = self.position
        return True

    def forget(self) -> None:
        """Forget how far it is: it is whole, or will not be."""
        with contextlib.suppress(OSError):
            self._offset.remove()

    def tail(self, size: int) -> tuple[bytes, bool]:
        """Return up to `size` of its last bytes, and whether there are others before them."""
        start = max(0, self.position.size - size)
        try:
            with self.file.open("rb") as archive:
                archive.seek(start)
                return archive.read(self.position.size - start), start > 0
        except OSError:
            return b"", False

    def _try(self) -> None:
        """Make sure that more can be written.

        Raises:
            StorageError: it cannot.
        """
        with writing(self.file):
            self.file.parent.mkdir(parents=True, exist_ok=True)
            descriptor = self._log_store.open(str(self.file), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
            with os.fdopen(descriptor, "r+b", buffering=0) as file:
                size = os.fstat(descriptor).st_size
                try:
                    if os.pwrite(descriptor, bytes(_ROOM), size) < _ROOM:
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
        """Make the file, once, or again after somebody removed it or a part of it."""
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
        """Learn that of what was read before `lines` are archived, with that `size`, when these are all of them."""
        if self.ahead is not None and (self.position.stamp, self.position.same) >= (self.ahead.stamp, self.ahead.same):
            self._settle(lines, size)

    def _settle(self, lines: int, size: int) -> None:
        """Count what was read but is not archived: of what was read, these `lines` are."""
        ahead, self.ahead = t.cast(Position, self.ahead), None
        if ahead.lines > lines:
            self.lost = (self.lost[0] + ahead.lines - lines, self.lost[1] + max(0, ahead.size - size))
        self._log_store.storage.wrote(self.file)


def _sync(descriptor: int) -> None:
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some file systems of user space have no such thing.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS):
            raise
