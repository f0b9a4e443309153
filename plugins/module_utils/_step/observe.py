# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Threads that turn a cluster into a queue of changes: watches of workload, pods and events, and logs."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import Clock
from ansible_collections.mlops.eks.plugins.module_utils._kube import pods as pod_view
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document, Kube
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds import Kind, Selector
from ansible_collections.mlops.eks.plugins.module_utils._kube.paths import Ref, collection
from ansible_collections.mlops.eks.plugins.module_utils._kube.watch import Handler, Verb, Watch
from ansible_collections.mlops.eks.plugins.module_utils._step import changes
from ansible_collections.mlops.eks.plugins.module_utils._step.hearing import Hearing
from ansible_collections.mlops.eks.plugins.module_utils._step.logs import LogFollower
from ansible_collections.mlops.eks.plugins.module_utils._step.record import LogFile
from ansible_collections.mlops.eks.plugins.module_utils._step.screen import Screen
from ansible_collections.mlops.eks.plugins.module_utils._step.state import State

# Seconds between two ticks, and between two looks at the screen while a job floods its log.
_TICK = 1.0
_SCREEN = 0.1
# How long nothing may arrive of a finished container's log before it is given up.
_DRAIN = 5.0


@dataclass(frozen=True, kw_only=True)
class Target:
    """What is followed: the workload, which pods it has before its status names any, and where logs go."""

    kind: Kind
    ref: Ref
    selectors: tuple[Selector, ...]
    logs: Path


class Observer:
    """Feeds changes of one workload until `close`."""

    def __init__(self, kube: Kube, target: Target, clock: Clock, *, progress: bool = False) -> None:
        self._kube, self._target, self._clock = kube, target, clock
        self._queue: queue.SimpleQueue[changes.Change] = queue.SimpleQueue()
        self._exists = False
        self.screen = Screen(lambda: self.put(changes.Output(at=clock.now())))
        self._hearing = Hearing(progress=progress)
        self.followers: dict[tuple[str, str, int], LogFollower] = {}
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
                yield self._hearing.change(now) or changes.Tick(at=now)
                continue
            try:
                change = self._queue.get(timeout=ticked + _TICK - now)
            except queue.Empty:
                continue
            yield change
            if isinstance(change, changes.Output):
                # The next flood of lines is looked at a little later, in one go.
                threading.Event().wait(_SCREEN)

    def follow_logs(self, state: State) -> None:
        """Start a follower for every container instance that has output and none yet."""
        for pod in state.live.values():
            for container in pod_view.containers(pod):
                if not container.has_log:
                    continue
                name, count = pod_view.name(pod), container.restarts
                leads = state.workload is not None and self._target.kind.leads(state.workload, pod)
                if count:
                    self._end(name, container.name, count - 1, replaced=True)
                if (name, container.name, count) not in self.followers:
                    self._follow(name, container.name, count, leads=leads, previous=False)
                if container.state == "terminated":
                    self._end(name, container.name, count, replaced=False)

    def _end(self, pod: str, container: str, count: int, *, replaced: bool) -> None:
        """Tell the follower of an instance that it has ended; one that nobody saw is read now."""
        follower = self.followers.get((pod, container, count))
        if follower is not None:
            follower.end(replaced=replaced)
        else:
            self._follow(pod, container, count, leads=False, previous=True)

    def _follow(self, pod: str, container: str, count: int, *, leads: bool, previous: bool) -> None:
        suffix = f".{count}" if count else ""
        follower = LogFollower(
            self._kube,
            pod=pod,
            container=container,
            file=self._target.logs / f"{pod}.{container}{suffix}.log",
            screen=self.screen if leads else None,
            hearing=self._hearing,
            leads=leads,
            prefix=pod,
            previous=previous,
        )
        self.followers[pod, container, count] = follower
        follower.start()

    def close(self, state: State) -> None:
        """Stop watching; read logs that have an end to it, and the others as far as they are written."""
        for watch in self._watches:
            watch.stop()
        ended = {
            (pod_view.name(pod), container.name)
            for pod in state.pods.values()
            for container in pod_view.containers(pod)
            if container.state == "terminated" or pod_view.name(pod) in state.gone
        }
        for (pod, container, _), follower in self.followers.items():
            if (pod, container) in ended:
                follower.end()
            else:
                follower.finish()
        self._drain(list(self.followers.values()))
        # A connection may be dead and not know it: ask anew for what is missing.
        stuck = [follower for follower in self.followers.values() if not follower.done.is_set()]
        for follower in stuck:
            follower.finish()
        self._drain(stuck)
        for follower in stuck:
            follower.stop()
        for follower in stuck:
            follower.done.wait(1.0)

    def _drain(self, followers: list[LogFollower]) -> None:
        """Wait for logs that have an end, for as long as they make progress."""
        copied = -1
        while (so_far := sum(follower.bytes for follower in followers)) > copied:
            copied, deadline = so_far, self._clock.now() + _DRAIN
            if all(follower.done.wait(max(0.0, deadline - self._clock.now())) for follower in followers):
                return

    def log_files(self) -> dict[tuple[str, str], LogFile]:
        """Return the newest archived log of each container."""
        files = {}
        for (pod, container, _), follower in sorted(self.followers.items()):
            files[pod, container] = LogFile(f"logs/{follower.file.name}", follower.lines, follower.bytes)
        return files

    def tail(self, pod: str, container: str) -> tuple[str, ...]:
        """Return the last lines of a container, of the newest instance that said anything."""
        for _, follower in sorted(self.followers.items(), reverse=True):
            if (
                follower.pod == pod
                and follower.container in (container, container or follower.container)
                and follower.tail
            ):
                return follower.tail_text()
        return ()

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
                self.put(changes.Trouble(at=self._clock.now(), message=entry["message"]))

    def _on_pod(self, verb: Verb, entry: Document) -> None:
        match verb:
            case "SEEN":
                self.put(changes.PodSeen(at=self._clock.now(), entry=entry))
            case "GONE":
                self.put(changes.PodGone(at=self._clock.now(), entry=entry))

    def _on_event(self, verb: Verb, entry: Document) -> None:
        if verb == "SEEN":
            self.put(changes.EventSeen(at=self._clock.now(), entry=entry))
