# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""What is kept of pods that somebody stops: how they were, and their logs to the last word, such as of a checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import Clock, human
from ansible_collections.mlops.eks.plugins.module_utils._kube import pods as pod_view
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document, Kube
from ansible_collections.mlops.eks.plugins.module_utils._kube.paths import collection
from ansible_collections.mlops.eks.plugins.module_utils._step.keeping import Audience, Instance, Keeping, LogFile
from ansible_collections.mlops.eks.plugins.module_utils._step.leaving import named, patience, staying
from ansible_collections.mlops.eks.plugins.module_utils._step.logs import Logs


class Departure:
    """Pods that still run, from before they are deleted until they have ended.

    `look` finds them as they are now; `pods` are how they were seen last, by name.
    """

    def __init__(
        self,
        kube: Kube,
        pods: Iterable[Document],
        look: Callable[[], list[Document]],
        keeping: Keeping,
        *,
        clock: Clock,
        say: Callable[[str], None],
    ) -> None:
        self._look, self._clock, self._say = look, clock, say
        self._logs = Logs(kube, keeping, Audience())
        self.pods = {pod_view.name(pod): pod for pod in pods}
        for pod in self.pods.values():
            for container in pod_view.containers(pod):
                if container.has_log:
                    uid, count = pod["metadata"]["uid"], container.restarts
                    self._logs.follow(Instance(pod_view.name(pod), uid, container.name, count))

    def complete(self) -> dict[Instance, LogFile]:
        """Wait until the pods have ended, for as long as they are allowed to take, and return what they wrote."""
        deadline, told = self._clock.now() + patience(self.pods.values()), False
        while (left := self._left()) and self._clock.now() < deadline:
            if not told:
                self._say(f"waiting for {named(left)} to end, {human(deadline - self._clock.now())} at most")
                told = True
            self._clock.sleep(1.0)
            self._logs.balance()
        if left:
            self._say(f"{named(left)} still there: look whether their nodes are gone")
        names = frozenset(map(pod_view.name, left))
        self._logs.close(lambda one: one.pod not in names)
        return self._logs.files()

    def _left(self) -> list[Document]:
        """Return the pods that have not ended, and remember how all of them are."""
        found = {pod_view.name(pod): pod for pod in self._look()}
        self.pods.update((name, pod) for name, pod in found.items() if name in self.pods)
        return staying(found[name] for name in self.pods.keys() & found.keys())


def listed(kube: Kube, release: str) -> list[Document]:
    """Return the pods of a Helm release."""
    selector = {"labelSelector": f"app.kubernetes.io/instance={release}"}
    found = kube.get(collection("v1", "pods", kube.namespace), selector) or {}
    # Items of a list do not carry their own kind.
    return [{"apiVersion": "v1", "kind": "Pod", **pod} for pod in found.get("items") or []]
