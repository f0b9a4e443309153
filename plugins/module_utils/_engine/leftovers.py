# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""What a step or a controller before us left, and what must come to rest before the next step is installed."""

from __future__ import annotations

import math
import typing as t
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import Clock, human
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import AbsentError, ConflictError, EksError
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.causes import Cause
from ansible_collections.mlops.eks.plugins.module_utils._follow.drain import named, patience
from ansible_collections.mlops.eks.plugins.module_utils._helm.releases import Release
from ansible_collections.mlops.eks.plugins.module_utils._kube import listing
from ansible_collections.mlops.eks.plugins.module_utils._kube import pods as pod_view
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document, Kube
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.expressions import condition
from ansible_collections.mlops.eks.plugins.module_utils._kube.paths import item
from ansible_collections.mlops.eks.plugins.module_utils._plan.plan import Plan
from ansible_collections.mlops.eks.plugins.module_utils._plan.workload import find_kind

# Seconds that a Helm which outlived its controller gets to finish; without waiting, it needs a fraction of one.
_HELM = 5.0
# Seconds between two lines about pods that are waited for, and between two looks: a healthy pod goes in a moment.
_BETWEEN = 60.0
_SOONEST, _LATEST = 0.2, 2.0
# Pods, and nodes, that a message names.
_NAMED = 4
# The finalizer of every Job's pod, which the Job controller takes away by itself.
_JOBS_OWN = "batch.kubernetes.io/job-tracking"


def await_helm(look: Callable[[], list[Release]], *, clock: Clock, say: Callable[[str], None]) -> list[Release]:
    """Return the revisions that `look` returns, as soon as none of them is at work, or is taken for dead."""
    deadline, found = clock.now() + _HELM, look()
    if found and found[-1].pending:
        say(f"release {found[-1].name}: helm left it {found[-1].status}; waiting to see whether it is still at work")
    while found and found[-1].pending and clock.now() < deadline:
        clock.sleep(0.2)
        found = look()
    return found


class Leftovers:
    """Pods of an earlier attempt or step, which must be gone before the next one is installed.

    An MPIJob's workers have the same names again, and two trainers must not write one checkpoint. They have all of
    their grace period, which may be as long as a checkpoint takes. One that stays beyond it is on a node that does not
    answer: it goes when the node is back, or when the Node object is deleted, as a cloud does with an instance that is
    gone. That is waited for, and explained, for `limit` seconds, infinite where there is no limit.
    """

    def __init__(self, kube: Kube, plan: Plan, *, limit: float, clock: Clock, say: Callable[[str], None]) -> None:
        self._kube, self._limit, self._clock, self._say = kube, limit, clock, say
        # From the API server's cache: what is in the way has been there for seconds; the newest list would make wait.
        self._queries = [{**selector, "resourceVersion": "0"} for selector in plan.kind.selectors(plan.workload)]
        self._begun, self._told, self._grace = clock.now(), float("-inf"), 0.0
        self._left: list[Document] = []

    def there(self) -> bool:
        """Look, say now and then what is waited for, and return whether something is there."""
        self._left = [pod for query in self._queries for pod in listing.pods(self._kube, query) if _blocks(pod)]
        now = self._clock.now()
        # The kubelet deletes a pod once more, without grace, when its containers have ended.
        self._grace = max(self._grace, patience(self._left))
        if self._left and now - self._told >= _BETWEEN:
            self._told = now
            self._say(f"waiting for {self._what()} of an earlier attempt or step to go away: {self._why()}")
        return bool(self._left)

    @property
    def pause(self) -> float:
        """Seconds until the next look."""
        return min(max(_SOONEST, self._waited / 10), _LATEST)

    def stuck(self) -> Cause | None:
        """Return the cause of a failure when what is there is not waited for any longer."""
        beyond = self._waited - self._grace
        if not self._left or beyond < self._limit:
            return None
        message = (
            f"{self._what()} of an earlier attempt or step did not go away within {human(self._limit)} "
            f"(leftover_grace) after their grace period: {self._places()}. Nothing was started beside them."
        )
        return replace(
            Cause.of("StuckTerminating", f"Pod/{pod_view.name(self._left[0])}", message), remedy=self._remedy()
        )

    def wait(self) -> None:
        """Wait until nothing is there.

        Raises:
            ConflictError: it stays.
        """
        while self.there():
            if cause := self.stuck():
                raise ConflictError(str(cause))
            self._clock.sleep(self.pause)

    @property
    def _waited(self) -> float:
        return self._clock.now() - self._begun

    def _what(self) -> str:
        return f"{len(self._left)} pod{'s' if len(self._left) > 1 else ''}"

    def _why(self) -> str:
        beyond = self._waited - self._grace
        if beyond < 0:
            return f"{named(self._left)}; their grace period allows {human(-beyond)} more"
        limited = self._limit < math.inf
        until = f"at most {human(self._limit - beyond)} more (leftover_grace)" if limited else "without limit"
        return f"{self._places()}; their grace period is over, and the step waits {until}. {self._remedy()}"

    def _remedy(self) -> str:
        held = {one for pod in self._left for one in pod["metadata"].get("finalizers") or ()} - {_JOBS_OWN}
        if held:
            # Not even the deletion by force removes such a pod.
            return f"Whatever set its finalizers must remove them: {', '.join(sorted(held))}."
        names = " ".join(map(pod_view.name, self._left[:_NAMED]))
        force = f"kubectl delete pod {names} --namespace {self._kube.namespace} --force"
        return (
            "Bring the nodes back, or delete the Node objects of instances that are gone; of a node that is really "
            f"off, '{force}' removes the pods at once."
        )

    def _places(self) -> str:
        """Return the pods with their nodes, and what is known of these."""
        by_node: dict[str, list[Document]] = {}
        for pod in self._left:
            by_node.setdefault(pod_view.node(pod) or "", []).append(pod)
        return "; ".join(
            f"{named(pods)} on {_standing(self._kube, node)}" if node else f"{named(pods)} on no node"
            for node, pods in list(by_node.items())[:_NAMED]
        )


def _blocks(pod: Document) -> bool:
    """Return whether a pod is still in the way: one that has ended and is owned by nobody is not."""
    return bool(pod["metadata"].get("deletionTimestamp") or pod["metadata"].get("ownerReferences"))


def _standing(kube: Kube, name: str) -> str:
    """Return a node and, where that may be read, whether it answers."""
    try:
        node = kube.get(item("v1", "nodes", None, name))
    except EksError:
        return f"node {name}"
    if node is None:
        return f"node {name}, which does not exist any more"
    ready = condition(node, "Ready") or {}
    if ready.get("status") == "True":
        return f"node {name}, which is ready"
    return f"node {name}, which has not answered since {ready.get('lastTransitionTime', 'an unknown time')}"


# What Helm made for a release and does not know of any more.
_MANAGED = "app.kubernetes.io/managed-by"
_RELEASE, _NAMESPACE = "meta.helm.sh/release-name", "meta.helm.sh/release-namespace"
# What a chart asks to be left where it is, and what Helm does not count among the objects of a release.
_KEPT, _HOOK = "helm.sh/resource-policy", "helm.sh/hook"


class Orphan(t.NamedTuple):
    """An object that is there, and where."""

    path: str
    entry: Document

    def __str__(self) -> str:
        return f"{self.entry['kind']}/{self.entry['metadata']['name']}"


def object_names(manifest: Iterable[Document]) -> tuple[str, ...]:
    """Return the objects of a release as the ledger has them: `apiVersion/Kind/namespace/name`, in Helm's order."""
    return tuple(
        "/".join((one["apiVersion"], one["kind"], one["metadata"].get("namespace") or "", one["metadata"]["name"]))
        for one in manifest
        if _HOOK not in (one["metadata"].get("annotations") or {})
    )


def find_orphans(kube: Kube, release: str, objects: Iterable[str]) -> list[Orphan]:
    """Return which of the `objects` are there and were made for Helm release `release`, the last one first."""
    return [found for one in reversed([*objects]) for found in _find(kube, release, one)]


def delete_orphans(kube: Kube, found: Iterable[Orphan]) -> None:
    """Delete objects, and in the background what belongs to them; one that is gone, or another by now, is no error."""
    for orphan in found:
        wanted = {"propagationPolicy": "Background", "preconditions": {"uid": orphan.entry["metadata"]["uid"]}}
        try:
            kube.request("DELETE", orphan.path, body=wanted)
        except (AbsentError, ConflictError):
            continue


def delete_forgotten(kube: Kube, release: str, objects: Iterable[str], *, say: Callable[[str], None]) -> None:
    """Delete what is left of a release that Helm has forgotten."""
    if found := find_orphans(kube, release, objects):
        say(
            f"release {release}: Helm has no record of it any more; deleting what it made: {', '.join(map(str, found))}"
        )
        delete_orphans(kube, found)


def _find(kube: Kube, release: str, name: str) -> Iterator[Orphan]:
    version, kind, namespace, own = name.rsplit("/", 3)
    try:
        row = find_kind(kube, version, kind)
    except AbsentError:
        return
    path = item(version, row.plural, (namespace or kube.namespace) if row.namespaced else None, own)
    entry = kube.get(path)
    if entry is not None and _is_ours(entry, release, kube.namespace):
        yield Orphan(path, {**entry, "kind": kind})


def _is_ours(entry: Document, release: str, namespace: str) -> bool:
    metadata = entry["metadata"]
    labels, notes = metadata.get("labels") or {}, metadata.get("annotations") or {}
    marks = labels.get(_MANAGED), notes.get(_RELEASE), notes.get(_NAMESPACE)
    return (
        marks == ("Helm", release, namespace) and not metadata.get("deletionTimestamp") and notes.get(_KEPT) != "keep"
    )
