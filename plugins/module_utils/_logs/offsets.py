# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Offsets: how far each log is archived, in a file beside it until the log is complete.

The next controller on this machine continues there. A file has one line, `uid size lines same stamp`. It is rewritten
in place after each write to the archive, so it is correct even when the controller is killed.
"""

from __future__ import annotations

import os
import shutil
import typing as t
from collections.abc import Iterable
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.files import mode_of
from ansible_collections.mlops.eks.plugins.module_utils._logs.timestamps import Position

DIRECTORY = ".marks"
# Lines are padded to this width, so that a shorter one overwrites a longer one.
_WIDTH = 160


class Offset:
    """The offset of the archive `file` for the pod with `uid`; a context manager that keeps its file open."""

    def __init__(self, file: Path, uid: str, opener: t.Callable[[str, int], int]) -> None:
        self._path, self._uid, self._opener = _path(file), uid, opener
        self._descriptor = -1

    def __enter__(self) -> None:
        """Open the file of the offset."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._descriptor = self._opener(str(self._path), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)

    def __exit__(self, *_: object) -> None:
        """Close the file and keep it."""
        os.close(self._descriptor)

    def write(self, position: Position) -> None:
        """Write how far the archive is complete."""
        line = f"{self._uid} {position.size} {position.lines} {position.same} {position.stamp.decode()}"
        os.pwrite(self._descriptor, line.ljust(_WIDTH).encode(), 0)

    def remove(self) -> None:
        """Remove the file: the log is complete, or there is none."""
        self._path.unlink(missing_ok=True)
        try:
            self._path.parent.rmdir()
        except OSError:
            # The directory has other offsets, or does not exist.
            return


def adopt(file: Path, uid: str, evidence: Iterable[Path]) -> Position:
    """Copy to `file` what an earlier controller archived of the same container, and return its position.

    `evidence` are the directories of earlier runs of the step; the largest archive is used.
    """
    archives = (directory / "logs" / file.name for directory in evidence)
    found = [(position, archive) for archive in archives if (position := _read(archive, uid))]
    if not found:
        return Position()
    position, source = max(found, key=lambda one: one[0].size)
    if source != file:
        shutil.copyfile(source, file)
        file.chmod(mode_of(source) & mode_of(file))
    return position


def _path(file: Path) -> Path:
    return file.parent.parent / DIRECTORY / file.name


def _read(file: Path, uid: str) -> Position | None:
    try:
        known, size, lines, same, stamp = _path(file).read_text(encoding="ascii").split()
        position = Position(stamp=stamp.encode(), same=int(same), size=int(size), lines=int(lines))
        return position if known == uid and position.size <= file.stat().st_size else None
    except (OSError, ValueError):
        return None
