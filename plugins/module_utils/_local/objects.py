# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The initial objects of a native cluster: the requested namespace and its shared file systems.

On EKS `pv-fsx` is FSx for Lustre and `pv-efs` is EFS, and every namespace sees the same files. Here both are
directories of the host, and each namespace has its own volumes for the same two directories.
"""

from __future__ import annotations

import dataclasses
import typing as t
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._local.api import Api
from ansible_collections.mlops.eks.plugins.module_utils._local.layout import Layout

Document = dict[str, t.Any]
FILE_SYSTEMS = ("fsx", "efs")
CAPACITY = "1Ti"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Wanted:
    """One object, and the path of its collection."""

    path: str
    document: Document

    @property
    def label(self) -> str:
        """Kind and name, for output."""
        return f"{self.document['kind']}/{self.document['metadata']['name']}"


def wanted(layout: Layout, namespace: str | None) -> list[Wanted]:
    """Return the objects of one namespace in the order of creation; none without a namespace."""
    if namespace is None:
        return []
    found = [
        Wanted(
            path="/api/v1/namespaces",
            document={"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}},
        )
    ]
    for file_system in FILE_SYSTEMS:
        found += [_volume(layout, namespace, file_system), _claim(namespace, file_system)]
    return found


def _volume(layout: Layout, namespace: str, file_system: str) -> Wanted:
    return Wanted(
        path="/api/v1/persistentvolumes",
        document={
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": f"pv-{file_system}-{namespace}"},
            "spec": {
                "accessModes": ["ReadWriteMany"],
                "capacity": {"storage": CAPACITY},
                "claimRef": {"namespace": namespace, "name": f"pv-{file_system}"},
                "hostPath": {"path": str(shared(layout, file_system)), "type": "Directory"},
                "persistentVolumeReclaimPolicy": "Retain",
                "storageClassName": "",
            },
        },
    )


def _claim(namespace: str, file_system: str) -> Wanted:
    return Wanted(
        path=f"/api/v1/namespaces/{namespace}/persistentvolumeclaims",
        document={
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": f"pv-{file_system}", "namespace": namespace},
            "spec": {
                "accessModes": ["ReadWriteMany"],
                "resources": {"requests": {"storage": CAPACITY}},
                "storageClassName": "",
                "volumeName": f"pv-{file_system}-{namespace}",
            },
        },
    )


def shared(layout: Layout, file_system: str) -> Path:
    """Return the directory behind a shared file system."""
    return layout.root / "shared" / file_system


def make_directories(layout: Layout) -> None:
    """Create the shared directories. `home` is world-writable, because jobs run under many user IDs."""
    for file_system in FILE_SYSTEMS:
        home = shared(layout, file_system) / "home"
        home.mkdir(parents=True, exist_ok=True)
        home.chmod(0o777)


def missing(api: Api, objects: list[Wanted]) -> list[Wanted]:
    """Return the `objects` that the cluster does not have."""
    return [entry for entry in objects if api.get(f"{entry.path}/{entry.document['metadata']['name']}") is None]


def is_settled(api: Api, namespace: str) -> bool:
    """Return whether pods of the namespace can start: its service account exists and its claims are bound."""
    if api.get(f"/api/v1/namespaces/{namespace}/serviceaccounts/default") is None:
        return False
    claims = (api.get(f"/api/v1/namespaces/{namespace}/persistentvolumeclaims/pv-{name}") for name in FILE_SYSTEMS)
    return all(claim is not None and claim["status"].get("phase") == "Bound" for claim in claims)


def is_node_ready(api: Api, node: str) -> bool:
    """Return whether the node is `Ready` and accepts pods."""
    found = api.get(f"/api/v1/nodes/{node}")
    if found is None or found["spec"].get("taints"):
        return False
    return any(
        entry["type"] == "Ready" and entry["status"] == "True" for entry in found["status"].get("conditions", [])
    )
