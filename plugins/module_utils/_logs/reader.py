# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The log of one container instance: read in as many turns as it takes, archived without a line lost or repeated."""

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
# A container may be silent for days; a dead connection is found by the kernel's keep-alive or by the pod's end.
_SILENCE = 86400.0
# Seconds in which a container whose log has ended must be seen to have ended, before its log is asked for again.
_RESUME = 10.0
# How often the log of a container that has ended is read, once that brings nothing more, until two answers end at the
# same place.
_PROOFS = 16
# A permission may be refused so many times in a row before that is taken for its last word: who decides about it may
# be away for a moment.
_REFUSALS = 4
# Seconds after which a refused permission is asked for again: it may have been granted.
_REFUSED = 60.0


class ContainerLog:
    """Where one log stands. `read` is called by one thread at a time, the rest by any.

    `done` is set when there is nothing more to read; `gap` says what is missing then, if anything.
    """

    def __init__(
        self, instance: Instance, log_store: LogStore, sinks: Sinks, *, file: str, source: str | None, leads: bool
    ) -> None:
        self.instance, self.leads = instance, leads
        # The name its lines are printed with; without one they are not.
        self._source = source
        self._log_store, self._sinks = log_store, sinks
        self._archive = Archive(log_store.directory / file, instance.uid, log_store)
        self.done = threading.Event()
        self.gap = ""
        # Whether the container has ended: what is read after that is the whole log.
        self.ended = False
        # Whether the log may be gone soon.
        self.urgent = False
        # How often in a row it could not be read, and how often that was since the permission was last seen.
        self.failures, self._refusals = 0, 0
        # When the answer under way began to come.
        self.answered = math.inf
        self._previous, self._follow = False, True
        self._response: urllib3.BaseHTTPResponse | None = None
        # Counts what makes the answer under way useless: see `interrupt`.
        self._interrupts = 0
        self._closed, self._midline = False, False
        # Where an answer ended last that came so far, and how often nothing was gained since.
        self._end: tuple[bytes, int, bytes] | None = None
        self._doubts = 0

    @property
    def file(self) -> Path:
        """The archive."""
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
        """Whether that is so because it cannot be written."""
        return self.behind and self._archive.blocked

    def end(self, *, previous: bool = False) -> None:
        """Learn that the container has ended; `previous` when another instance has taken its place since."""
        self._previous = self._previous or previous
        self.ended = self.urgent = True

    def finish(self) -> None:
        """Read what there is by now and end: the container goes on, or its connection has gone dead."""
        self._follow, self.ended, self.urgent = False, True, True
        self.interrupt()

    def interrupt(self) -> None:
        """Break off the answer under way; the next turn goes on behind it."""
        self._interrupts += 1
        wake(self._response)

    def give_up(self, why: str) -> None:
        """End without the rest."""
        if not self.done.is_set():
            self.gap = self.gap or why
            self.done.set()
            self.interrupt()
            self._log_store.storage.wrote(self.file)

    def read(self, kube: Kube) -> float:
        """Copy what there is, until the log ends or this is interrupted; return after how many seconds to go on."""
        whole, before, size = self.ended, self._interrupts, self.reached.size
        try:
            proven = self._copy(kube, whole=whole, before=before)
        except AbsentError:
            # After an answer that ended by itself nothing was missing; the pod is only gone.
            self._finished("" if self._closed else "its pod was gone before all of it was read")
        except ForbiddenError as error:
            return self._refused(error, kube.namespace)
        except (ClusterError, ConflictError, urllib3.exceptions.HTTPError, OSError, AttributeError, ValueError):
            # ClusterError 400 means that the container has not started yet; AttributeError, ValueError: see Watch.run.
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
            return self._doubt(gained=self.position.size > size) if whole and not proven else _RESUME
        return 0.0

    def _doubt(self, *, gained: bool) -> float:
        self._doubts = 1 if gained else self._doubts + 1
        if self._doubts >= _PROOFS:
            self._finished("its end may be missing: every answer ended elsewhere")
        return 0.0 if self._doubts == 1 else backoff(self._doubts) / 4

    def tail(self) -> tuple[str, ...]:
        """Return the last lines as plain text."""
        text, more = self._archive.tail(_TAIL_BYTES)
        lines = text.split(b"\n")
        if not lines[-1]:
            lines.pop()
        # The first of a long log is likely half of one.
        lines = lines[1:] if more and len(lines) > 1 else lines
        return tuple(clipped(line, _WIDTH) for line in lines[-TAIL:])

    def _copy(self, kube: Kube, *, whole: bool, before: int) -> bool:
        """Read one answer, and return whether it proves that the log, being `whole`, is archived to its end."""
        with self._archive.opened() as position:
            path = item("v1", "pods", kube.namespace, self.instance.pod, "log")
            response = self._response = kube.stream(path, self._params(position), read_timeout=_SILENCE)
            self.answered, self._refusals = time.monotonic(), 0
            reader = TimestampReader(position, self._log_store.mask, seen=self._archive.shown_until)
            try:
                if before != self._interrupts:
                    # It came too late to be woken.
                    return False
                self._closed = False
                while chunk := response.read1(1 << 20):
                    if not self._take(reader, reader.feed(chunk)):
                        return False
                self._closed = before == self._interrupts
                proven = self._agrees(reader) and whole
                # Without its end, the last line is either complete, or half of one that is read again.
                self._take(reader, reader.end(whole=proven))
                return proven and self._archive.finish()
            finally:
                self._response, self.answered = None, math.inf
                response.close()

    def _agrees(self, reader: TimestampReader) -> bool:
        """Return whether an answer ended where the one before it did that came so far.

        The API server hides it when the kubelet's side breaks off: an answer looks whole then that is not.
        """
        if not self._closed or reader.reached is None:
            return False
        before, self._end = self._end, reader.reached
        return before == self._end or reader.words

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
            # What was read before is counted by the archive.
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
        """Print whole lines, and of a line that comes in pieces the first piece, or how far its progress bar is."""
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
            # Credentials that have run out: others may come.
            return backoff(self.failures)
        self._sinks.console.note(
            f"logs cannot be read: these credentials may not 'get' 'pods/log' in namespace {namespace}; the step goes "
            "on without them. Ask the cluster's owner for it: docs/permissions.md."
        )
        self._refusals += 1
        if self._refusals < _REFUSALS:
            return backoff(self.failures) / 4
        if self.ended:
            self._finished("reading it was forbidden")
        return _REFUSED
