# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The kubelet's time stamps: stripped from a log as it arrives, and used to continue where an earlier answer ended.

Source: `staging/src/k8s.io/cri-client/pkg/logs/logs.go` of Kubernetes 1.35. Every line begins with a stamp. A line that
the container runtime split (above 16 KiB) has the stamp of its first part. `sinceTime` is compared with each part, so
an answer may begin with the end of an older line, with the stamp of that part.
"""

from __future__ import annotations

import re
import typing as t
from dataclasses import dataclass, replace

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import from_iso
from ansible_collections.mlops.eks.plugins.module_utils._core.secret_mask import Mask

# An unfinished line longer than this is passed on in pieces, so that an endless progress bar needs no memory.
PIECE = 16384
_STAMP = re.compile(rb"^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*(?:Z|[+-]\d\d:\d\d)) ", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Position:
    """How far a log was read: the last line's stamp, how many lines have it, and the size and lines of the archive."""

    stamp: bytes = b""
    same: int = 0
    size: int = 0
    lines: int = 0

    @property
    def since(self) -> str:
        """The stamp in whole seconds, in the time zone of the node."""
        second, offset = self.stamp[:19].decode(), self.stamp[19:].decode()
        return second + offset.lstrip(".0123456789")


class Text(t.NamedTuple):
    """What the archive gains: lines that were printed before, then new lines."""

    old: bytes
    new: bytes


_NOTHING = Text(b"", b"")


class TimestampReader:
    """Turns one answer of the kubelet, in chunks cut anywhere, into the text after `position`.

    `position` moves with every whole line. `gap` says that the answer began after the initial position. Lines stamped
    up to `seen`, in seconds since the epoch, are old. `inside` says that the text so far ends within a line.
    """

    def __init__(self, position: Position, mask: Mask, *, seen: float = 0.0) -> None:
        self.position, self.gap, self.inside = position, False, False
        self._mask, self._seen = mask, seen
        # How many lines of the last stamp are still to skip; `None` when new lines follow.
        self._skip: int | None = position.same if position.stamp else None
        # Whether the answer began before the position.
        self._earlier = False
        self._before, self._size, self._rest = position, position.size, b""
        # The block that was fed last, with stamps.
        self._block = b""
        # Of a line that is passed on in pieces: its stamp, whether it is skipped, whether it is old.
        self._stamp, self._skipped, self._old = b"", False, False

    @property
    def reached(self) -> tuple[bytes, int, bytes] | None:
        """Where the answer ended: the last stamp, how many lines have it, and the start of the next line.

        `None` when it ended before the initial position.
        """
        return None if self._skip else (self.position.stamp, self.position.same, self._rest)

    @property
    def only_messages(self) -> bool:
        """Whether the answer has only messages of the kubelet itself, for example that a log is gone."""
        before, after = self._before, self.position
        return (before.stamp, before.same) == (after.stamp, after.same) and before.lines != after.lines

    def newest(self, most: int) -> list[tuple[bytes, bytes]]:
        """Return up to `most` of the lines fed last, each with its stamp; they are not masked."""
        block, self._block = self._block, b""
        return [_split(line) for line in block.rsplit(b"\n", most + 1)[-most - 1 :] if line]

    def feed(self, chunk: bytes) -> Text:
        """Return the text that `chunk` adds: whole lines, and a piece of a long unfinished one."""
        data = self._rest + chunk
        cut = data.rfind(b"\n") + 1
        self._rest = data[cut:]
        text = self._whole(data[:cut]) if cut else _NOTHING
        return _joined(text, self._piece()) if len(self._rest) > PIECE else text

    def end(self, *, whole: bool) -> Text:
        """Return the last line of an ended answer, which has no line break.

        Unless the log is `whole`, the line may be cut: it is dropped and read again.
        """
        if self._skip is not None and self._skip == self.position.same and not self._earlier:
            self.gap = True
        if not whole or not (self._rest or self.inside):
            return _NOTHING
        old, new = self._whole(self._rest + b"\n")
        self._rest = b""
        if not old and not new:
            return _NOTHING
        self.position = replace(self.position, size=self.position.size - 1)
        return Text(old, new[:-1]) if new else Text(old[:-1], new)

    def _whole(self, block: bytes) -> Text:
        first = _NOTHING
        if self.inside:
            end, _, block = block.partition(b"\n")
            if not self._skipped:
                first = self._text(self._mask.lines(end) + b"\n", old=self._old)
                self._move(self._stamp, 1, 1)
            self.inside = False
        if block and self._skip is not None:
            block = self._after_position(block)
        if not block:
            return first
        self._block = block
        cut = self._first_new(block) if self._seen else 0
        texts = (self._stripped(block[:cut]), self._stripped(block[cut:]))
        self._size += sum(map(len, texts))
        stamp = _last_stamp(block)
        same = block.count(b"\n" + stamp + b" ") + block.startswith(stamp + b" ") if stamp else 0
        self._move(stamp, same, block.count(b"\n"))
        return _joined(first, Text(*texts))

    def _piece(self) -> Text:
        """Pass on a piece of a long line; a possible part of a secret is held back."""
        if not self.inside:
            match = _STAMP.match(self._rest)
            self._stamp = match[1] if match else b""
            self._rest = self._rest[match.end() :] if match else self._rest
            self._skipped = self._skip is not None and not self._is_new(self._stamp)
            self._old = bool(self._seen) and self._is_old(self._stamp)
            self.inside = True
        if self._skipped:
            self._rest = b""
            return _NOTHING
        self._block = self._stamp + b" " + self._rest
        piece, self._rest = self._mask.partial_line(self._rest)
        return self._text(piece, old=self._old)

    def _text(self, text: bytes, *, old: bool) -> Text:
        self._size += len(text)
        return Text(text, b"") if old else Text(b"", text)

    def _stripped(self, block: bytes) -> bytes:
        return self._mask.lines(_STAMP.sub(b"", block)) if block else b""

    def _move(self, stamp: bytes, same: int, lines: int) -> None:
        before = self.position
        if not stamp:
            # Messages of the kubelet itself, for example that a log is gone, have no stamp.
            stamp, same = before.stamp, before.same
        elif stamp == before.stamp:
            same += before.same
        self.position = Position(stamp=stamp, same=same, size=self._size, lines=before.lines + lines)

    def _after_position(self, block: bytes) -> bytes:
        """Return the lines after the initial position: skip older stamps, and the counted lines of its own stamp."""
        at = 0
        while at < len(block):
            match = _STAMP.match(block, at)
            if self._is_new(match[1] if match else b""):
                return block[at:]
            at = block.index(b"\n", at) + 1
        return b""

    def _is_new(self, stamp: bytes) -> bool:
        last, skip = self.position.stamp, self._skip or 0
        if stamp < last:
            self._earlier = self._earlier or bool(stamp)
            return False
        if stamp == last and skip:
            self._skip = skip - 1
            return False
        self.gap = skip == self.position.same
        self._skip = None
        return True

    def _first_new(self, block: bytes) -> int:
        """Return where in `block` the lines begin that were not printed before."""
        if self._is_old(_last_stamp(block)):
            return len(block)
        for match in _STAMP.finditer(block):
            if not self._is_old(match[1]):
                self._seen = 0.0
                return match.start()
        return len(block)

    def _is_old(self, stamp: bytes) -> bool:
        return not stamp or from_iso(stamp.decode()) <= self._seen


def _joined(one: Text, other: Text) -> Text:
    # Lines are in time order, so old lines come first.
    return Text(one.old + other.old, one.new + other.new)


def _split(line: bytes) -> tuple[bytes, bytes]:
    match = _STAMP.match(line)
    return (match[1], line[match.end() :]) if match else (b"", line)


def _last_stamp(block: bytes) -> bytes:
    """Return the stamp of the last line of `block` that has one."""
    end = len(block)
    while end > 0:
        start = block.rfind(b"\n", 0, end - 1) + 1
        if match := _STAMP.match(block, start):
            return match[1]
        end = start
    return b""
