# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Threads that turn a cluster into a queue of changes: watches of workload, pods and events, and logs."""

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

# Seconds between two ticks, and between two looks at the screen while a job floods its log.
_TICK = 1.0
_SCREEN = 0.1


@dataclass(frozen=True, kw_only=True)
class Target:
    """What is followed: the workload, which pods it has before its status names any, and its logs.

    They are kept as `keeping` says; `shown` says whose are printed.
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
        self.console = Console(lambda: self.put(changes.Output(at=clock.now())))
        self._activity = Activity(progress=progress)
        sinks = Sinks(console=self.console, activity=self._activity)
        self.logs = LogPool(kube, target.log_store, sinks, streams=target.streams)
        self._secrets = Secrets(kube, target.log_store.mask, self.console.note)
        self._led = False
        self.selectors: tuple[Selector, ...] = ()
        self._watches: list[Watch] = []

    def start(self) -> None:
        """Begin to watch."""
        ref = self._target.ref
        self._watch(ref.parent, {"fieldSelector": f"metadata.name={ref.name}"}, self._on_workload)
        self._watch_pods(self._target.selectors)
        self._watch(collection("v1", "events", self._kube.namespace), {"fieldSelector": "type=Warning"}, self._on_event)

    def put(self, change: changes.Change) -> None:
        """Add a change from outside, such as the loss of the lock."""
        self._queue.put(change)

    @property
    def waiting(self) -> bool:
        """Whether another change has arrived already."""
        return not self._queue.empty()

    def changes(self) -> Iterator[changes.Change]:
        """Yield changes for ever, a tick at least every second."""
        ticked = self._clock.now()
        while True:
            now = self._clock.now()
            if now >= ticked + _TICK:
                ticked = now
                written = self._activity.take(now)
                yield changes.Wrote(at=now, **written._asdict()) if written else changes.Tick(at=now)
                continue
            try:
                change = self._queue.get(timeout=ticked + _TICK - now)
            except queue.Empty:
                continue
            yield change
            if isinstance(change, changes.Output):
                # The next flood of lines is looked at a little later, in one go.
                threading.Event().wait(_SCREEN)

    def follow_logs(self, state: State, change: Change | None = None) -> None:
        """Read every container instance that has output: of the pod that changed, or of all without a change.

        Whose log is printed is known when the workload is; until then nothing is read.
        """
        if not isinstance(change, changes.PodSeen):
            self.logs.balance()
        known = state.workload is not None
        if change is None or (known and not self._led):
            self._led = known
            pods: list[Document] = list(state.live.values())
        else:
            pods = [change.entry] if known and isinstance(change, changes.PodSeen) else []
        for pod in pods:
            self._secrets.look(pod)
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
                self.logs.miss(now, f"it was restarted {count} times; only the last two logs could be read")
        if container.state == "terminated":
            self.logs.end(now)
        elif pod["metadata"].get("deletionTimestamp"):
            self.logs.hurry(now)

    def _end_earlier(self, now: Instance) -> None:
        """Read the instance before this one to its end, also when nobody saw it; those before it are gone."""
        before = now._replace(restarts=now.restarts - 1)
        if before not in self.logs:
            self.logs.follow(before)
        self.logs.end(before, previous=True)
        for count in range(now.restarts - 1):
            if (older := now._replace(restarts=count)) in self.logs:
                self.logs.give_up(older, "it was restarted twice before all of it was read")

    def _source(self, pod: Document, container: pod_view.Container, *, leads: bool) -> str | None:
        """Return what the lines of a container are printed with: its pod's role, or its name where roles are alike."""
        if self._target.shown == "none" or (self._target.shown == "leader" and not leads):
            return None
        role = self._target.kind.role(pod)
        # Pods of a plain Job have no role but perhaps an index.
        name = pod_view.name(pod) if role == "pod" or role.isdigit() else role
        main = next((entry["name"] for entry in pod["spec"].get("containers") or ()), "")
        return name if container.name == main else f"{name}/{container.name}"

    def close(self, state: State, wait: Callable[[], bool] = lambda: False) -> None:
        """Stop watching, and read the logs to their ends; while they cannot be archived, `wait` tells how long."""
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
        """Watch what is not watched yet; what is not named any more had pods whose end is still to be seen."""
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
                # It was created before anybody watches: a list without it says that it was deleted.
                self.put(changes.WorkloadGone(at=self._clock.now()))
            case "ERROR":
                self._on_trouble(entry)

    def _on_pod(self, verb: Verb, entry: Document) -> None:
        match verb:
            case "SEEN":
                self.put(changes.PodSeen(at=self._clock.now(), entry=entry))
            case "GONE":
                self.put(changes.PodGone(at=self._clock.now(), entry=entry))
            case "ERROR":
                self._on_trouble(entry)

    def _on_event(self, verb: Verb, entry: Document) -> None:
        match verb:
            case "SEEN":
                self.put(changes.EventSeen(at=self._clock.now(), entry=entry))
            case "ERROR":
                self._on_trouble(entry)

    def _on_trouble(self, entry: Document) -> None:
        self.put(changes.Trouble(at=self._clock.now(), message=entry["message"]))
