# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The state of a Helm release, read from the labels of its Secrets: one small request, no Helm process.

Source: helm `pkg/storage/driver/secrets.go` (labels owner, name, status, version) and `helm install --labels`.
"""

from __future__ import annotations

from dataclasses import dataclass

from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Kube
from ansible_collections.mlops.eks.plugins.module_utils._kube.paths import collection, item

IDENTITY = "mlops.eks/identity"
STEP = "mlops.eks/step"
# A label value holds 63 characters, an identity has 64.
_LABEL_LENGTH = 40


@dataclass(frozen=True, kw_only=True)
class Release:
    """One stored revision of a release."""

    name: str
    status: str
    revision: int
    identity: str
    step: str

    @property
    def pending(self) -> bool:
        """Whether Helm was interrupted while it worked on it."""
        return self.status.startswith("pending-") or self.status == "uninstalling"


def label(identity: str) -> str:
    """Return the part of an identity that fits in a label."""
    return identity[:_LABEL_LENGTH]


def revisions(kube: Kube, name: str, *, upgraded: bool = True) -> list[Release]:
    """Return the stored revisions of release `name`, oldest first; `[]` when it is not installed.

    A release that is never `upgraded` always has its first revision. Looking for that one spares the list, for which
    an API server waits up to 0.1 s until its cache has caught up.
    """
    if not upgraded and kube.get(item("v1", "secrets", kube.namespace, f"sh.helm.release.v1.{name}.v1")) is None:
        return []
    found = kube.request(
        "GET", collection("v1", "secrets", kube.namespace), params={"labelSelector": f"owner=helm,name={name}"}
    )
    releases = []
    for entry in found.get("items") or []:
        labels = entry["metadata"].get("labels") or {}
        releases.append(
            Release(
                name=name,
                status=labels.get("status", "unknown"),
                revision=int(labels.get("version", 0)),
                identity=labels.get(IDENTITY, ""),
                step=labels.get(STEP, ""),
            )
        )
    return sorted(releases, key=lambda release: release.revision)
