# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Drain: follow pods that are being deleted until they end, and keep what they write, for example of a checkpoint.

Source: Kubernetes "Pod termination": a deleted pod has a grace period and ends within it in a final phase. The API
server sets the time of the deletion, so the wait is counted from when the engine sees it: clocks are never compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import Clock, human
from ansible_collections.mlops.eks.plugins.module_utils._core.text import listed
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.disruptions import node_is_silent
from ansible_collections.mlops.eks.plugins.module_utils._kube import pods as pod_view
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document, Kube
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.table import Selector
from ansible_collections.mlops.eks.plugins.module_utils._kube.paths import collection
from ansible_collections.mlops.eks.plugins.module_utils._kube.watch import Verb, Watch
from ansible_collections.mlops.eks.plugins.module_utils._logs.pool import LogPool
from ansible_collections.mlops.eks.plugins.module_utils._logs.secrets import Secrets
from ansible_collections.mlops.eks.plugins.module_utils._logs.sinks import Instance, LogFile, LogStore, Sinks, gaps

# Kubernetes' default grace period, and the seconds a kubelet may need beyond one. A pod that writes a checkpoint may
# have a grace period of 20 minutes.
_DEFAULT_GRACE, _KUBELET_SECONDS = 30.0, 5.0
# Seconds in which the garbage collector deletes the pods of a deleted owner; pods that stay longer are orphans.
_GARBAGE_COLLECTION = 15.0
_DELETION = ("deletionTimestamp", "deletionGracePeriodSeconds")
# Seconds between two checks of the pods, and between two lines about them.
_POLL, _LINE_INTERVAL = 0.5, 60.0
# Seconds in which the output so far is archived before pods are deleted, for pods that write all the time.
_CATCH_UP_TIMEOUT = 30.0
_KEPT = "nothing is uninstalled until the evidence is whole. After Ctrl-C the same command goes on from here"


def grace_seconds(pods: Iterable[Document]) -> float:
    """Return the seconds these pods may take to end after their deletion."""
    return max(map(_grace_period, pods), default=0.0) + _KUBELET_SECONDS


def _grace_period(pod: Document) -> float:
    places = (pod["metadata"], "deletionGracePeriodSeconds"), (pod.get("spec") or {}, "terminationGracePeriodSeconds")
    return next((float(place[key]) for place, key in places if place.get(key) is not None), _DEFAULT_GRACE)


def unfinished(pods: Iterable[Document]) -> list[Document]:
    """Return the pods that have not ended."""
    return [pod for pod in pods if pod_view.phase(pod) not in ("Succeeded", "Failed")]


def still_running(pods: Iterable[Document]) -> list[Document]:
    """Return the pods that run on nodes that answer: they may still write before they end."""
    return [pod for pod in unfinished(pods) if _runs(pod) and not node_is_silent(pod)]


def _runs(pod: Document) -> bool:
    return any(container.state == "running" for container in pod_view.containers(pod))


def wait_is_over(pods: Sequence[Document], waited: float) -> bool:
    """Return whether to stop waiting for these unfinished pods after `waited` seconds."""
    orphaned = waited >= _GARBAGE_COLLECTION and not any(pod["metadata"].get("deletionTimestamp") for pod in pods)
    return not pods or orphaned or waited >= grace_seconds(pods)


def pod_names(pods: Sequence[Document]) -> str:
    """Return up to three names, and how many more there are."""
    return listed(sorted(map(pod_view.name, pods)), rest="more pods")


def with_first_deletion(before: Document | None, pod: Document) -> Document:
    """Return the pod with the deletion time it had when it was seen `before`.

    The kubelet deletes a pod again, without grace, when its containers have ended (Kubernetes v1.35
    pkg/kubelet/status/status_manager.go). A pod with a finalizer, such as a Job's, then shows that later time.
    """
    earlier: Document = before["metadata"] if before else {}
    if not earlier.get("deletionTimestamp") or earlier.get("uid") != pod["metadata"].get("uid"):
        return pod
    return {**pod, "metadata": {**pod["metadata"], **{key: earlier[key] for key in _DELETION if key in earlier}}}


def release_selector(release: str) -> Selector:
    """Return the selector of the pods of a Helm release."""
    return {"labelSelector": f"app.kubernetes.io/instance={release}"}


class Drain:
    """Pods that still run, from before their deletion until their end.

    `selectors` find them; `pods` has the last view of each by name. They are watched, not polled: the final status of a
    pod often exists for a moment only.
    """

    def __init__(
        self,
        kube: Kube,
        pods: Iterable[Document],
        selectors: Sequence[Selector],
        log_store: LogStore,
        *,
        clock: Clock,
        say: Callable[[str], None],
    ) -> None:
        self._clock, self._say, self.log_store = clock, say, log_store
        self._logs = LogPool(kube, log_store, Sinks())
        self.pods = {pod_view.name(pod): pod for pod in pods}
        # Uids of the pods that the watches have seen, and that are gone; numbers of the watches that are in sync.
        self._seen: set[str] = set()
        self._gone: set[str] = set()
        self._synced: set[int] = set()
        # The secrets of all pods first: one pod may write a secret of another.
        secrets = Secrets(kube, log_store.mask, say)
        for pod in self.pods.values():
            secrets.register(pod)
        for pod in self.pods.values():
            for container in pod_view.containers(pod):
                if container.has_log:
                    uid, count = pod["metadata"]["uid"], container.restarts
                    self._logs.follow(Instance(pod_view.name(pod), uid, container.name, count))
        path = collection("v1", "pods", kube.namespace)
        self._watches = [
            Watch(kube, path, selector, partial(self._notice, number)) for number, selector in enumerate(selectors)
        ]
        for watch in self._watches:
            watch.start()

    def catch_up(self) -> None:
        """Archive what the pods have written so far, before they are deleted; wait while the disk is full."""
        begun, before = self._clock.now(), 0
        while self._logs.instances and (self._logs.behind or before != self._logs.read or begun == self._clock.now()):
            if not self._logs.behind and self._clock.now() - begun >= _CATCH_UP_TIMEOUT:
                return
            before = self._logs.read
            self._wait(_KEPT)
            self._logs.balance()

    def write(self, write: Callable[[], None], meanwhile: str = _KEPT) -> None:
        """Write a part of the evidence; repeat it while the disk is full."""
        log_store = self.log_store
        log_store.storage.retry_write(log_store.directory.parent, write, lambda: self._wait(meanwhile))

    def _wait(self, meanwhile: str) -> bool:
        if line := self.log_store.storage.status_line(self._clock.now(), meanwhile):
            self._say(line)
        self._clock.sleep(_POLL)
        return True

    def complete(self) -> dict[Instance, LogFile]:
        """Wait until the pods have ended, at most for their grace period, and return their logs."""
        begun, printed = self._clock.now(), float("-inf")
        # The grace period may change: a deletion can set another one than the pod's own.
        while (left := self._left()) and (more := begun + grace_seconds(self.pods.values()) - self._clock.now()) > 0:
            if self._clock.now() - printed >= _LINE_INTERVAL:
                self._say(f"waiting for {pod_names(left)} to end, {human(more)} at most")
                printed = self._clock.now()
            self._clock.sleep(_POLL)
            self._logs.balance()
        for watch in self._watches:
            watch.stop()
        if left:
            self._say(f"{pod_names(left)} still there: check whether their nodes are gone")
        names = frozenset(map(pod_view.name, left))
        self._logs.close(lambda one: one.pod not in names)
        files = self._logs.files()
        for line in gaps(files):
            self._say(line)
        return files

    def _left(self) -> list[Document]:
        """Return the pods that have not ended; once all watches are in sync, a pod that none has seen is gone."""
        synced = len(self._synced) == len(self._watches)
        there = (self._seen if synced else {_uid(pod) for pod in self.pods.values()}) - self._gone
        return unfinished(pod for pod in self.pods.values() if _uid(pod) in there)

    def _notice(self, number: int, verb: Verb, entry: Document) -> None:
        """Store the last view of a pod; called from the thread of a watch."""
        if verb == "SYNCED":
            self._synced.add(number)
        elif verb in ("SEEN", "GONE"):
            name, uid = pod_view.name(entry), _uid(entry)
            if name in self.pods and uid == _uid(self.pods[name]):
                self.pods[name] = with_first_deletion(self.pods[name], entry)
                (self._seen if verb == "SEEN" else self._gone).add(uid)


def _uid(pod: Document) -> str:
    return str(pod["metadata"]["uid"])
