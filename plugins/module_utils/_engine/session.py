# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Follow one workload to its end: feed its changes to the reducer, print the lines, and write the evidence."""

from __future__ import annotations

import contextlib
import typing as t
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from functools import partial

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import StorageError
from ansible_collections.mlops.eks.plugins.module_utils._core.step_record import Workload
from ansible_collections.mlops.eks.plugins.module_utils._diagnose import events
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.launchers import with_rank
from ansible_collections.mlops.eks.plugins.module_utils._engine import evidence, record
from ansible_collections.mlops.eks.plugins.module_utils._engine.record import FOLLOWING, Journal, Writer
from ansible_collections.mlops.eks.plugins.module_utils._follow import changes
from ansible_collections.mlops.eks.plugins.module_utils._follow.context import Context
from ansible_collections.mlops.eks.plugins.module_utils._follow.drain import Drain, unfinished
from ansible_collections.mlops.eks.plugins.module_utils._follow.observe import Observer, Target
from ansible_collections.mlops.eks.plugins.module_utils._follow.outcome import nodes_to_check, settle
from ansible_collections.mlops.eks.plugins.module_utils._follow.reducer import reduce
from ansible_collections.mlops.eks.plugins.module_utils._follow.state import Ending, Rules, State, start
from ansible_collections.mlops.eks.plugins.module_utils._kube import listing
from ansible_collections.mlops.eks.plugins.module_utils._kube import pods as pod_view
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document, Kube
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.table import Selector
from ansible_collections.mlops.eks.plugins.module_utils._kube.paths import collection
from ansible_collections.mlops.eks.plugins.module_utils._logs.sinks import Instance, LogFile, gaps

# Up to so many pods are read one by one at the end.
_FEW = 16


class Session:
    """The observation of one workload, from its current state to its end."""

    def __init__(self, kube: Kube, target: Target, rules: Rules, journal: Journal, *, writer: Writer) -> None:
        self._kube, self._target, self._rules, self._journal = kube, target, rules, journal
        self._writer, self._clock, self._say = writer, writer.clock, writer.say
        self._observer = Observer(kube, target, self._clock, progress=rules.progress is not None)
        self._context = Context(kube, self._observer.put)
        # The logs that drained pods wrote after the end.
        self._drained: dict[Instance, LogFile] = {}

    def lost_lock(self, holder: str) -> None:
        """End the session because another controller took over; called from the lock's thread."""
        self._observer.put(changes.LockLost(at=self._clock.now(), holder=holder))

    def follow(self) -> State:
        """Follow to the end, then read the final pods and logs, and write the evidence."""
        state = start(self._rules, self._clock.now())
        settled = False
        self._observer.start()
        try:
            for change in self._observer.changes():
                state = self._reduce(state, change)
                if state.ending:
                    break
            state = settle(state, self._pods(), self._rules)
            if names := nodes_to_check(state):
                state = settle(state, [], self._rules, nodes=self._context.nodes(names))
            self._observer.follow_logs(state)
            settled = True
            if t.cast(Ending, state.ending).outcome == "ready":
                self._writer.waits_for_room = False
        finally:
            self._observer.close(state, self._wait_for_room if settled else _never)
        for line in (*self._observer.console.drain(), *gaps(self._observer.logs.files())):
            self._say(line)
        return self._write_state(state)

    def _wait_for_room(self) -> bool:
        """Print new log lines, and wait for room to archive them; return whether to try again."""
        for line in self._observer.console.drain():
            self._say(line)
        return self._writer.wait()

    def _reduce(self, state: State, change: changes.Change) -> State:
        before = (state.phases, state.heartbeat_at)
        more = self._observer.waiting
        state, lines = reduce(state, change, self._rules, more=more)
        # The log lines of a program come before our lines about it.
        for line in (*self._observer.console.drain(), *lines):
            self._say(line)
        self._observer.follow_logs(state, change)
        # Not at each change of a pod: a thousand of them may start at once.
        if isinstance(change, changes.Tick | changes.LogActivity) and not state.ending:
            self._context.fetch(state, change.at)
        if (state.phases, state.heartbeat_at) != before:
            self._journal.note(phases=record.phases(state, None), **record.course(state))
        self._writer.report(change.at, FOLLOWING, every=self._rules.heartbeat)
        return state

    def _pods(self) -> list[Document]:
        """Return the workload's pods as they are now."""
        return [pod for selector in self._observer.selectors for pod in self._selected(selector)]

    def _selected(self, selector: Selector) -> list[Document]:
        path = collection("v1", "pods", self._kube.namespace)
        # A list at the newest version waits 0.1 s for the API server's cache; a cached list and a single pod do not.
        pods = listing.pods(self._kube, {**selector, "resourceVersion": "0"})
        names = list(map(pod_view.name, unfinished(pods)))
        if len(names) > _FEW:
            return listing.pods(self._kube, selector)
        newest = {name: self._kube.get(f"{path}/{name}") for name in names}
        latest = (newest.get(pod_view.name(pod), pod) for pod in pods)
        return [pod for pod in latest if pod is not None]

    def _write_state(self, state: State) -> State:
        """Write the final state, with the log tail of the failing container in its cause, and return it."""
        ending = t.cast(Ending, state.ending)
        cause = ending.cause
        if cause is not None:
            tail = self._tail(cause.object.rpartition("/")[2], cause.container)
            state = replace(state, ending=replace(ending, cause=with_rank(cause.with_log(tail))))
        with contextlib.suppress(StorageError):
            self._writer.retry_write(partial(evidence.write_state, self._journal.task, state))
        return state

    def drain(self, state: State, left: list[Document], uninstall: Callable[[], None]) -> State:
        """Uninstall, archive what the pods `left` write until they end, and return the state with their last view."""
        log_store = self._target.log_store
        # Their logs continue in the same archive.
        log_store = replace(log_store, earlier_evidence=(log_store.directory.parent,))
        drain = Drain(self._kube, left, self._observer.selectors, log_store, clock=self._clock, say=self._say)
        uninstall()
        self._drained = drain.complete()
        state = replace(state, pods={**state.pods, **drain.pods})
        task = self._journal.task
        task.storage.try_write(task.evidence, partial(evidence.write_state, task, state))
        return state

    def summary(self, state: State, finished: float) -> dict[str, t.Any]:
        """Return the session's fields of the record."""
        pods = record.pods(state, self._target.kind, self._newest_logs())
        ref, ending = self._target.ref, t.cast(Ending, state.ending)
        return {
            "outcome": ending.outcome,
            "cause": record.cause(ending.cause),
            "workload": asdict(Workload(api_version=ref.api_version, kind=ref.kind, name=ref.name)),
            "phases": record.phases(state, finished),
            **record.course(state),
            "pods": pods,
            "resources": record.resources(pods, finished),
            "log_tail": self._leader_tail(state),
            "warnings": [
                *map(events.line, state.warnings.values()),
                *_omissions(state),
                *self._observer.console.notes,
                *gaps({**self._observer.logs.files(), **self._drained}),
                *filter(None, [ending.note]),
            ],
        }

    def _leader_tail(self, state: State) -> list[str]:
        for name, pod in sorted(state.pods.items(), reverse=True):
            if state.workload is None or self._target.kind.leads(state.workload, pod):
                tail = self._tail(name, "")
                if tail:
                    return list(tail)
        return []

    def _tail(self, pod: str, container: str) -> tuple[str, ...]:
        """Return the last lines of a container's log; none for a private step, whose lines are only in the archive."""
        return () if self._journal.task.private else self._observer.logs.tail(pod, container)

    def _newest_logs(self) -> dict[tuple[str, str], LogFile]:
        files = sorted({**self._observer.logs.files(), **self._drained}.items(), key=_restarts)
        return {(one.pod, one.container): file for one, file in files}


def _never() -> bool:
    return False


def _omissions(state: State) -> Iterator[str]:
    """Yield a warning for each bound that was exceeded."""
    if state.dropped_warnings:
        yield f"{state.dropped_warnings} older warnings were not kept"
    if state.dropped_pods:
        yield f"{state.dropped_pods} pods that went earlier are not listed; their logs are in the evidence"


def _restarts(entry: tuple[Instance, LogFile]) -> int:
    return entry[0].restarts
