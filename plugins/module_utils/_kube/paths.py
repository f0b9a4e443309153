# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Paths of the Kubernetes API."""

from __future__ import annotations

import typing as t
from urllib.parse import quote


def group(api_version: str) -> str:
    """Return the path of all resources of one version of one group."""
    # Names are quoted: many come from the cluster, without validation.
    parts = [quote(part, safe="") for part in api_version.split("/", 1)]
    return "/".join(("/api" if len(parts) == 1 else "/apis", *parts))


def collection(api_version: str, plural: str, namespace: str | None) -> str:
    """Return the path of all objects of one resource."""
    scope = f"/namespaces/{quote(namespace, safe='')}" if namespace else ""
    return f"{group(api_version)}{scope}/{quote(plural, safe='')}"


def item(api_version: str, plural: str, namespace: str | None, name: str, subresource: str = "") -> str:
    """Return the path of one object, or of its subresource such as `log`."""
    path = f"{collection(api_version, plural, namespace)}/{quote(name, safe='')}"
    return f"{path}/{quote(subresource, safe='')}" if subresource else path


class Ref(t.NamedTuple):
    """A reference to one object. `plural` is its resource name in the API."""

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
