# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Lists objects with their `apiVersion` and `kind`, which only the list itself has."""

from __future__ import annotations

from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document, Kube, Params
from ansible_collections.mlops.eks.plugins.module_utils._kube.paths import collection


def items(answer: Document) -> list[Document]:
    """Return the objects of a list, each with the kind and version of the list."""
    kind = str(answer.get("kind", "")).removesuffix("List")
    own = {"apiVersion": answer.get("apiVersion"), "kind": kind} if kind else {}
    return [{**own, **entry} for entry in answer.get("items") or []]


def pods(kube: Kube, params: Params) -> list[Document]:
    """Return pods of the client's namespace."""
    return items(kube.get(collection("v1", "pods", kube.namespace), params) or {})
