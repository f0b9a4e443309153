# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The log pool: all logs of a step, read by a bounded number of threads.

While there are more logs than threads, logs take turns, first those of the leader and of ended containers. A turn
continues where the last one stopped. The log of an ended container is read to its end.
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

# Logs that are followed at the same time, each with its own thread and connection.
STREAMS = int(limits.default("log_streams"))
# Seconds a log is followed while others wait for a turn; while others wait for their first one.
_TURN = 15.0
_FIRST_TURN = 2.0
# Seconds without progress after which the rest of the logs is given up at `close`.
_CLOSE_TIMEOUT = 5.0
# After this many failures in a row a log is retried at a rate that all waiting logs share: one request per interval, in
# seconds. A node that does not answer may have a thousand logs.
_MAX_FAST_RETRIES = 6
_RETRY_INTERVAL = 0.05
# The longest file name of an archive: file systems allow 255 bytes, and temporary names are longer.
_MAX_NAME = 240


class LogPool:
    """The logs of all containers, from when each is first seen until `close`."""

    def __init__(self, kube: Kube, log_store: LogStore, sinks: Sinks, *, streams: int = STREAMS) -> None:
        self._kube, self._log_store, self._sinks, self._streams = kube, log_store, sinks, streams
        self._logs: dict[Instance, ContainerLog] = {}
        # By pod name, the uids of the pods that had it, oldest first.
        self._uids: dict[str, list[str]] = {}
        self._changed = threading.Condition()
        # When each waiting log may be read, the logs being read, and when each was read last.
        self._due: dict[ContainerLog, float] = {}
        self._reading: dict[ContainerLog, None] = {}
        self._last: dict[ContainerLog, float] = {}
        self._threads: list[threading.Thread] = []
        self._closed = False
        # When the disk was last checked for room.
        self._probed_at = 0.0

    def __contains__(self, instance: Instance) -> bool:
        """Return whether this log is read already."""
        return instance in self._logs

    def follow(self, instance: Instance, *, source: str | None = None, leads: bool = False) -> None:
        """Begin to read a log; its lines are printed with the prefix `source`, not at all when it is `None`."""
        self._register_name(instance)
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
        """Report that a container has ended; `previous` when a newer instance has started."""
        log = self._logs[instance]
        if not log.ended:
            log.end(previous=previous)
            self._read_soon([log])

    def prioritize(self, instance: Instance) -> None:
        """Report that a container is being deleted: its log is read soon."""
        log = self._logs[instance]
        if not log.urgent:
            log.urgent = True
            self._read_soon([log])

    def give_up(self, instance: Instance, why: str) -> None:
        """Report that the rest of a log can no longer be read."""
        self._logs[instance].give_up(why)

    def note_gap(self, instance: Instance, why: str) -> None:
        """Report that lines before this log are missing."""
        self._logs[instance].gap = why

    def balance(self) -> None:
        """Interrupt logs so that waiting ones get their turn; called about once a second."""
        self._resume()
        with self._changed:
            now = time.monotonic()
            waiting = [log for log, due in self._due.items() if due <= now]
            if not waiting or len(self._reading) < self._streams:
                return
            turn = _TURN if all(log in self._last for log in waiting) else _FIRST_TURN
            turn = 0.0 if any(log.urgent for log in waiting) else turn
            # The leader's log is printed, so it is never interrupted; where all pods lead, half of them are not.
            kept = [log for log in self._reading if log.leads][: self._streams // 2]
            others = [log for log in self._reading if log not in kept and now - log.answered >= turn]
            chosen = sorted((log for log in others if not log.urgent), key=lambda log: log.answered)[: len(waiting)]
        for log in chosen:
            log.interrupt()

    @property
    def instances(self) -> tuple[Instance, ...]:
        """The container instances whose logs are read."""
        return tuple(self._logs)

    @property
    def behind(self) -> bool:
        """Whether a log was read further than it is archived."""
        return any(log.behind for log in list(self._logs.values()))

    @property
    def read(self) -> int:
        """Bytes read so far."""
        return sum(log.reached.size for log in list(self._logs.values()))

    def _resume(self) -> None:
        """Interrupt logs that could not be archived once the disk has room: they are read again."""
        now = time.monotonic()
        if now - self._probed_at < RETRY or not (blocked := [log for log in list(self._reading) if log.blocked]):
            return
        self._probed_at = now
        try:
            probe(self._log_store.directory)
        except StorageError:
            return
        for log in blocked:
            log.interrupt()

    def close(self, has_ended: Callable[[Instance], bool], wait: Callable[[], bool] = lambda: False) -> None:
        """Read the logs of ended containers to the end, and the others as far as they are written.

        `wait` is called while logs cannot be archived; it returns whether to retry.
        """
        logs = list(self._logs.values())
        for log in logs:
            if has_ended(log.instance):
                log.end()
            else:
                log.finish()
        self._read_to_end(logs, wait)
        # A connection may be dead without an error: request the rest again.
        stuck = [log for log in logs if not log.done.is_set()]
        for log in stuck:
            log.finish()
        self._read_to_end(stuck, wait)
        for log in stuck:
            log.give_up("" if log.behind else "the cluster did not send all of it")
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join(1.0)

    def files(self) -> dict[Instance, LogFile]:
        """Return the archived files."""
        return {
            instance: LogFile(f"logs/{log.file.name}", log.position.lines, log.position.size, log.missing)
            for instance, log in self._logs.items()
        }

    def tail(self, pod: str, container: str) -> tuple[str, ...]:
        """Return the last lines of a container, or of any without a name: of its newest instance with output."""
        newest_first = reversed(self._logs.items())
        found = (
            log
            for one, log in newest_first
            if one.pod == pod and one.container in (container, container or one.container)
        )
        return next((lines for log in found if (lines := log.tail())), ())

    def _register_name(self, instance: Instance) -> None:
        """Give up the logs of an earlier pod of the same name: only the log of the newest can be read."""
        uids = self._uids.setdefault(instance.pod, [])
        if instance.uid in uids:
            return
        for one, log in self._logs.items() if uids else ():
            if one.pod == instance.pod:
                log.give_up("another pod took its name before all of it was read")
        uids.append(instance.uid)

    def _file(self, instance: Instance) -> str:
        """Return the name of the archive; a later pod of the same name gets a number."""
        again = self._uids[instance.pod].index(instance.uid)
        name = f"{instance.pod}~{again + 1}" if again else instance.pod
        count = f".{instance.restarts}" if instance.restarts else ""
        file = f"{name}.{instance.container}{count}.log"
        if len(file) <= _MAX_NAME:
            return file
        known = hashlib.sha256(file.encode()).hexdigest()[:8]
        return f"{file[: _MAX_NAME - len(known) - 5]}~{known}.log"

    def _read_soon(self, logs: Iterable[ContainerLog]) -> None:
        """Let waiting logs be read as soon as a thread is free."""
        with self._changed:
            self._due.update((log, 0.0) for log in logs if log in self._due)
            self._changed.notify_all()
        self.balance()

    def _work(self) -> None:
        while (log := self._next()) is not None:
            ended = log.ended
            pause = log.read(self._kube)
            with self._changed:
                if log.failures > _MAX_FAST_RETRIES or log.blocked:
                    pause = max(pause, _RETRY_INTERVAL * len(self._due))
                now = self._last[log] = time.monotonic()
                del self._reading[log]
                # If the container ended meanwhile, its log can be read to the end at once.
                self._due[log] = now if log.ended and not ended else now + pause
                self._changed.notify()

    def _next(self) -> ContainerLog | None:
        """Wait for the next log that is due and return it; `None` after `close`."""
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

    def _read_to_end(self, logs: list[ContainerLog], wait: Callable[[], bool]) -> None:
        """Read these logs to the end; repeat it for those that could not be archived while `wait` says so."""
        self._read_soon(logs)
        self._wait_for(logs)
        while any(log.behind for log in logs) and wait():
            self._read_soon(logs)
            self._wait_for(logs)

    def _wait_for(self, logs: list[ContainerLog]) -> None:
        """Wait until these logs are complete, for as long as they make progress."""
        before = None
        while (so_far := [(log.reached.size, log.position.size, log.done.is_set()) for log in logs]) != before:
            before, deadline = so_far, time.monotonic() + _CLOSE_TIMEOUT
            if all(log.done.wait(max(0.0, deadline - time.monotonic())) for log in logs):
                return
