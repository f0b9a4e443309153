# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Fetches what is not watched, and only while it is needed: around a step that waits, and the nodes of one that failed.

The rights to it are often missing, and half of it is of operators that may not be installed: what cannot be had is not
asked for again, and there is just less to say.
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
from ansible_collections.mlops.eks.plugins.module_utils._follow.pending import questions, unjudged, waits
from ansible_collections.mlops.eks.plugins.module_utils._follow.state import State
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document, Kube
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds import kueue
from ansible_collections.mlops.eks.plugins.module_utils._kube.paths import collection, item

# Seconds between two looks, doubled while nothing changes: waiting silently costs no more than a few requests a minute.
_SOONEST, _LATEST = 15.0, 60.0
# Seconds between two looks at all nodes, once there are some that a pod may get.
_SELDOM = 300.0
# Seconds by which the first look comes before the first explanation, which then has it all.
_AHEAD = 2.0
# As long as a failed step waits for its nodes to be looked at, and how many of them are.
_NODES_SECONDS = 5.0
_NODES = 5


class _Query(t.NamedTuple):
    """A list: `namespace` is where it is, the step's own when empty, and `None` for what is in none.

    `older` are API versions that an older operator serves in place of `api_version`.
    """

    kind: str
    api_version: str
    plural: str
    namespace: str | None = ""
    fields: str = ""
    older: tuple[str, ...] = ()


# The second of two is asked for only when there is an API for the first.
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
        # Events of what is in no namespace are in this one.
        _Query("Event", "v1", "events", namespace="default", fields="involvedObject.kind=NodeClaim,type=Warning"),
    ),
}


class Context:
    """Looks around in threads of its own; answers are handed to `deliver` as a change."""

    def __init__(self, kube: Kube, deliver: Callable[[ContextSeen | CapacitySeen], None]) -> None:
        self._kube, self._deliver = kube, deliver
        self._denied: set[_Query] = set()
        # The version in which each was found.
        self._served: dict[_Query, str] = {}
        # Whether the nodes may not be looked at.
        self._blind = False
        self._next, self._looked, self._pause = 0.0, 0.0, _SOONEST
        self._seen: frozenset[str] = frozenset()
        self._thread: threading.Thread | None = None

    def look(self, state: State, at: float) -> None:
        """Fetch what explains the waiting of `state`, now and then, without making anybody wait for it."""
        if at < min(self._next, self._looked + _SOONEST) or (self._thread and self._thread.is_alive()):
            return
        if not waits(state, at + _AHEAD):
            return
        wanted: list[_Query] = []
        if at >= self._next:
            wanted = [query for name in sorted(questions(state)) for query in self._open(name)]
        nodes = not self._blind and at >= self._looked + unjudged(state, soon=_SOONEST, seldom=_SELDOM)
        if not wanted and not nodes:
            return
        self._next = max(self._next, at + _SOONEST) if wanted else self._next
        self._looked = at if nodes else self._looked
        fetch = functools.partial(self._fetch, wanted, at, nodes=nodes)
        self._thread = threading.Thread(target=fetch, daemon=True, name="surroundings")
        self._thread.start()

    def _open(self, name: str) -> Iterable[_Query]:
        first, *more = _QUERIES[name]
        return () if first in self._denied else (first, *(query for query in more if query not in self._denied))

    def _fetch(self, queries: Sequence[_Query], at: float, *, nodes: bool) -> None:
        if nodes:
            self._deliver(CapacitySeen(at=at, capacity=self._capacity(at)))
        if not queries:
            return
        entries = tuple(entry for query in queries for entry in self._list(query))
        seen = frozenset(f"{one['metadata'].get('uid')} {one['metadata'].get('resourceVersion')}" for one in entries)
        self._pause = _SOONEST if seen != self._seen else min(2 * self._pause, _LATEST)
        self._seen, self._next = seen, at + self._pause
        self._deliver(ContextSeen(at=at, entries=entries))

    def _capacity(self, at: float) -> capacity.Capacity | None:
        try:
            return capacity.read(self._kube, at)
        except ForbiddenError:
            self._blind = True
        except EksError:
            # In a moment's trouble nobody can tell.
            pass
        return None

    def _list(self, query: _Query) -> list[Document]:
        served = self._served.get(query)
        try:
            for version in (served,) if served else (query.api_version, *query.older):
                with contextlib.suppress(AbsentError):
                    found = self._ask(query, version)
                    self._served[query] = version
                    return found
            self._denied.add(query)
        except ForbiddenError:
            self._denied.add(query)
        except EksError:
            return []
        return []

    def _ask(self, query: _Query, api_version: str) -> list[Document]:
        namespace = self._kube.namespace if query.namespace == "" else query.namespace
        params = {"fieldSelector": query.fields} if query.fields else None
        answer = self._kube.request("GET", collection(api_version, query.plural, namespace), params=params)
        # Items of a list do not carry their own kind.
        return [{**entry, "kind": query.kind} for entry in answer.get("items") or []]

    def nodes(self, names: Collection[str]) -> tuple[Document, ...]:
        """Return these nodes and the warnings about them, as far as they can be had within a few seconds."""
        found: list[Document] = []
        thread = threading.Thread(target=self._nodes, args=(sorted(names)[:_NODES], found), daemon=True, name="nodes")
        thread.start()
        thread.join(_NODES_SECONDS)
        return tuple(found)

    def _nodes(self, names: Iterable[str], found: list[Document]) -> None:
        for name in names:
            try:
                node = self._kube.get(item("v1", "nodes", None, name))
            except EksError:
                return
            # A node that is gone is lost, whatever took it.
            found.append({**(node or {"metadata": {"name": name}, "gone": True}), "kind": "Node"})
            about = f"involvedObject.kind=Node,involvedObject.name={name},type=Warning"
            found += self._list(_Query("Event", "v1", "events", namespace="default", fields=about))
