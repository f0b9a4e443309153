# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Threads that turn a cluster into a queue of changes: watches of the workload, its pods and events, and logs."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import Clock
from ansible_collections.mlops.eks.plugins.module_utils._follow import changes
from ansible_collections.mlops.eks.plugins.module_utils._follow.changes import Change
from ansible_collections.mlops.eks.plugins.module_utils._follow.state import State
from ansible_collections.mlops.eks.plugins.module_utils._kube import pods as pod_view
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document, Kube
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.table import Kind, Selector
from ansible_collections.mlops.eks.plugins.module_utils._kube.paths import Ref, collection
from ansible_collections.mlops.eks.plugins.module_utils._kube.watch import Handler, Verb, Watch
from ansible_collections.mlops.eks.plugins.module_utils._logs.activity import Activity
from ansible_collections.mlops.eks.plugins.module_utils._logs.console import Console, Shown
from ansible_collections.mlops.eks.plugins.module_utils._logs.pool import STREAMS, LogPool
from ansible_collections.mlops.eks.plugins.module_utils._logs.secrets import Secrets
from ansible_collections.mlops.eks.plugins.module_utils._logs.sinks import Instance, LogStore, Sinks

# Seconds between two ticks, and between two prints while a job floods its log.
_TICK = 1.0
_PRINT_INTERVAL = 0.1


@dataclass(frozen=True, kw_only=True)
class Target:
    """What is followed: the workload, its pods and their logs.

    `selectors` find the pods before the status of the workload names any; `shown` says whose logs are printed.
    """

    kind: Kind
    ref: Ref
    selectors: tuple[Selector, ...]
    log_store: LogStore
    shown: Shown = "leader"
    streams: int = STREAMS


class Observer:
    """Feeds changes of one workload until `close`."""

    def __init__(self, kube: Kube, target: Target, clock: Clock, *, progress: bool = False) -> None:
        self._kube, self._target, self._clock = kube, target, clock
        self._queue: queue.SimpleQueue[changes.Change] = queue.SimpleQueue()
        self._exists = False
        self.console = Console(lambda: self.put(changes.ConsoleOutput(at=clock.now())))
        self._activity = Activity(progress=progress)
        sinks = Sinks(console=self.console, activity=self._activity)
        self.logs = LogPool(kube, target.log_store, sinks, streams=target.streams)
        self._secrets = Secrets(kube, target.log_store.mask, self.console.note)
        # Whether the workload was known at the last call of `follow_logs`.
        self._workload_known = False
        self.selectors: tuple[Selector, ...] = ()
        self._watches: list[Watch] = []

    def start(self) -> None:
        """Begin to watch."""
        ref = self._target.ref
        self._watch(ref.parent, {"fieldSelector": f"metadata.name={ref.name}"}, self._on_workload)
        self._watch_pods(self._target.selectors)
        self._watch(collection("v1", "events", self._kube.namespace), {"fieldSelector": "type=Warning"}, self._on_event)

    def put(self, change: changes.Change) -> None:
        """Add a change, for example the loss of the lock."""
        self._queue.put(change)

    @property
    def waiting(self) -> bool:
        """Whether another change has arrived already."""
        return not self._queue.empty()

    def changes(self) -> Iterator[changes.Change]:
        """Yield changes without end; at least a tick every second."""
        ticked = self._clock.now()
        while True:
            now = self._clock.now()
            if now >= ticked + _TICK:
                ticked = now
                output = self._activity.take(now)
                yield changes.LogActivity(at=now, output=output) if output else changes.Tick(at=now)
                continue
            try:
                change = self._queue.get(timeout=ticked + _TICK - now)
            except queue.Empty:
                continue
            yield change
            if isinstance(change, changes.ConsoleOutput):
                # The lines of the next moment are printed together.
                threading.Event().wait(_PRINT_INTERVAL)

    def follow_logs(self, state: State, change: Change | None = None) -> None:
        """Read the logs of the pod that changed; without a change, of all pods.

        Nothing is read before the workload is known: it says whose log is printed.
        """
        if not isinstance(change, changes.PodSeen):
            self.logs.balance()
        known = state.workload is not None
        if change is None or (known and not self._workload_known):
            self._workload_known = known
            pods: list[Document] = list(state.live.values())
        else:
            pods = [change.entry] if known and isinstance(change, changes.PodSeen) else []
        for pod in pods:
            self._secrets.register(pod)
            for container in pod_view.containers(pod):
                if container.has_log:
                    self._follow(state, pod, container)

    def _follow(self, state: State, pod: Document, container: pod_view.Container) -> None:
        count = container.restarts
        now = Instance(pod_view.name(pod), pod["metadata"]["uid"], container.name, count)
        if count:
            self._end_earlier(now)
        if now not in self.logs:
            leads = state.workload is not None and self._target.kind.leads(state.workload, pod)
            self.logs.follow(now, source=self._source(pod, container, leads=leads), leads=leads)
            if count > 1 and now._replace(restarts=0) not in self.logs:
                self.logs.note_gap(now, f"it was restarted {count} times; only the last two logs could be read")
        if container.state == "terminated":
            self.logs.end(now)
        elif pod["metadata"].get("deletionTimestamp"):
            self.logs.prioritize(now)

    def _end_earlier(self, now: Instance) -> None:
        """Read the instance before this one to its end, also if it was never seen; older logs are deleted."""
        before = now._replace(restarts=now.restarts - 1)
        if before not in self.logs:
            self.logs.follow(before)
        self.logs.end(before, previous=True)
        for count in range(now.restarts - 1):
            if (older := now._replace(restarts=count)) in self.logs:
                self.logs.give_up(older, "it was restarted twice before all of it was read")

    def _source(self, pod: Document, container: pod_view.Container, *, leads: bool) -> str | None:
        """Return the prefix of the printed lines: the pod's role, or its name where several pods have the same role."""
        if self._target.shown == "none" or (self._target.shown == "leader" and not leads):
            return None
        role = self._target.kind.role(pod)
        # Pods of a plain Job have no role, perhaps an index.
        name = pod_view.name(pod) if role == "pod" or role.isdigit() else role
        main = next((entry["name"] for entry in pod["spec"].get("containers") or ()), "")
        return name if container.name == main else f"{name}/{container.name}"

    def close(self, state: State, wait: Callable[[], bool] = lambda: False) -> None:
        """Stop watching and read the logs to their ends; `wait` says whether to retry when archiving fails."""
        for watch in self._watches:
            watch.stop()
        ended = {
            (pod["metadata"]["uid"], container.name)
            for pod in state.pods.values()
            for container in pod_view.containers(pod)
            if container.state == "terminated" or pod_view.name(pod) in state.gone
        }
        self.logs.close(lambda one: (one.uid, one.container) in ended, wait)

    def _watch(self, path: str, selector: Selector, handle: Handler) -> None:
        watch = Watch(self._kube, path, selector, handle)
        self._watches.append(watch)
        watch.start()

    def _watch_pods(self, selectors: tuple[Selector, ...]) -> None:
        """Add watches for new selectors; the old ones stay until their pods have ended."""
        for selector in selectors:
            if selector not in self.selectors:
                self.selectors = (*self.selectors, selector)
                self._watch(collection("v1", "pods", self._kube.namespace), selector, self._on_pod)

    def _on_workload(self, verb: Verb, entry: Document) -> None:
        match verb:
            case "SEEN":
                self._exists = True
                self._watch_pods(self._target.kind.selectors(entry))
                self.put(changes.WorkloadSeen(at=self._clock.now(), entry=entry))
            case "GONE":
                self._exists = False
                self.put(changes.WorkloadGone(at=self._clock.now()))
            case "SYNCED" if not self._exists:
                # The workload is created before the watch starts: if the first list lacks it, it was deleted.
                self.put(changes.WorkloadGone(at=self._clock.now()))
            case "ERROR":
                self._on_error(entry)

    def _on_pod(self, verb: Verb, entry: Document) -> None:
        match verb:
            case "SEEN":
                self.put(changes.PodSeen(at=self._clock.now(), entry=entry))
            case "GONE":
                self.put(changes.PodGone(at=self._clock.now(), entry=entry))
            case "ERROR":
                self._on_error(entry)

    def _on_event(self, verb: Verb, entry: Document) -> None:
        match verb:
            case "SEEN":
                self.put(changes.EventSeen(at=self._clock.now(), entry=entry))
            case "ERROR":
                self._on_error(entry)

    def _on_error(self, entry: Document) -> None:
        self.put(changes.WatchError(at=self._clock.now(), message=entry["message"]))
