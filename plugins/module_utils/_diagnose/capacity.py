# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Whether anything in the cluster could ever run a pod that has no node, so that it is worth waiting for."""

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

# The object in which the cluster autoscaler says how it is, and the component that its events are of: of the groups
# that it could make larger nothing more stands in the cluster.
AUTOSCALER = "cluster-autoscaler-status"
AUTOSCALER_EVENTS = "source=cluster-autoscaler"
# Seconds in which another node may still come for one that left, as an Auto Scaling group brings it.
_REPLACED = 900.0
_SHOWN = 3


@dataclass(frozen=True, kw_only=True)
class Capacity:
    """The nodes that are there, and the NodePools that could make more. Nothing else can."""

    nodes: tuple[fit.Offer, ...]
    pools: tuple[fit.Offer, ...] = ()


def read(kube: Kube, at: float) -> Capacity | None:
    """Return what the cluster has and could have, `None` where that cannot be known.

    Raises:
        ForbiddenError: the identity in use may not look. ClusterError: it could not be looked at now.
    """
    if _autoscaled(kube) or _replaced(kube, at):
        return None
    pools = tuple(map(fit.of_pool, _pools(kube)))
    nodes = tuple(fit.of_node(one, at) for one in _list(kube, collection("v1", "nodes", None)))
    return Capacity(nodes=nodes, pools=pools)


def _list(kube: Kube, path: str, fields: str = "") -> list[Document]:
    # What the API server has at hand will do.
    params = {"resourceVersion": "0", **({"fieldSelector": fields} if fields else {})}
    return kube.request("GET", path, params=params).get("items") or []


def _pools(kube: Kube) -> list[Document]:
    for version in (karpenter.API_VERSION, *karpenter.OLDER):
        with contextlib.suppress(AbsentError):
            return _list(kube, collection(version, "nodepools", None))
    # There is no Karpenter, or one whose pools are of a version that is not known here.
    if kube.get("/apis/karpenter.sh") is not None:
        raise ClusterError("Karpenter's NodePools are of another version.")
    return []


def _autoscaled(kube: Kube) -> bool:
    """Return whether a cluster autoscaler is there, in whatever namespace."""
    said = _list(kube, collection("v1", "configmaps", None), f"metadata.name={AUTOSCALER}")
    return bool(said or _list(kube, collection("v1", "events", kube.namespace), AUTOSCALER_EVENTS))


def _replaced(kube: Kube, at: float) -> bool:
    """Return whether a node left a short while ago: its successor may be on its way."""
    # Events of what is in no namespace are in this one.
    left = _list(kube, collection("v1", "events", "default"), "involvedObject.kind=Node,reason=RemovingNode")
    return any(at - events.seen(one) < _REPLACED for one in left)


def why_no_node(pod: Document, capacity: Capacity | None) -> str:
    """Return what keeps a pod from every node that is there or could be, empty where one may come to run it."""
    if capacity is None or pod_view.node(pod) or fit.uncertain(pod):
        return ""
    nodes = [fit.mismatch(pod, offer) for offer in capacity.nodes]
    pools = [fit.mismatch(pod, offer) for offer in capacity.pools]
    if None in nodes or None in pools:
        return ""
    return " ".join(_told(pod, capacity, list(filter(None, nodes)), list(filter(None, pools))))


def _told(pod: Document, capacity: Capacity, nodes: list[fit.Mismatch], pools: list[fit.Mismatch]) -> Iterator[str]:
    if nodes:
        yield f"no node could run it, even empty: {fit.summary(pod, nodes, 'node')}."
    else:
        yield "the cluster has no nodes."
    if pools:
        names = ", ".join(one.name for one in capacity.pools[:_SHOWN])
        yield f"Karpenter cannot make one ({names}): {fit.summary(pod, pools, 'NodePool')}."
    else:
        yield "There is no NodePool of Karpenter and no cluster autoscaler that could make one."
