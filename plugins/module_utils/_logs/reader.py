# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The log of one container instance: read in several turns, archived without losing or repeating a line."""

from __future__ import annotations

import math
import threading
import time
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import (
    AbsentError,
    ClusterError,
    ConflictError,
    ForbiddenError,
)
from ansible_collections.mlops.eks.plugins.module_utils._core.libraries import urllib3
from ansible_collections.mlops.eks.plugins.module_utils._core.storage import RETRY
from ansible_collections.mlops.eks.plugins.module_utils._core.text import clipped
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Kube
from ansible_collections.mlops.eks.plugins.module_utils._kube.paths import item
from ansible_collections.mlops.eks.plugins.module_utils._kube.watch import backoff, wake
from ansible_collections.mlops.eks.plugins.module_utils._logs.archive import Archive
from ansible_collections.mlops.eks.plugins.module_utils._logs.sinks import Instance, LogStore, Sinks
from ansible_collections.mlops.eks.plugins.module_utils._logs.timestamps import Position, Text, TimestampReader

TAIL = 40
_TAIL_BYTES = 65536
_WIDTH = 2000
# A container may be silent for days; the kernel's keep-alive, or the end of the pod, reveals a dead connection.
_READ_TIMEOUT = 86400.0
# Seconds until a log that has ended is requested again, unless its container is seen to have ended.
_RESUME = 10.0
# How often the log of an ended container is read without new lines, until two answers end at the same place.
_MAX_PROOFS = 16
# Refusals in a row after which a permission is taken as denied: an authorization webhook may be down for a moment.
_MAX_REFUSALS = 4
# Seconds after which a denied permission is tried again: it may have been granted.
_DENIED_INTERVAL = 60.0


class ContainerLog:
    """The state of one log. One thread at a time calls `read`; the rest is thread-safe.

    `done` is set when there is nothing more to read; `gap` says what is missing, if anything.
    """

    def __init__(
        self, instance: Instance, log_store: LogStore, sinks: Sinks, *, file: str, source: str | None, leads: bool
    ) -> None:
        self.instance, self.leads = instance, leads
        # The prefix of printed lines; without one, lines are not printed.
        self._source = source
        self._log_store, self._sinks = log_store, sinks
        self._archive = Archive(log_store.directory / file, instance.uid, log_store)
        self.done = threading.Event()
        self.gap = ""
        # Whether the container has ended: a later answer has the whole log.
        self.ended = False
        # Whether the kubelet may delete the log soon.
        self.urgent = False
        # Failed reads in a row, and refusals since the last successful request.
        self.failures, self._refusals = 0, 0
        # When the current answer began.
        self.answered = math.inf
        self._previous, self._follow = False, True
        self._response: urllib3.BaseHTTPResponse | None = None
        # How often `interrupt` was called.
        self._interrupts = 0
        self._closed, self._midline = False, False
        # Where the last complete answer ended, and how many answers since then had no new lines.
        self._end: tuple[bytes, int, bytes] | None = None
        self._unproven = 0

    @property
    def file(self) -> Path:
        """The file of the archive."""
        return self._archive.file

    @property
    def position(self) -> Position:
        """How far it is archived."""
        return self._archive.position

    @property
    def reached(self) -> Position:
        """How far it was read."""
        return self._archive.ahead or self._archive.position

    @property
    def missing(self) -> str:
        """What is not in the archive, and why."""
        return "; ".join(filter(None, (self.gap, self._archive.gap)))

    @property
    def behind(self) -> bool:
        """Whether it was read further than it is archived."""
        return self._archive.ahead is not None and not self.done.is_set()

    @property
    def blocked(self) -> bool:
        """Whether it is behind because the archive cannot be written."""
        return self.behind and self._archive.blocked

    def end(self, *, previous: bool = False) -> None:
        """Report that the container has ended; `previous` when a newer instance has started."""
        self._previous = self._previous or previous
        self.ended = self.urgent = True

    def finish(self) -> None:
        """Read what is written by now and end, although the container may go on."""
        self._follow, self.ended, self.urgent = False, True, True
        self.interrupt()

    def interrupt(self) -> None:
        """Stop the current answer; the next turn continues after it."""
        self._interrupts += 1
        wake(self._response)

    def give_up(self, why: str) -> None:
        """End without reading the rest."""
        if not self.done.is_set():
            self.gap = self.gap or why
            self.done.set()
            self.interrupt()
            self._log_store.storage.wrote(self.file)

    def read(self, kube: Kube) -> float:
        """Copy the log until it ends or is interrupted; return the seconds until the next turn."""
        whole, before, size = self.ended, self._interrupts, self.reached.size
        try:
            proven = self._copy(kube, whole=whole, before=before)
        except AbsentError:
            # The pod is gone; if the last answer ended by itself, nothing is missing.
            self._finished("" if self._closed else "its pod was gone before all of it was read")
        except ForbiddenError as error:
            return self._refused(error, kube.namespace)
        except (ClusterError, ConflictError, urllib3.exceptions.HTTPError, OSError, AttributeError, ValueError):
            # ClusterError 400: the container has not started. AttributeError, ValueError: see Watch.run.
            self.failures += 1
            return 0.0 if before != self._interrupts else backoff(self.failures) / 4
        else:
            self.failures = 0
            if before != self._interrupts:
                return 0.0
            if proven:
                self._finished("")
            if self.blocked:
                return RETRY
            return self._read_again(gained=self.position.size > size) if whole and not proven else _RESUME
        return 0.0

    def _read_again(self, *, gained: bool) -> float:
        """Return the seconds until a log whose end is not proven is read again, or give it up."""
        self._unproven = 1 if gained else self._unproven + 1
        if self._unproven >= _MAX_PROOFS:
            self._finished("its end may be missing: every answer ended elsewhere")
        return 0.0 if self._unproven == 1 else backoff(self._unproven) / 4

    def tail(self) -> tuple[str, ...]:
        """Return the last lines as plain text."""
        text, more = self._archive.tail(_TAIL_BYTES)
        lines = text.split(b"\n")
        if not lines[-1]:
            lines.pop()
        # The first line may be cut.
        lines = lines[1:] if more and len(lines) > 1 else lines
        return tuple(clipped(line, _WIDTH) for line in lines[-TAIL:])

    def _copy(self, kube: Kube, *, whole: bool, before: int) -> bool:
        """Read one answer, and return whether it proves that the log of an ended container is archived to its end."""
        with self._archive.opened() as position:
            path = item("v1", "pods", kube.namespace, self.instance.pod, "log")
            response = self._response = kube.stream(path, self._params(position), read_timeout=_READ_TIMEOUT)
            self.answered, self._refusals = time.monotonic(), 0
            reader = TimestampReader(position, self._log_store.mask, seen=self._archive.shown_until)
            try:
                if before != self._interrupts:
                    # `interrupt` was called before there was a response to wake.
                    return False
                self._closed = False
                while chunk := response.read1(1 << 20):
                    if not self._take(reader, reader.feed(chunk)):
                        return False
                self._closed = before == self._interrupts
                proven = self._agrees(reader) and whole
                # Unless the end is proven, a line without a line break is read again.
                self._take(reader, reader.end(whole=proven))
                return proven and self._archive.finish()
            finally:
                self._response, self.answered = None, math.inf
                response.close()

    def _agrees(self, reader: TimestampReader) -> bool:
        """Return whether this answer ended where the last one did.

        One answer proves nothing: the API server does not report when its connection to the kubelet breaks.
        """
        if not self._closed or reader.reached is None:
            return False
        before, self._end = self._end, reader.reached
        return before == self._end or reader.only_messages

    def _params(self, position: Position) -> dict[str, str | int]:
        return {
            "container": self.instance.container,
            "timestamps": "true",
            "follow": str(self._follow and not self._previous).lower(),
            **({"previous": "true"} if self._previous else {}),
            **({"sinceTime": position.since} if position.stamp else {}),
        }

    def _take(self, reader: TimestampReader, text: Text) -> bool:
        if reader.gap:
            reader.gap = False
            # The archive counts lines that were read before.
            if not self.gap and not (self._archive.ahead and text.old):
                at = self.position.stamp.decode()
                self.gap = f"lines after {at} may be missing: the kubelet rotated the log before they were read"
        if not self._archive.add(text, reader.position):
            return False
        if lines := reader.newest(self._sinks.activity.wanted(leads=self.leads)):
            self._sinks.activity.offer(self.instance.pod, lines, leads=self.leads)
        self._show(text.new, inside=reader.inside)
        return True

    def _show(self, text: bytes, *, inside: bool) -> None:
        """Print whole lines; of a line in pieces, print the first piece or the last state of its progress bar."""
        if self._source is None or not text:
            return
        if self._midline:
            piece, ended, rest = text.partition(b"\n")
            text = piece.rpartition(b"\r")[0] + ended + rest if b"\r" in piece else rest
        elif inside and text.endswith(b"\r"):
            text = text.rpartition(b"\r")[0]
        self._midline = inside
        self._sinks.console.offer(self._source, text)

    def _finished(self, gap: str) -> None:
        self.gap = self.gap or gap
        self.done.set()
        self._log_store.storage.wrote(self.file)
        if self._follow:
            self._archive.forget()

    def _refused(self, error: ForbiddenError, namespace: str) -> float:
        self.failures += 1
        if error.details.get("status") != 403:
            # The credentials have expired and may be renewed.
            return backoff(self.failures)
        self._sinks.console.note(
            f"logs cannot be read: these credentials may not 'get' 'pods/log' in namespace {namespace}; the step goes "
            "on without them. Ask the cluster's owner for it: docs/permissions.md."
        )
        self._refusals += 1
        if self._refusals < _MAX_REFUSALS:
            return backoff(self.failures) / 4
        if self.ended:
            self._finished("reading it was forbidden")
        return _DENIED_INTERVAL
