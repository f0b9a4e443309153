# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""How far each log was read, kept beside it while it is not whole: the next controller on this machine goes on there.

One line per file, `uid size lines same stamp`; it is rewritten in place after each write to the archive, so that
it is true even when the controller is killed.
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
# Room for the longest line, so that a shorter one leaves nothing of it behind.
_WIDTH = 160


class Offset:
    """The mark of the archive `file`, for the pod with `uid`; it is written while entered."""

    def __init__(self, file: Path, uid: str, opener: t.Callable[[str, int], int]) -> None:
        self._path, self._uid, self._opener = _path(file), uid, opener
        self._descriptor = -1

    def __enter__(self) -> None:
        """Open the file."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._descriptor = self._opener(str(self._path), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)

    def __exit__(self, *_: object) -> None:
        """Close the file; it stays."""
        os.close(self._descriptor)

    def write(self, position: Position) -> None:
        """Note how far the archive is whole."""
        line = f"{self._uid} {position.size} {position.lines} {position.same} {position.stamp.decode()}"
        os.pwrite(self._descriptor, line.ljust(_WIDTH).encode(), 0)

    def remove(self) -> None:
        """Forget it: the log is whole, or there is none."""
        self._path.unlink(missing_ok=True)
        try:
            self._path.parent.rmdir()
        except OSError:
            # There are others, or there never was one.
            return


def adopt(file: Path, uid: str, evidence: Iterable[Path]) -> Position:
    """Make `file` what an earlier controller archived of the same container, and return how far that is.

    `evidence` are the directories of earlier runs of the step; of several marks the farthest counts.
    """
    found = [(position, place) for place in evidence if (position := _read(place / "logs" / file.name, uid))]
    if not found:
        return Position()
    position, place = max(found, key=lambda one: one[0].size)
    source = place / "logs" / file.name
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
