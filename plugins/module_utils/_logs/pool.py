# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""All logs of a step: read by a bounded number of threads, so that a thousand workers cost no more than thirty-two.

While there are more logs than threads, each is read in turns, those of the workload's leader and of what has ended
first; a turn goes on where the one before ended. What ended is read to its end.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Iterable

from ansible_collections.mlops.eks.plugins.module_utils._core import limits
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import StorageError
from ansible_collections.mlops.eks.plugins.module_utils._core.storage import RETRY, probe
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Kube
from ansible_collections.mlops.eks.plugins.module_utils._logs.reader import ContainerLog
from ansible_collections.mlops.eks.plugins.module_utils._logs.sinks import Instance, LogFile, LogStore, Sinks

# Logs that are followed at the same time, each by a thread and a connection of its own.
STREAMS = int(limits.default("log_streams"))
# Seconds a log is followed while others wait for their turn; for their first one.
_TURN = 15.0
_FIRST_TURN = 2.0
# How long nothing may arrive of a finished container's log before it is given up.
_DRAIN = 5.0
# A log that could not be read so many times in a row is asked for again only as often as all of them together may be:
# once in so many seconds. Behind a node that does not answer there may be a thousand.
_TRIES = 6
_APART = 0.05
# The longest name of an archive: file systems allow 255 bytes, and a file on its way to its name has a longer one.
_LONGEST = 240


class LogPool:
    """Every container's log, from the first sight of it to `close`."""

    def __init__(self, kube: Kube, log_store: LogStore, sinks: Sinks, *, streams: int = STREAMS) -> None:
        self._kube, self._log_store, self._sinks, self._streams = kube, log_store, sinks, streams
        self._logs: dict[Instance, ContainerLog] = {}
        # The pods that had a name, in the order they came.
        self._uids: dict[str, list[str]] = {}
        self._changed = threading.Condition()
        # When each waiting log may be read, those under way, and when each was read last.
        self._due: dict[ContainerLog, float] = {}
        self._reading: dict[ContainerLog, None] = {}
        self._last: dict[ContainerLog, float] = {}
        self._threads: list[threading.Thread] = []
        self._closed = False
        # When it was last tried whether what could not be written can be.
        self._tried = 0.0

    def __contains__(self, instance: Instance) -> bool:
        """Return whether this log is read already."""
        return instance in self._logs

    def follow(self, instance: Instance, *, source: str | None = None, leads: bool = False) -> None:
        """Begin to read a log; its lines are printed when they have a `source` to be printed with."""
        self._take_name(instance)
        file = self._file(instance)
        log = ContainerLog(instance, self._log_store, self._sinks, file=file, source=source, leads=leads)
        with self._changed:
            self._logs[instance] = log
            self._due[log] = 0.0
            if len(self._threads) < min(self._streams, len(self._due) + len(self._reading)):
                thread = threading.Thread(target=self._work, daemon=True, name=f"logs {len(self._threads) + 1}")
                self._threads.append(thread)
                thread.start()
            self._changed.notify()

    def end(self, instance: Instance, *, previous: bool = False) -> None:
        """Learn that a container has ended; `previous` when another instance has taken its place since."""
        log = self._logs[instance]
        if not log.ended:
            log.end(previous=previous)
            self._read_soon([log])

    def prioritize(self, instance: Instance) -> None:
        """Learn that a container will end, and its log with it."""
        log = self._logs[instance]
        if not log.urgent:
            log.urgent = True
            self._read_soon([log])

    def give_up(self, instance: Instance, why: str) -> None:
        """Learn that the rest of a log cannot be asked for any more."""
        self._logs[instance].give_up(why)

    def note_gap(self, instance: Instance, why: str) -> None:
        """Learn that something is missing before a log."""
        self._logs[instance].gap = why

    def balance(self) -> None:
        """Give those that wait their turn; called about once a second."""
        self._resume()
        with self._changed:
            now = time.monotonic()
            waiting = [log for log, due in self._due.items() if due <= now]
            if not waiting or len(self._reading) < self._streams:
                return
            patience = _TURN if all(log in self._last for log in waiting) else _FIRST_TURN
            patience = 0.0 if any(log.urgent for log in waiting) else patience
            # The leader's log is what people look at. Where all pods lead, half of them keep their place.
            kept = [log for log in self._reading if log.leads][: self._streams // 2]
            others = [log for log in self._reading if log not in kept and now - log.answered >= patience]
            chosen = sorted((log for log in others if not log.urgent), key=lambda log: log.answered)[: len(waiting)]
        for log in chosen:
            log.interrupt()

    @property
    def instances(self) -> tuple[Instance, ...]:
        """Whose logs there are."""
        return tuple(self._logs)

    @property
    def behind(self) -> bool:
        """Whether a log was read further than it is archived."""
        return any(log.behind for log in list(self._logs.values()))

    @property
    def read(self) -> int:
        """As many bytes were read so far."""
        return sum(log.reached.size for log in list(self._logs.values()))

    def _resume(self) -> None:
        """Let what is followed and cannot be archived be read again from there as soon as there is room."""
        now = time.monotonic()
        if now - self._tried < RETRY or not (blocked := [log for log in list(self._reading) if log.blocked]):
            return
        self._tried = now
        try:
            probe(self._log_store.directory)
        except StorageError:
            return
        for log in blocked:
            log.interrupt()

    def close(self, has_ended: Callable[[Instance], bool], wait: Callable[[], bool] = lambda: False) -> None:
        """Read logs that have an end to it, and the others as far as they are written.

        While they cannot be archived, `wait` tells whether to go on trying.
        """
        logs = list(self._logs.values())
        for log in logs:
            if has_ended(log.instance):
                log.end()
            else:
                log.finish()
        self._complete(logs, wait)
        # A connection may be dead and not know it: ask anew for what is missing.
        stuck = [log for log in logs if not log.done.is_set()]
        for log in stuck:
            log.finish()
        self._complete(stuck, wait)
        for log in stuck:
            log.give_up("" if log.behind else "the cluster did not send all of it")
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join(1.0)

    def files(self) -> dict[Instance, LogFile]:
        """Return what was archived."""
        return {
            instance: LogFile(f"logs/{log.file.name}", log.position.lines, log.position.size, log.missing)
            for instance, log in self._logs.items()
        }

    def tail(self, pod: str, container: str) -> tuple[str, ...]:
        """Return the last lines of a container (of any, without a name), of the newest instance that said anything."""
        newest_first = reversed(self._logs.items())
        found = (
            log
            for one, log in newest_first
            if one.pod == pod and one.container in (container, container or one.container)
        )
        return next((lines for log in found if (lines := log.tail())), ())

    def _take_name(self, instance: Instance) -> None:
        """Of two pods that have the same name one after the other, only the last can be asked for its log."""
        uids = self._uids.setdefault(instance.pod, [])
        if instance.uid in uids:
            return
        for one, log in self._logs.items() if uids else ():
            if one.pod == instance.pod:
                log.give_up("another pod took its name before all of it was read")
        uids.append(instance.uid)

    def _file(self, instance: Instance) -> str:
        """Return the archive's name; a pod that came again under the same name is told apart by a number."""
        again = self._uids[instance.pod].index(instance.uid)
        name = f"{instance.pod}~{again + 1}" if again else instance.pod
        count = f".{instance.restarts}" if instance.restarts else ""
        file = f"{name}.{instance.container}{count}.log"
        if len(file) <= _LONGEST:
            return file
        # Names of pods and containers are each short enough, but not always both together.
        known = hashlib.sha256(file.encode()).hexdigest()[:8]
        return f"{file[: _LONGEST - len(known) - 5]}~{known}.log"

    def _read_soon(self, logs: Iterable[ContainerLog]) -> None:
        """Let logs that wait for their moment be read as soon as a thread is free."""
        with self._changed:
            self._due.update((log, 0.0) for log in logs if log in self._due)
            self._changed.notify_all()
        self.balance()

    def _work(self) -> None:
        while (log := self._next()) is not None:
            ended = log.ended
            pause = log.read(self._kube)
            with self._changed:
                if log.failures > _TRIES or log.blocked:
                    pause = max(pause, _APART * len(self._due))
                now = self._last[log] = time.monotonic()
                del self._reading[log]
                # What has ended meanwhile can be read whole at once.
                self._due[log] = now if log.ended and not ended else now + pause
                self._changed.notify()

    def _next(self) -> ContainerLog | None:
        """Return the log to be read next, as soon as there is one; `None` after `close`."""
        with self._changed:
            while not self._closed:
                self._due = {log: due for log, due in self._due.items() if not log.done.is_set()}
                now = time.monotonic()
                ready = [log for log, due in self._due.items() if due <= now]
                if ready:
                    log = min(ready, key=self._rank)
                    del self._due[log]
                    self._reading[log] = None
                    return log
                self._changed.wait(min(self._due.values()) - now if self._due else None)
        return None

    def _rank(self, log: ContainerLog) -> tuple[bool, bool, float]:
        return not log.urgent, not log.leads, self._last.get(log, 0.0)

    def _complete(self, logs: list[ContainerLog], wait: Callable[[], bool]) -> None:
        """Read logs that have an end to it, and again those that were read further than they are archived."""
        self._read_soon(logs)
        self._drain(logs)
        while any(log.behind for log in logs) and wait():
            self._read_soon(logs)
            self._drain(logs)

    def _drain(self, logs: list[ContainerLog]) -> None:
        """Wait for logs that have an end, for as long as they make progress."""
        before = None
        while (so_far := [(log.reached.size, log.position.size, log.done.is_set()) for log in logs]) != before:
            before, deadline = so_far, time.monotonic() + _DRAIN
            if all(log.done.wait(max(0.0, deadline - time.monotonic())) for log in logs):
                return
