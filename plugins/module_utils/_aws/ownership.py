# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The owner of a resource, by its tags."""

from __future__ import annotations

import typing as t
from collections.abc import Mapping

from ansible_collections.mlops.eks.plugins.module_utils._aws.session import Reply
from ansible_collections.mlops.eks.plugins.module_utils._aws.stack import TAG

Maker = t.Literal["stack", "cluster"]

# Tags of controllers in a cluster and of EKS Auto Mode; the value is the cluster's name.
_OF_CONTROLLERS = ("elbv2.k8s.aws/cluster", "cluster.k8s.amazonaws.com/name", "eks:eks-cluster-name")
# Tags of what EKS creates for a node group or a control plane, and removes with them.
_OF_EKS = ("eks:cluster-name", "aws:eks:cluster-name")


def _owned(cluster: str) -> str:
    """Return the ownership tag of Kubernetes' own controllers, the EBS driver and Karpenter."""
    return f"kubernetes.io/cluster/{cluster}"


def tag_keys(cluster: str) -> list[str]:
    """Return the keys of all tags that identify an owner."""
    return [TAG, _owned(cluster), *_OF_CONTROLLERS, *_OF_EKS]


def maker(tags: Mapping[str, str], cluster: str) -> Maker | None:
    """Return who created a resource for `cluster`: its stack (or EKS for it), a controller inside it, or `None`."""
    if any(tags.get(key) == cluster for key in _OF_EKS):
        return "stack"
    if tags.get(_owned(cluster)) == "owned" or any(tags.get(key) == cluster for key in _OF_CONTROLLERS):
        return "cluster"
    return "stack" if tags.get(TAG) == cluster else None


def tags_of(entry: Reply | list[Reply] | None) -> dict[str, str]:
    """Return tags as a mapping, from any of the four forms that the services use."""
    found = entry.get("Tags", entry.get("tags", entry.get("TagSet", {}))) if isinstance(entry, dict) else entry
    if isinstance(found, dict):
        return t.cast("dict[str, str]", found)
    return {str(tag.get("Key", tag.get("key"))): str(tag.get("Value", tag.get("value"))) for tag in found or []}
