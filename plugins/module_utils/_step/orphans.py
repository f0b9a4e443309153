# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""What Helm made for a release and does not know of any more.

Helm knows a release by its Secrets. Whoever deletes them takes its memory, and `helm uninstall` then deletes nothing.
What was made is in the step's plan and in the ledger. It is ours only if Helm's own marks on it name our release.

Source: helm `pkg/action/validate.go`, the label and the annotations that Helm sets and demands of what it adopts.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Iterable, Iterator

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import AbsentError, ConflictError
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document, Kube
from ansible_collections.mlops.eks.plugins.module_utils._kube.paths import item
from ansible_collections.mlops.eks.plugins.module_utils._step.workload import find_kind

_MANAGED = "app.kubernetes.io/managed-by"
_RELEASE, _NAMESPACE = "meta.helm.sh/release-name", "meta.helm.sh/release-namespace"
# What a chart asks to be left where it is, and what Helm does not count among the objects of a release.
_KEPT, _HOOK = "helm.sh/resource-policy", "helm.sh/hook"


class Orphan(t.NamedTuple):
    """An object that is there, and where."""

    path: str
    entry: Document

    def __str__(self) -> str:
        return f"{self.entry['kind']}/{self.entry['metadata']['name']}"


def names(manifest: Iterable[Document]) -> tuple[str, ...]:
    """Return the objects of a release as the ledger has them: `apiVersion/Kind/namespace/name`, in Helm's order."""
    return tuple(
        "/".join((one["apiVersion"], one["kind"], one["metadata"].get("namespace") or "", one["metadata"]["name"]))
        for one in manifest
        if _HOOK not in (one["metadata"].get("annotations") or {})
    )


def find(kube: Kube, release: str, objects: Iterable[str]) -> list[Orphan]:
    """Return which of the `objects` are there and were made for Helm release `release`, the last one first."""
    return [found for one in reversed([*objects]) for found in _find(kube, release, one)]


def delete(kube: Kube, found: Iterable[Orphan]) -> None:
    """Delete objects, and in the background what belongs to them; one that is gone, or another by now, is no error."""
    for orphan in found:
        wanted = {"propagationPolicy": "Background", "preconditions": {"uid": orphan.entry["metadata"]["uid"]}}
        try:
            kube.request("DELETE", orphan.path, body=wanted)
        except (AbsentError, ConflictError):
            continue


def delete_forgotten(kube: Kube, release: str, objects: Iterable[str], *, say: Callable[[str], None]) -> None:
    """Delete what is left of a release that Helm has forgotten."""
    if found := find(kube, release, objects):
        say(
            f"release {release}: Helm has no record of it any more; deleting what it made: {', '.join(map(str, found))}"
        )
        delete(kube, found)


def _find(kube: Kube, release: str, name: str) -> Iterator[Orphan]:
    version, kind, namespace, own = name.rsplit("/", 3)
    try:
        row = find_kind(kube, version, kind)
    except AbsentError:
        return
    path = item(version, row.plural, (namespace or kube.namespace) if row.namespaced else None, own)
    entry = kube.get(path)
    if entry is not None and _is_ours(entry, release, kube.namespace):
        yield Orphan(path, {**entry, "kind": kind})


def _is_ours(entry: Document, release: str, namespace: str) -> bool:
    metadata = entry["metadata"]
    labels, notes = metadata.get("labels") or {}, metadata.get("annotations") or {}
    marks = labels.get(_MANAGED), notes.get(_RELEASE), notes.get(_NAMESPACE)
    return (
        marks == ("Helm", release, namespace) and not metadata.get("deletionTimestamp") and notes.get(_KEPT) != "keep"
    )
