# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Fetches objects that are not watched: what explains why a step waits, and the nodes of a failed step.

The identity often lacks the rights to them, and many are of operators that may not be installed. What is refused or not
served is not requested again, and the explanation is less detailed.
"""

from __future__ import annotations

import contextlib
import functools
import threading
import typing as t
from collections.abc import Callable, Collection, Iterable, Sequence

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import (
    AbsentError,
    EksError,
    ForbiddenError,
)
from ansible_collections.mlops.eks.plugins.module_utils._diagnose import capacity, karpenter
from ansible_collections.mlops.eks.plugins.module_utils._follow.changes import CapacitySeen, ContextSeen
from ansible_collections.mlops.eks.plugins.module_utils._follow.pending import capacity_interval, is_waiting, to_fetch
from ansible_collections.mlops.eks.plugins.module_utils._follow.state import State
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document, Kube
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds import kueue
from ansible_collections.mlops.eks.plugins.module_utils._kube.paths import collection, item

# Seconds between two fetches; the interval doubles while nothing changes.
_INTERVAL, _MAX_INTERVAL = 15.0, 60.0
# Seconds between two lists of all nodes, once a node may fit every pod.
_CAPACITY_INTERVAL = 300.0
# Seconds before the first explanation at which the first fetch starts.
_AHEAD = 2.0
# Seconds a failed step waits for its nodes, and how many nodes are fetched.
_NODES_TIMEOUT = 5.0
_MAX_NODES = 5


class _Query(t.NamedTuple):
    """A list request. An empty `namespace` is the step's, `None` means objects without a namespace.

    `older`: API versions that an older operator serves instead of `api_version`.
    """

    kind: str
    api_version: str
    plural: str
    namespace: str | None = ""
    fields: str = ""
    older: tuple[str, ...] = ()


# Where the API of the first query is missing, the others of its row are not sent.
_QUERIES: dict[str, tuple[_Query, ...]] = {
    "queue": (_Query("Workload", kueue.API_VERSION, kueue.PLURAL, older=kueue.OLDER),),
    "groups": (_Query("Event", "v1", "events", fields=capacity.AUTOSCALER_EVENTS),),
    "quotas": (_Query("ResourceQuota", "v1", "resourcequotas"),),
    "claims": (
        _Query("PersistentVolumeClaim", "v1", "persistentvolumeclaims"),
        _Query("Event", "v1", "events", fields="involvedObject.kind=PersistentVolumeClaim"),
    ),
    "nodes": (
        _Query("NodeClaim", karpenter.API_VERSION, karpenter.PLURAL, namespace=None, older=karpenter.OLDER),
        # Events about objects without a namespace are in `default`.
        _Query("Event", "v1", "events", namespace="default", fields="involvedObject.kind=NodeClaim,type=Warning"),
    ),
}


class Context:
    """Fetches objects in threads of its own; `deliver` takes them as a change."""

    def __init__(self, kube: Kube, deliver: Callable[[ContextSeen | CapacitySeen], None]) -> None:
        self._kube, self._deliver = kube, deliver
        self._denied: set[_Query] = set()
        # The API version that the cluster serves of each query.
        self._served: dict[_Query, str] = {}
        self._nodes_denied = False
        self._next_fetch, self._capacity_at, self._interval = 0.0, 0.0, _INTERVAL
        self._seen: frozenset[str] = frozenset()
        self._thread: threading.Thread | None = None

    def fetch(self, state: State, at: float) -> None:
        """Start a thread that fetches what explains the waiting of `state`, if that is due."""
        if at < min(self._next_fetch, self._capacity_at + _INTERVAL) or (self._thread and self._thread.is_alive()):
            return
        if not is_waiting(state, at + _AHEAD):
            return
        queries: list[_Query] = []
        if at >= self._next_fetch:
            queries = [query for name in sorted(to_fetch(state)) for query in self._allowed(name)]
        capacity_due = self._capacity_at + capacity_interval(state, short=_INTERVAL, long=_CAPACITY_INTERVAL)
        nodes = not self._nodes_denied and at >= capacity_due
        if not queries and not nodes:
            return
        self._next_fetch = max(self._next_fetch, at + _INTERVAL) if queries else self._next_fetch
        self._capacity_at = at if nodes else self._capacity_at
        fetch = functools.partial(self._fetch, queries, at, nodes=nodes)
        self._thread = threading.Thread(target=fetch, daemon=True, name="context")
        self._thread.start()

    def _allowed(self, name: str) -> Iterable[_Query]:
        first, *more = _QUERIES[name]
        return () if first in self._denied else (first, *(query for query in more if query not in self._denied))

    def _fetch(self, queries: Sequence[_Query], at: float, *, nodes: bool) -> None:
        if nodes:
            self._deliver(CapacitySeen(at=at, capacity=self._capacity(at)))
        if not queries:
            return
        entries = tuple(entry for query in queries for entry in self._list(query))
        seen = frozenset(f"{one['metadata'].get('uid')} {one['metadata'].get('resourceVersion')}" for one in entries)
        self._interval = _INTERVAL if seen != self._seen else min(2 * self._interval, _MAX_INTERVAL)
        self._seen, self._next_fetch = seen, at + self._interval
        self._deliver(ContextSeen(at=at, entries=entries))

    def _capacity(self, at: float) -> capacity.Capacity | None:
        try:
            return capacity.read(self._kube, at)
        except ForbiddenError:
            self._nodes_denied = True
        except EksError:
            # The capacity is unknown until the next fetch.
            pass
        return None

    def _list(self, query: _Query) -> list[Document]:
        served = self._served.get(query)
        try:
            for version in (served,) if served else (query.api_version, *query.older):
                with contextlib.suppress(AbsentError):
                    found = self._request(query, version)
                    self._served[query] = version
                    return found
            self._denied.add(query)
        except ForbiddenError:
            self._denied.add(query)
        except EksError:
            return []
        return []

    def _request(self, query: _Query, api_version: str) -> list[Document]:
        namespace = self._kube.namespace if query.namespace == "" else query.namespace
        params = {"fieldSelector": query.fields} if query.fields else None
        answer = self._kube.request("GET", collection(api_version, query.plural, namespace), params=params)
        # Items of a list do not carry their own kind.
        return [{**entry, "kind": query.kind} for entry in answer.get("items") or []]

    def nodes(self, names: Collection[str]) -> tuple[Document, ...]:
        """Return these nodes and the warnings about them, as far as they are fetched within a few seconds."""
        found: list[Document] = []
        thread = threading.Thread(
            target=self._nodes, args=(sorted(names)[:_MAX_NODES], found), daemon=True, name="nodes"
        )
        thread.start()
        thread.join(_NODES_TIMEOUT)
        return tuple(found)

    def _nodes(self, names: Iterable[str], found: list[Document]) -> None:
        for name in names:
            try:
                node = self._kube.get(item("v1", "nodes", None, name))
            except EksError:
                return
            # `gone` marks a node that does not exist: it was lost.
            found.append({**(node or {"metadata": {"name": name}, "gone": True}), "kind": "Node"})
            about = f"involvedObject.kind=Node,involvedObject.name={name},type=Warning"
            found += self._list(_Query("Event", "v1", "events", namespace="default", fields=about))
