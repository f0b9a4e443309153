# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Objects of a cluster with external resources, which their controllers must remove before the network is deleted.

Sources: Kubernetes documentation, "Create an External Load Balancer" and "Persistent Volumes"; Karpenter documentation,
"Disruption" and "NodeClasses": Karpenter drains nodes by evictions, which budgets may refuse for ever, and creates
an instance profile for each EC2NodeClass.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Mapping

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import AbsentError
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document, Kube
from ansible_collections.mlops.eks.plugins.module_utils._kube.discovery import discover
from ansible_collections.mlops.eks.plugins.module_utils._kube.paths import Ref, collection

# The provisioner sets it on a volume; a volume created by hand has none.
_DYNAMIC = "pv.kubernetes.io/provisioned-by"


def _balanced(service: Document) -> bool:
    return bool(service["spec"].get("type") == "LoadBalancer")


def _dynamic(volume: Document) -> bool:
    reclaimed = volume["spec"].get("persistentVolumeReclaimPolicy") == "Delete"
    return reclaimed and _DYNAMIC in (volume["metadata"].get("annotations") or {})


def of_eks(pool: Document) -> bool:
    """Return whether the pool is of EKS Auto Mode, which deletes it with the cluster."""
    return (pool["metadata"].get("labels") or {}).get("app.kubernetes.io/managed-by") == "eks"


def _made(pool: Document) -> bool:
    return not of_eks(pool)


class Kind(t.NamedTuple):
    """Objects of one kind for which `chosen` is true; `remover` is what must run, or end, until they are gone.

    `older` are API versions that an older controller serves instead of `api_version`.
    """

    kind: str
    api_version: str
    plural: str
    remover: str
    chosen: Callable[[Document], bool] = bool
    older: tuple[str, ...] = ()


_BALANCERS = "the load balancer controller"
SERVICES = Kind("Service", "v1", "services", _BALANCERS, _balanced)
INGRESSES = Kind("Ingress", "networking.k8s.io/v1", "ingresses", _BALANCERS)
GATEWAYS = Kind(
    "Gateway",
    "gateway.networking.k8s.io/v1",
    "gateways",
    "the gateway's controller",
    older=("gateway.networking.k8s.io/v1beta1",),
)
VOLUMES = Kind("PersistentVolume", "v1", "persistentvolumes", "the CSI driver", _dynamic)
CLAIMS = Kind("PersistentVolumeClaim", "v1", "persistentvolumeclaims", "the end of the pods that use it")
_BEFORE_1 = ("karpenter.sh/v1beta1",)
NODE_POOLS = Kind("NodePool", "karpenter.sh/v1", "nodepools", "Karpenter", _made, older=_BEFORE_1)
NODE_CLAIMS = Kind(
    "NodeClaim", "karpenter.sh/v1", "nodeclaims", "Karpenter, once the node's pods are gone", older=_BEFORE_1
)
NODE_CLASSES = Kind(
    "EC2NodeClass",
    "karpenter.k8s.aws/v1",
    "ec2nodeclasses",
    "Karpenter, once its nodes are gone",
    older=("karpenter.k8s.aws/v1beta1",),
)
BUDGETS = Kind("PodDisruptionBudget", "policy/v1", "poddisruptionbudgets", "its controller")
_PODS = Kind("Pod", "v1", "pods", "the end of its containers")


class Object(t.NamedTuple):
    """One object, and what its deletion waits for."""

    of: Kind
    ref: Ref
    document: Document

    def __str__(self) -> str:
        where = f"{self.ref.namespace}/" if self.ref.namespace else ""
        return f"{self.ref.kind} {where}{self.ref.name}"

    @property
    def deleting(self) -> bool:
        """Whether it is deleted but has finalizers."""
        return "deletionTimestamp" in self.document["metadata"]

    def waits_for(self) -> str:
        """Return what its deletion waits for."""
        finalizers = ", ".join(self.document["metadata"].get("finalizers") or ())
        return f"{self} waits for {self.of.remover}" + (f" (finalizers: {finalizers})" if finalizers else "")

    def give_up_command(self) -> str:
        """Return the command that removes its finalizers, and so gives up its external resource."""
        group, _, _ = self.ref.api_version.rpartition("/")
        where = f" --namespace {self.ref.namespace}" if self.ref.namespace else ""
        resource = f"{self.ref.plural}.{group}" if group else self.ref.plural
        nothing = """--type=merge --patch='{"metadata": {"finalizers": null}}'"""
        return f"kubectl{where} patch {resource} {self.ref.name} {nothing}"


def list_objects(kube: Kube, kind: Kind) -> list[Object]:
    """Return the chosen objects of a kind in all namespaces; none when the cluster does not serve it."""
    for version in (kind.api_version, *kind.older):
        answer = kube.get(collection(version, kind.plural, None))
        if answer is not None:
            served = kind._replace(api_version=version)
            return [
                Object(kind, _ref(served, document["metadata"]), document)
                for document in answer.get("items") or []
                if kind.chosen(document)
            ]
    return []


def _ref(kind: Kind, metadata: Mapping[str, t.Any]) -> Ref:
    return Ref(kind.api_version, kind.kind, kind.plural, metadata.get("namespace") or "", metadata["name"])


def claims_of(kube: Kube, volumes: list[Object]) -> list[Object]:
    """Return the claims that are bound to these volumes."""
    bound = {
        (claim.get("namespace"), claim.get("name"))
        for volume in volumes
        if (claim := volume.document["spec"].get("claimRef"))
    }
    return [claim for claim in list_objects(kube, CLAIMS) if (claim.ref.namespace, claim.ref.name) in bound]


def users_of(kube: Kube, claims: list[Object]) -> list[Object]:
    """Return the topmost owners of the pods that use these claims; while one exists, it may create them again."""
    wanted = {(claim.ref.namespace, claim.ref.name) for claim in claims}
    found: dict[str, Object] = {}
    for namespace in sorted({namespace for namespace, _ in wanted}):
        answer = kube.get(collection("v1", "pods", namespace)) or {}
        for pod in answer.get("items") or []:
            used = {(namespace, _claimed(pod, volume)) for volume in pod["spec"].get("volumes") or []}
            if used & wanted:
                top = _top(kube, Object(_PODS, _ref(_PODS, pod["metadata"]), pod))
                found[top.ref.path] = top
    return list(found.values())


def _claimed(pod: Document, volume: Document) -> str:
    """Return the name of a volume's claim; that of a generic ephemeral volume is derived from the pod's."""
    if "ephemeral" in volume:
        return f"{pod['metadata']['name']}-{volume['name']}"
    return str((volume.get("persistentVolumeClaim") or {}).get("claimName", ""))


def _top(kube: Kube, lower: Object) -> Object:
    """Return the topmost controller that can be read."""
    owners = lower.document["metadata"].get("ownerReferences") or []
    owner = next((one for one in owners if one.get("controller")), None)
    if owner is None:
        return lower
    version, kind = owner["apiVersion"], owner["kind"]
    try:
        resource = discover(kube, version, kind)
    except AbsentError:
        return lower
    upper = Ref(version, kind, resource.plural, lower.ref.namespace, owner["name"])
    above = kube.get(upper.path) if resource.namespaced else None
    return _top(kube, Object(Kind(kind, version, resource.plural, "its controller"), upper, above)) if above else lower
