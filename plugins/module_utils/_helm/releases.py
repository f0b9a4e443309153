# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The state of a Helm release, from the labels of its Secrets: one request instead of a Helm process.

Source: helm `pkg/storage/driver/secrets.go` (labels owner, name, status, version) and `helm install --labels`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document, Kube
from ansible_collections.mlops.eks.plugins.module_utils._kube.paths import collection, item

IDENTITY = "mlops.eks/identity"
RUN = "mlops.eks/release"
STEP = "mlops.eks/step"
# A label value holds 63 characters, an identity has 64.
_LABEL_LENGTH = 40


@dataclass(frozen=True, kw_only=True)
class Release:
    """One stored revision of a release. `run` and `step` are empty when this collection did not install it."""

    name: str
    status: str
    revision: int
    identity: str
    step: str
    run: str

    @property
    def pending(self) -> bool:
        """Whether a Helm operation is in progress or was interrupted."""
        return self.status.startswith("pending-") or self.status == "uninstalling"


def label(identity: str) -> str:
    """Return the part of an identity that fits in a label."""
    return identity[:_LABEL_LENGTH]


def revisions(kube: Kube, name: str, *, upgraded: bool = True) -> list[Release]:
    """Return the stored revisions of release `name`, oldest first; `[]` when it is not installed.

    A release that is never `upgraded` has its first revision. To get that one avoids the list, which may take 0.1 s
    until the cache of the API server has caught up.
    """
    if not upgraded and first(kube, name) is None:
        return []
    found = kube.request("GET", _secrets(kube), params={"labelSelector": f"owner=helm,name={name}"})
    return sorted(map(_release, found.get("items") or []), key=lambda release: release.revision)


def first(kube: Kube, name: str) -> Release | None:
    """Return the first revision of release `name`, which a release that was never upgraded has."""
    secret = kube.get(item("v1", "secrets", kube.namespace, f"sh.helm.release.v1.{name}.v1"))
    return None if secret is None else _release(secret)


def newest(kube: Kube, names: Iterable[str]) -> list[Release]:
    """Return the newest revision of each of these releases that is installed."""
    # From the cache of the API server, in milliseconds: these releases are not new.
    selector = f"owner=helm,name in ({','.join(sorted(names))})"
    found = kube.request("GET", _secrets(kube), params={"labelSelector": selector, "resourceVersion": "0"})
    stored = sorted(map(_release, found.get("items") or []), key=lambda release: release.revision)
    return sorted({release.name: release for release in stored}.values(), key=lambda release: release.name)


def _secrets(kube: Kube) -> str:
    return collection("v1", "secrets", kube.namespace)


def _release(secret: Document) -> Release:
    labels = secret["metadata"].get("labels") or {}
    return Release(
        name=labels.get("name", ""),
        status=labels.get("status", "unknown"),
        revision=int(labels.get("version", 0)),
        identity=labels.get(IDENTITY, ""),
        step=labels.get(STEP, ""),
        run=labels.get(RUN, ""),
    )
