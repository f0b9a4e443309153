# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""For how long pods that somebody deletes are waited for: what they write until they end, as of a checkpoint, is kept.

Source: Kubernetes "Pod termination": a pod that is deleted has a grace period, and ends in it with a final phase. The
time of deletion is the API server's, so what is waited is counted from when it was noticed: no two clocks are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import Clock, human
from ansible_collections.mlops.eks.plugins.module_utils._kube import pods as pod_view
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document, Kube
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.expressions import condition
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.table import Selector
from ansible_collections.mlops.eks.plugins.module_utils._kube.paths import collection
from ansible_collections.mlops.eks.plugins.module_utils._kube.watch import Verb, Watch
from ansible_collections.mlops.eks.plugins.module_utils._logs.pool import LogPool
from ansible_collections.mlops.eks.plugins.module_utils._logs.secrets import Secrets
from ansible_collections.mlops.eks.plugins.module_utils._logs.sinks import Instance, LogFile, LogStore, Sinks, gaps

# Kubernetes' own default of the grace period, and the seconds that a kubelet may need beyond one. A grace period may be
# of any length: who asks for 20 minutes writes a checkpoint in them.
_GRACE, _BEYOND = 30.0, 5.0
# Seconds in which the garbage collector gets to the pods of what was deleted; those it leaves alone were orphaned.
_COLLECTED = 15.0
_DELETION = ("deletionTimestamp", "deletionGracePeriodSeconds")


def patience(pods: Iterable[Document]) -> float:
    """Return the seconds these pods may take to end once they are deleted."""
    return max(map(_grace, pods), default=0.0) + _BEYOND


def still_running(pods: Iterable[Document]) -> list[Document]:
    """Return the pods whose programs still run, on nodes that still answer: they have something to say when they end.

    Of a silent node the pods are set to not ready without a reason (Kubernetes v1.35
    pkg/controller/util/node/controller_utils.go, MarkPodsNotReady); a kubelet gives one.
    """
    return [pod for pod in staying(pods) if _runs(pod) and not _unheard(pod)]


def _runs(pod: Document) -> bool:
    return any(container.state == "running" for container in pod_view.containers(pod))


def _unheard(pod: Document) -> bool:
    ready = condition(pod, "Ready") or {}
    found = pod_view.disruption(pod)
    return (ready.get("status") == "False" and not ready.get("reason")) or (
        found is not None and found.reason == "NodeLost"
    )


def staying(pods: Iterable[Document]) -> list[Document]:
    """Return the pods that have not ended."""
    return [pod for pod in pods if pod_view.phase(pod) not in ("Succeeded", "Failed")]


def over(pods: Sequence[Document], waited: float) -> bool:
    """Return whether these pods, which have not ended, are not to be waited for any longer; `waited` is in seconds."""
    orphaned = waited >= _COLLECTED and not any(pod["metadata"].get("deletionTimestamp") for pod in pods)
    return not pods or orphaned or waited >= patience(pods)


def named(pods: Sequence[Document]) -> str:
    """Return the pods' names, or how many they are."""
    names = sorted(map(pod_view.name, pods))
    more = f" and {len(names) - 3} more pods" if len(names) > 3 else ""
    return f"{', '.join(names[:3])}{more}"


def deleted_first(before: Document | None, pod: Document) -> Document:
    """Return the pod, deleted since it was when it was seen `before`.

    Its kubelet deletes it once more, without grace, when its containers have ended (Kubernetes v1.35
    pkg/kubelet/status/status_manager.go); with a finalizer, as a Job's pod has, it then seems to be deleted only since.
    """
    earlier: Document = before["metadata"] if before else {}
    if not earlier.get("deletionTimestamp") or earlier.get("uid") != pod["metadata"].get("uid"):
        return pod
    return {**pod, "metadata": {**pod["metadata"], **{key: earlier[key] for key in _DELETION if key in earlier}}}


def _grace(pod: Document) -> float:
    said = (pod["metadata"], "deletionGracePeriodSeconds"), (pod.get("spec") or {}, "terminationGracePeriodSeconds")
    return next((float(place[key]) for place, key in said if place.get(key) is not None), _GRACE)


# What is kept of pods that somebody stops: how they were, and their logs to the last word, such as of a checkpoint.
# Seconds between two looks at the pods, and between two lines about them.
_LOOK, _BETWEEN = 0.5, 60.0
# Seconds in which what pods have written is archived before they are deleted, where they go on writing.
_CATCHING_UP = 30.0
_KEPT = "nothing is uninstalled until the evidence is whole. After Ctrl-C the same command goes on from here"


class Drain:
    """Pods that still run, from before they are deleted until they have ended.

    `selectors` find them; `pods` are how they were seen last, by name. They are watched, not asked for now and then:
    how a pod ended is often there for a moment only, until the API server forgets it.
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
        # By uid: what was seen again, and what went since. The watches that have told of all there is, by number.
        self._seen: set[str] = set()
        self._gone: set[str] = set()
        self._synced: set[int] = set()
        # All of them first: what one of these pods writes may be a secret of another.
        secrets = Secrets(kube, log_store.mask, say)
        for pod in self.pods.values():
            secrets.look(pod)
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
        """Archive what the pods have written so far, before they are deleted; wait for room where there is none."""
        begun, before = self._clock.now(), 0
        while self._logs.instances and (self._logs.behind or before != self._logs.read or begun == self._clock.now()):
            if not self._logs.behind and self._clock.now() - begun >= _CATCHING_UP:
                return
            before = self._logs.read
            self._wait(_KEPT)
            self._logs.balance()

    def insist(self, write: Callable[[], None], meanwhile: str = _KEPT) -> None:
        """Write a part of the evidence as soon as there is room for it."""
        log_store = self.log_store
        log_store.storage.retry_write(log_store.directory.parent, write, lambda: self._wait(meanwhile))

    def _wait(self, meanwhile: str) -> bool:
        if said := self.log_store.storage.status_line(self._clock.now(), meanwhile):
            self._say(said)
        self._clock.sleep(_LOOK)
        return True

    def complete(self) -> dict[Instance, LogFile]:
        """Wait until the pods have ended, for as long as they are allowed to take, and return what they wrote."""
        begun, told = self._clock.now(), float("-inf")
        # Who deletes a pod may give it another grace period than its own.
        while (left := self._left()) and (more := begun + patience(self.pods.values()) - self._clock.now()) > 0:
            if self._clock.now() - told >= _BETWEEN:
                self._say(f"waiting for {named(left)} to end, {human(more)} at most")
                told = self._clock.now()
            self._clock.sleep(_LOOK)
            self._logs.balance()
        for watch in self._watches:
            watch.stop()
        if left:
            self._say(f"{named(left)} still there: look whether their nodes are gone")
        names = frozenset(map(pod_view.name, left))
        self._logs.close(lambda one: one.pod not in names)
        files = self._logs.files()
        for line in gaps(files):
            self._say(line)
        return files

    def _left(self) -> list[Document]:
        """Return the pods that have not ended; one that no watch tells of, when all have told, went before them."""
        known = len(self._synced) == len(self._watches)
        there = (self._seen if known else {_uid(pod) for pod in self.pods.values()}) - self._gone
        return staying(pod for pod in self.pods.values() if _uid(pod) in there)

    def _notice(self, number: int, verb: Verb, entry: Document) -> None:
        """Remember how a pod is; called from the thread of a watch."""
        if verb == "SYNCED":
            self._synced.add(number)
        elif verb in ("SEEN", "GONE"):
            name, uid = pod_view.name(entry), _uid(entry)
            if name in self.pods and uid == _uid(self.pods[name]):
                self.pods[name] = deleted_first(self.pods[name], entry)
                (self._seen if verb == "SEEN" else self._gone).add(uid)


def _uid(pod: Document) -> str:
    return str(pod["metadata"]["uid"])


def of_release(release: str) -> Selector:
    """Return what finds the pods of a Helm release."""
    return {"labelSelector": f"app.kubernetes.io/instance={release}"}
