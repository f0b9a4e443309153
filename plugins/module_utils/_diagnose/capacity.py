# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Whether any node, existing or possible, can ever run a pod that has none."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import AbsentError, ClusterError
from ansible_collections.mlops.eks.plugins.module_utils._diagnose import events, karpenter
from ansible_collections.mlops.eks.plugins.module_utils._kube import fit
from ansible_collections.mlops.eks.plugins.module_utils._kube import pods as pod_view
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document, Kube
from ansible_collections.mlops.eks.plugins.module_utils._kube.paths import collection

# The cluster autoscaler's status object and the source of its events. The cluster has no other data about the groups
# that it can enlarge.
AUTOSCALER = "cluster-autoscaler-status"
AUTOSCALER_EVENTS = "source=cluster-autoscaler"
# Seconds in which a removed node may be replaced, for example by an Auto Scaling group.
_REPLACEMENT_SECONDS = 900.0
_SHOWN = 3


@dataclass(frozen=True, kw_only=True)
class Capacity:
    """The nodes of the cluster, and the NodePools that can create more. Nothing else can."""

    nodes: tuple[fit.Offer, ...]
    pools: tuple[fit.Offer, ...] = ()


def read(kube: Kube, at: float) -> Capacity | None:
    """Return what the cluster has and can create, `None` where that cannot be known.

    Raises:
        ForbiddenError: the identity may not list the objects. ClusterError: the request failed.
    """
    if _autoscaled(kube) or _replaced(kube, at):
        return None
    pools = tuple(map(fit.of_pool, _pools(kube)))
    nodes = tuple(fit.of_node(one, at) for one in _list(kube, collection("v1", "nodes", None)))
    return Capacity(nodes=nodes, pools=pools)


def _list(kube: Kube, path: str, fields: str = "") -> list[Document]:
    # resourceVersion 0: from the cache of the API server.
    params = {"resourceVersion": "0", **({"fieldSelector": fields} if fields else {})}
    return kube.request("GET", path, params=params).get("items") or []


def _pools(kube: Kube) -> list[Document]:
    for version in (karpenter.API_VERSION, *karpenter.OLDER):
        with contextlib.suppress(AbsentError):
            return _list(kube, collection(version, "nodepools", None))
    # There is no Karpenter, or one of an unknown API version.
    if kube.get("/apis/karpenter.sh") is not None:
        raise ClusterError("Karpenter's NodePools are of another version.")
    return []


def _autoscaled(kube: Kube) -> bool:
    """Return whether a cluster autoscaler runs, in any namespace."""
    found = _list(kube, collection("v1", "configmaps", None), f"metadata.name={AUTOSCALER}")
    return bool(found or _list(kube, collection("v1", "events", kube.namespace), AUTOSCALER_EVENTS))


def _replaced(kube: Kube, at: float) -> bool:
    """Return whether a node was removed recently: another may replace it."""
    # Events about objects without a namespace are in `default`.
    left = _list(kube, collection("v1", "events", "default"), "involvedObject.kind=Node,reason=RemovingNode")
    return any(at - events.seen(one) < _REPLACEMENT_SECONDS for one in left)


def why_no_node(pod: Document, capacity: Capacity | None) -> str:
    """Return why no node, existing or possible, can run a pod; empty where one may."""
    if capacity is None or pod_view.node(pod) or fit.uncertain(pod):
        return ""
    nodes = [fit.mismatch(pod, offer) for offer in capacity.nodes]
    pools = [fit.mismatch(pod, offer) for offer in capacity.pools]
    if None in nodes or None in pools:
        return ""
    return " ".join(_sentences(pod, capacity, list(filter(None, nodes)), list(filter(None, pools))))


def _sentences(
    pod: Document, capacity: Capacity, nodes: list[fit.Mismatch], pools: list[fit.Mismatch]
) -> Iterator[str]:
    if nodes:
        yield f"no node could run it, even empty: {fit.summary(pod, nodes, 'node')}."
    else:
        yield "the cluster has no nodes."
    if pools:
        names = ", ".join(one.name for one in capacity.pools[:_SHOWN])
        yield f"Karpenter cannot make one ({names}): {fit.summary(pod, pools, 'NodePool')}."
    else:
        yield "There is no NodePool of Karpenter and no cluster autoscaler that could make one."
