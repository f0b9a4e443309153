# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Objects that stand for AWS resources, and fake AWS controllers, which remove finalizers on deletion.

The finalizers are those of Kubernetes' service controller, the AWS load balancer controller, the external provisioner
of CSI drivers and Karpenter.
"""

from __future__ import annotations

import contextlib
import threading
import typing as t
from collections.abc import Iterator

from samples import IMAGE, Json
from space import Space

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import ClusterError, ConflictError
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Kube

BALANCER = "service.kubernetes.io/load-balancer-cleanup"
INGRESS = "ingress.k8s.aws/resources"
PROVISIONER = "external-provisioner.volume.kubernetes.io/finalizer"
NODE = "karpenter.sh/termination"
CLASS = "karpenter.k8s.aws/termination"
# Plural and kind of Karpenter's objects, and where the API server has them.
KARPENTER = {
    "nodepools.karpenter.sh": ("NodePool", "/apis/karpenter.sh/v1/nodepools"),
    "nodeclaims.karpenter.sh": ("NodeClaim", "/apis/karpenter.sh/v1/nodeclaims"),
    "ec2nodeclasses.karpenter.k8s.aws": ("EC2NodeClass", "/apis/karpenter.k8s.aws/v1/ec2nodeclasses"),
}


def kube_of(space: Space) -> Kube:
    """Return a client that does not retry after a refusal."""
    return Kube(kubeconfig=space.kubeconfig, context=None, namespace=space.namespace, api_retry_timeout=0.0)


def service(space: Space, name: str) -> None:
    """Make a Service with a load balancer."""
    meta, spec = {"name": name, "finalizers": [BALANCER]}, {"type": "LoadBalancer", "ports": [{"port": 80}]}
    space.apply({"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": spec})


def ingress(space: Space, name: str, to: str) -> None:
    """Make an Ingress with a load balancer."""
    meta, backend = {"name": name, "finalizers": [INGRESS]}, {"service": {"name": to, "port": {"number": 80}}}
    spec = {"defaultBackend": backend}
    space.apply({"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": meta, "spec": spec})


def volume(space: Space, name: str, *, policy: str = "Delete", dynamic: bool = True) -> None:
    """Create a volume as a provisioner would, or by hand, and its claim."""
    made = {"annotations": {"pv.kubernetes.io/provisioned-by": "ebs.csi.aws.com"}, "finalizers": [PROVISIONER]}
    full, size = f"{space.namespace}-{name}", {"storage": "1Mi"}
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "name": name, "namespace": space.namespace}
    both = {"accessModes": ["ReadWriteOnce"], "storageClassName": ""}
    space.apply({
        "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": full} | (made if dynamic else {}),
        "spec": {
            **both, "capacity": size, "persistentVolumeReclaimPolicy": policy, "claimRef": claim,
            "hostPath": {"path": f"/tmp/{full}", "type": "DirectoryOrCreate"},
        },
    })  # fmt: skip
    space.apply({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name},
        "spec": {**both, "volumeName": full, "resources": {"requests": size}},
    })  # fmt: skip


def server(space: Space, name: str, claim: str = "") -> None:
    """Create a StatefulSet of one pod, which is re-created after deletion, with or without a volume."""
    mounts = [{"name": "data", "mountPath": "/data"}] if claim else []
    container = {
        "name": "main", "image": IMAGE, "command": ["sleep", "3600"], "volumeMounts": mounts,
        "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}},
    }  # fmt: skip
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": claim}}] if claim else []
    pod = {"containers": [container], "volumes": volumes, "terminationGracePeriodSeconds": 0}
    template = {"metadata": {"labels": {"app": name}}, "spec": pod}
    spec = {"serviceName": name, "selector": {"matchLabels": {"app": name}}, "template": template}
    space.apply({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": name}, "spec": spec})


def budget(space: Space, name: str) -> None:
    """Forbid eviction of the pod of a `server`."""
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": name}}}
    space.apply({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name}, "spec": spec})


def karpenters(space: Space, resource: str, name: str, finalizer: str, **labels: str) -> None:
    """Make an object of one of Karpenter's kinds."""
    kind, path = KARPENTER[resource]
    meta = {"name": name, "labels": labels, "finalizers": [finalizer]}
    version = "/".join(path.split("/")[2:4])
    space.apply({"apiVersion": version, "kind": kind, "metadata": meta, "spec": {}})


@contextlib.contextmanager
def karpenter_kinds(space: Space) -> Iterator[None]:
    """Define Karpenter's kinds in the API server."""
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema}
    for resource, (kind, _) in KARPENTER.items():
        plural, _, group = resource.partition(".")
        names = {"kind": kind, "plural": plural}
        spec = {"group": group, "scope": "Cluster", "names": names, "versions": [version]}
        crd = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
        space.apply({**crd, "metadata": {"name": resource}, "spec": spec})
    crds = [f"crd/{resource}" for resource in KARPENTER]
    for resource in KARPENTER:
        space.await_kind(resource)
    try:
        yield
    finally:
        kube = kube_of(space)
        for _, path in KARPENTER.values():
            for entry in (kube.get(path) or {}).get("items") or ():
                let_go(kube, f"{path}/{entry['metadata']['name']}")
        space.kubectl("delete", *crds)


def let_go(kube: Kube, path: str) -> None:
    """Remove the finalizers of an object."""
    kube.request("PATCH", path, body={"metadata": {"finalizers": None}}, content_type="application/merge-patch+json")


class Controllers:
    """A thread that acts as AWS's controllers. `gone` has the kinds of the released objects, in order."""

    def __init__(self, space: Space) -> None:
        self.kube, self.namespace = kube_of(space), space.namespace
        self.done = threading.Event()
        self.thread = threading.Thread(target=self._run)
        self.gone: list[str] = []

    def __enter__(self) -> t.Self:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.done.set()
        self.thread.join()

    def _run(self) -> None:
        while not self.done.wait(0.2):
            # As controllers do: what fails now is tried again.
            for part in (self._balance, self._provision, self._karpenter):
                with contextlib.suppress(ClusterError, ConflictError):
                    part()

    def _balance(self) -> None:
        self._release(f"/api/v1/namespaces/{self.namespace}/services")
        self._release(f"/apis/networking.k8s.io/v1/namespaces/{self.namespace}/ingresses")

    def _karpenter(self) -> None:
        pools, claims, classes = (path for _, path in KARPENTER.values())
        self._release(pools)
        # Whoever deletes a class has deleted its nodes before: they are seen to leave, or are gone.
        unused = self._leaving(classes)
        if self._leaving(claims):
            self._drain()
            self._release(claims)
        if not self._leaving(claims):
            self._let_go(classes, unused)

    def _items(self, path: str) -> list[Json]:
        return (self.kube.get(path) or {}).get("items") or []

    def _leaving(self, path: str) -> list[Json]:
        return [entry for entry in self._items(path) if "deletionTimestamp" in entry["metadata"]]

    def _release(self, path: str) -> None:
        self._let_go(path, self._leaving(path))

    def _let_go(self, path: str, entries: list[Json]) -> None:
        for entry in entries:
            let_go(self.kube, f"{path}/{entry['metadata']['name']}")
            self.gone.append(path.rpartition("/")[2])

    def _provision(self) -> None:
        """Delete released volumes, as the external provisioner does once the disk is gone."""
        volumes = "/api/v1/persistentvolumes"
        for entry in self._items(volumes):
            ours = "pv.kubernetes.io/provisioned-by" in (entry["metadata"].get("annotations") or {})
            to_go = entry["spec"]["persistentVolumeReclaimPolicy"] == "Delete"
            if ours and to_go and entry["status"].get("phase") == "Released":
                self.kube.request("DELETE", f"{volumes}/{entry['metadata']['name']}")
        self._release(volumes)

    def _drain(self) -> None:
        """Evict all pods of the namespace, as Karpenter does those of a node; a budget may refuse it."""
        pods = f"/api/v1/namespaces/{self.namespace}/pods"
        for pod in self._items(pods):
            name = pod["metadata"]["name"]
            eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
            self.kube.request("POST", f"{pods}/{name}/eviction", body=eviction)
