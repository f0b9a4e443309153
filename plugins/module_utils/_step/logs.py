# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Container logs: followed live, archived whole, reconnected without losing or repeating a line."""

from __future__ import annotations

import threading
import typing as t
from collections import deque
from pathlib import Path

import urllib3

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import AbsentError, ClusterError, ConflictError
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Kube
from ansible_collections.mlops.eks.plugins.module_utils._kube.paths import item
from ansible_collections.mlops.eks.plugins.module_utils._kube.watch import backoff, wake
from ansible_collections.mlops.eks.plugins.module_utils._step.hearing import Hearing
from ansible_collections.mlops.eks.plugins.module_utils._step.screen import Screen

TAIL = 40
# A container may be silent for days; a dead connection is found by the kernel's keep-alive or by the pod's end.
_SILENCE = 86400.0
# Seconds in which a container whose log has ended must be seen to have ended, before its log is asked for again.
_RESUME = 10.0


class LogFollower(threading.Thread):
    """Copy one container's log to `file` until `end()` was told and it is read whole, or `stop()` is called.

    The kubelet's time stamps are asked for and taken off again: after a lost connection they tell what was already
    written.
    `done` is set when the log was read to its end.
    """

    def __init__(
        self,
        kube: Kube,
        *,
        pod: str,
        container: str,
        file: Path,
        screen: Screen | None,
        hearing: Hearing | None = None,
        leads: bool = False,
        prefix: str,
        previous: bool = False,
        follow: bool = True,
    ) -> None:
        super().__init__(daemon=True, name=f"log {pod}/{container}")
        self._kube, self._screen, self._prefix = kube, screen, prefix
        self._hearing, self._leads = hearing, leads
        self._path = item("v1", "pods", kube.namespace, f"{pod}/log")
        self._params: dict[str, str | int] = {
            "container": container,
            "timestamps": "true",
            "follow": str(follow).lower(),
        }
        if previous:
            self._params["previous"] = "true"
        self.pod, self.container, self.file = pod, container, file
        self.lines = self.bytes = 0
        self.tail: deque[bytes] = deque(maxlen=TAIL)
        self.done = threading.Event()
        self._stopped = threading.Event()
        # Set when the container has ended: what is read after that is the whole log.
        self._ended = threading.Event()
        if previous or not follow:
            self._ended.set()
        self._response: urllib3.BaseHTTPResponse | None = None
        self._last, self._same = b"", 0

    def stop(self) -> None:
        """End the copy; a blocked read is woken."""
        self._stopped.set()
        self._ended.set()
        wake(self._response)

    def end(self, *, replaced: bool = False) -> None:
        """Learn that the container has ended; `replaced` when it was started again since."""
        if replaced and not self._ended.is_set():
            self._params["previous"] = "true"
        self._ended.set()

    def finish(self) -> None:
        """Read what there is by now and end: the container goes on, or its connection has gone dead."""
        self._params["follow"] = "false"
        self._ended.set()
        wake(self._response)

    def run(self) -> None:
        """Copy, and reconnect after whatever happens but the end of the log."""
        failures = 0
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("wb") as archive:
            while not self._stopped.is_set():
                whole, params = self._ended.is_set(), dict(self._params)
                try:
                    self._copy(archive, params, whole=whole)
                    if whole and not self._outdated(params):
                        break
                    # A response may end before the log: the API server hides it when the kubelet's side breaks.
                    self._ended.wait(_RESUME)
                except AbsentError:
                    break
                except (ClusterError, ConflictError, urllib3.exceptions.HTTPError, OSError, AttributeError, ValueError):
                    # ClusterError 400 means that the container has not started yet; AttributeError, ValueError: see
                    # Watch.run.
                    failures += 1
                    self._stopped.wait(backoff(failures) / 4)
        self.done.set()

    def tail_text(self) -> tuple[str, ...]:
        """Return the last lines as text."""
        return tuple(line.decode(errors="replace") for line in self.tail)

    def _outdated(self, params: dict[str, str | int]) -> bool:
        """Return whether the request was made, or broken off, before `finish` or `stop`."""
        return self._stopped.is_set() or params["follow"] != self._params["follow"]

    def _copy(self, archive: t.BinaryIO, params: dict[str, str | int], *, whole: bool) -> None:
        seen, skip = self._last, self._same
        if seen:
            params["sinceTime"] = _since(seen)
        response = self._response = self._kube.stream(self._path, params, read_timeout=_SILENCE)
        rest = b""
        try:
            if self._outdated(params):
                # It came too late to be woken.
                return
            while chunk := response.read1(1 << 20):
                *lines, rest = (rest + chunk).split(b"\n")
                if seen:
                    lines, seen, skip = _unseen(lines, seen, skip)
                self._take(archive, lines, end=b"\n")
            # Without its end, the last line is either complete, or half of one that is read again.
            if rest and whole and not self._outdated(params):
                self._take(archive, [rest], end=b"")
        finally:
            self._response = None
            response.close()

    def _take(self, archive: t.BinaryIO, lines: list[bytes], *, end: bytes) -> None:
        """Write lines without their stamps and note the last stamp."""
        if not lines:
            return
        stamps_and_texts = [_split(line) for line in lines]
        self._note(stamps_and_texts)
        texts = [text for _, text in stamps_and_texts]
        written = b"\n".join(texts) + end
        archive.write(written)
        archive.flush()
        self.lines += len(texts)
        self.bytes += len(written)
        self.tail.extend(texts[-TAIL:])
        if self._hearing:
            self._hearing.offer(self.pod, stamps_and_texts, leads=self._leads)
        if self._screen:
            self._screen.offer(self._prefix, texts)

    def _note(self, lines: list[tuple[bytes, bytes]]) -> None:
        stamps = [stamp for stamp, _ in lines if stamp]
        if not stamps:
            return
        last, same = stamps[-1], 0
        for stamp in reversed(stamps):
            if stamp != last:
                break
            same += 1
        self._same = self._same + same if last == self._last and same == len(stamps) else same
        self._last = last


def _split(line: bytes) -> tuple[bytes, bytes]:
    """Return stamp and text; the kubelet's own words, such as that a log is gone, carry no stamp."""
    stamp, space, text = line.partition(b" ")
    return (stamp, text) if space and stamp[10:11] == b"T" and stamp[:4].isdigit() else (b"", line)


def _since(stamp: bytes) -> str:
    """Return the whole second of a stamp, in its own time zone: that of the node."""
    second, offset = stamp[:19].decode(), stamp[19:].decode()
    return second + offset.lstrip(".0123456789")


def _unseen(lines: list[bytes], last: bytes, skip: int) -> tuple[list[bytes], bytes, int]:
    """Drop the lines written before the connection was lost: those up to stamp `last`, of which `skip` carried it."""
    for index, line in enumerate(lines):
        stamp, _ = _split(line)
        if stamp == last and skip > 0:
            skip -= 1
        elif stamp >= last:
            return lines[index:], b"", 0
    return [], last, skip
