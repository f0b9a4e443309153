# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Where objects live in the Kubernetes API."""

from __future__ import annotations

import typing as t


def collection(api_version: str, plural: str, namespace: str | None) -> str:
    """Return the path of all objects of one resource."""
    root = f"/api/{api_version}" if "/" not in api_version else f"/apis/{api_version}"
    return f"{root}/namespaces/{namespace}/{plural}" if namespace else f"{root}/{plural}"


def item(api_version: str, plural: str, namespace: str | None, name: str) -> str:
    """Return the path of one object."""
    return f"{collection(api_version, plural, namespace)}/{name}"


class Ref(t.NamedTuple):
    """One object. `plural` is its resource name in the API."""

    api_version: str
    kind: str
    plural: str
    namespace: str
    name: str

    @property
    def path(self) -> str:
        """Path of the object."""
        return item(self.api_version, self.plural, self.namespace, self.name)

    @property
    def parent(self) -> str:
        """Path of the object's collection."""
        return collection(self.api_version, self.plural, self.namespace)

    def __str__(self) -> str:
        return f"{self.kind}/{self.name}"
