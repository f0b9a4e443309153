# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""What an earlier step or controller left: a Helm process at work, pods that still end, objects without a release.

The next step is installed only after the first two are gone. Objects without a release are deleted.
"""

from __future__ import annotations

import math
import typing as t
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import Clock, human
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import AbsentError, ConflictError, EksError
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.causes import Cause
from ansible_collections.mlops.eks.plugins.module_utils._follow.drain import grace_seconds, pod_names
from ansible_collections.mlops.eks.plugins.module_utils._helm.releases import Release
from ansible_collections.mlops.eks.plugins.module_utils._kube import listing
from ansible_collections.mlops.eks.plugins.module_utils._kube import pods as pod_view
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document, Kube
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.expressions import condition
from ansible_collections.mlops.eks.plugins.module_utils._kube.paths import item
from ansible_collections.mlops.eks.plugins.module_utils._plan.plan import Plan
from ansible_collections.mlops.eks.plugins.module_utils._plan.workload import find_kind

# Seconds that a Helm process gets to finish after its controller died; it does not wait for workloads.
_HELM_TIMEOUT = 5.0
# Seconds between two lines about pods that are waited for, and the shortest and the longest pause between two lists.
_LINE_INTERVAL = 60.0
_MIN_PAUSE, _MAX_PAUSE = 0.2, 2.0
# Pods, and nodes, that a message names.
_NAMED = 4
# The finalizer on every pod of a Job, which the Job controller removes.
_JOB_FINALIZER = "batch.kubernetes.io/job-tracking"
# What Helm writes on each object of a release.
_MANAGED = "app.kubernetes.io/managed-by"
_RELEASE, _NAMESPACE = "meta.helm.sh/release-name", "meta.helm.sh/release-namespace"
# Annotations of an object that an uninstall keeps, and of a hook, which is not an object of the release.
_RESOURCE_POLICY, _HOOK = "helm.sh/resource-policy", "helm.sh/hook"


def await_helm(read: Callable[[], list[Release]], *, clock: Clock, say: Callable[[str], None]) -> list[Release]:
    """Return the revisions that `read` returns, as soon as none is pending or its Helm process is taken for dead."""
    deadline, found = clock.now() + _HELM_TIMEOUT, read()
    if found and found[-1].pending:
        say(f"release {found[-1].name}: helm left it {found[-1].status}; waiting to see whether it is still at work")
    while found and found[-1].pending and clock.now() < deadline:
        clock.sleep(0.2)
        found = read()
    return found


class Leftovers:
    """Pods of an earlier attempt or step, which must be gone before the next one is installed.

    The workers of an MPIJob get the same names again, and two trainers must not write one checkpoint. Pods get their
    whole grace period. A pod that stays longer is on a node that does not answer: it goes when the node is back, or
    when the Node object is deleted. That is waited for `limit` seconds, which may be infinite.
    """

    def __init__(self, kube: Kube, plan: Plan, *, limit: float, clock: Clock, say: Callable[[str], None]) -> None:
        self._kube, self._limit, self._clock, self._say = kube, limit, clock, say
        # From the API server's cache, which answers at once: these pods have been there for seconds.
        self._queries = [{**selector, "resourceVersion": "0"} for selector in plan.kind.selectors(plan.workload)]
        self._begun, self._last_line, self._grace = clock.now(), -math.inf, 0.0
        self._pods: list[Document] = []

    def exist(self) -> bool:
        """List the pods, say once a minute what is waited for, and return whether there are any."""
        self._pods = [pod for query in self._queries for pod in listing.pods(self._kube, query) if _blocks(pod)]
        now = self._clock.now()
        # When its containers have ended, the kubelet deletes a pod once more with a grace period of 0.
        self._grace = max(self._grace, grace_seconds(self._pods))
        if self._pods and now - self._last_line >= _LINE_INTERVAL:
            self._last_line = now
            self._say(f"waiting for {self._what()} of an earlier attempt or step to go away: {self._why()}")
        return bool(self._pods)

    @property
    def pause(self) -> float:
        """Seconds until the next list."""
        return min(max(_MIN_PAUSE, self._waited / 10), _MAX_PAUSE)

    def stuck(self) -> Cause | None:
        """Return the cause of the failure when the pods have outlived their grace period and `limit`."""
        beyond = self._waited - self._grace
        if not self._pods or beyond < self._limit:
            return None
        message = (
            f"{self._what()} of an earlier attempt or step did not go away within {human(self._limit)} "
            f"(leftover_grace) after their grace period: {self._places()}. Nothing was started beside them."
        )
        return replace(
            Cause.of("StuckTerminating", f"Pod/{pod_view.name(self._pods[0])}", message), remedy=self._remedy()
        )

    def wait(self) -> None:
        """Wait until the pods are gone.

        Raises:
            ConflictError: they stay.
        """
        while self.exist():
            if cause := self.stuck():
                raise ConflictError(str(cause))
            self._clock.sleep(self.pause)

    @property
    def _waited(self) -> float:
        return self._clock.now() - self._begun

    def _what(self) -> str:
        return f"{len(self._pods)} pod{'s' if len(self._pods) > 1 else ''}"

    def _why(self) -> str:
        beyond = self._waited - self._grace
        if beyond < 0:
            return f"{pod_names(self._pods)}; their grace period allows {human(-beyond)} more"
        limited = self._limit < math.inf
        until = f"at most {human(self._limit - beyond)} more (leftover_grace)" if limited else "without limit"
        return f"{self._places()}; their grace period is over, and the step waits {until}. {self._remedy()}"

    def _remedy(self) -> str:
        held = {one for pod in self._pods for one in pod["metadata"].get("finalizers") or ()} - {_JOB_FINALIZER}
        if held:
            # A forced deletion does not remove such a pod.
            return f"The controller that set its finalizers must remove them: {', '.join(sorted(held))}."
        names = " ".join(map(pod_view.name, self._pods[:_NAMED]))
        force = f"kubectl delete pod {names} --namespace {self._kube.namespace} --force"
        return (
            "Bring the nodes back, or delete the Node objects of instances that are gone; of a node that is really "
            f"off, '{force}' removes the pods at once."
        )

    def _places(self) -> str:
        """Return the pods with their nodes and the state of these."""
        by_node: dict[str, list[Document]] = {}
        for pod in self._pods:
            by_node.setdefault(pod_view.node(pod) or "", []).append(pod)
        return "; ".join(
            f"{pod_names(pods)} on {_node_state(self._kube, node)}" if node else f"{pod_names(pods)} on no node"
            for node, pods in list(by_node.items())[:_NAMED]
        )


def _blocks(pod: Document) -> bool:
    """Return whether a pod must be waited for: not one that nobody owns and nobody deleted."""
    return bool(pod["metadata"].get("deletionTimestamp") or pod["metadata"].get("ownerReferences"))


def _node_state(kube: Kube, name: str) -> str:
    """Return a node and, where nodes may be read, whether it answers."""
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


class Orphan(t.NamedTuple):
    """An existing object that Helm made for a release of which it has no record, and its API path."""

    path: str
    entry: Document

    def __str__(self) -> str:
        return f"{self.entry['kind']}/{self.entry['metadata']['name']}"


def object_names(manifest: Iterable[Document]) -> tuple[str, ...]:
    """Return the objects of a release for the ledger, `apiVersion/Kind/namespace/name` each, in Helm's order."""
    return tuple(
        "/".join((one["apiVersion"], one["kind"], one["metadata"].get("namespace") or "", one["metadata"]["name"]))
        for one in manifest
        if _HOOK not in (one["metadata"].get("annotations") or {})
    )


def find_orphans(kube: Kube, release: str, objects: Iterable[str]) -> list[Orphan]:
    """Return which of `objects` exist and were made for Helm release `release`, in reverse order."""
    return [found for one in reversed([*objects]) for found in _find(kube, release, one)]


def delete_orphans(kube: Kube, found: Iterable[Orphan]) -> None:
    """Delete objects and, in the background, what they own; ignore those that are gone or were replaced."""
    for orphan in found:
        wanted = {"propagationPolicy": "Background", "preconditions": {"uid": orphan.entry["metadata"]["uid"]}}
        try:
            kube.request("DELETE", orphan.path, body=wanted)
        except (AbsentError, ConflictError):
            continue


def delete_orphans_of(kube: Kube, release: str, objects: Iterable[str], *, say: Callable[[str], None]) -> None:
    """Delete those of `objects` that are left of a release of which Helm has no record."""
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
    owner = labels.get(_MANAGED), notes.get(_RELEASE), notes.get(_NAMESPACE)
    kept = metadata.get("deletionTimestamp") or notes.get(_RESOURCE_POLICY) == "keep"
    return owner == ("Helm", release, namespace) and not kept
