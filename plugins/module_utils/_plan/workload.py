# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The workload of a step: which of a chart's objects it is, and its kind."""

from __future__ import annotations

from collections.abc import Iterable

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._core.nearest import did_you_mean
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document, Kube
from ansible_collections.mlops.eks.plugins.module_utils._kube.discovery import discover
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.table import KINDS, Kind, unknown
from ansible_collections.mlops.eks.plugins.module_utils._kube.paths import Ref

_SPELLING = "condition=TYPE or jsonpath={.status.phase}=VALUE"


def choose(manifest: Iterable[Document], *, chart: str, until: bool, wanted: str | None = None) -> Document:
    """Return the object whose status decides the step: one that runs to completion, else that serves, else a bare pod.

    A chart without any of these must have one object of a custom kind, and the step sets `until`. `wanted` selects
    another object, by `Kind/name`, or by `Kind` if there is one of it.

    Raises:
        InvalidInputError: there is none, or there are several.
    """
    entries = [entry for entry in manifest if not _is_hook(entry)]
    named = [entry for entry in entries if wanted in (None, entry["kind"], _name(entry))]
    if wanted and not named:
        raise InvalidInputError(_absent(entries, wanted, chart))
    known = ([one for one in named if _rank(one) == rank] for rank in range(3))
    custom = named if wanted else [entry for entry in named if _is_custom(entry)]
    candidates = next((rows for rows in known if rows), custom if until else [])
    if not candidates:
        raise InvalidInputError(_none(entries, custom, chart))
    if len(candidates) > 1:
        raise InvalidInputError(_several(candidates, chart))
    return candidates[0]


def find_kind(kube: Kube, api_version: str, kind: str, *, serves: bool = False) -> Kind:
    """Return the row of a kind, or one whose end only `until` and `fail_on` decide.

    Raises:
        AbsentError: the table has no such kind, and the cluster does not know it either.
    """
    row = KINDS.get((api_version, kind))
    if row is not None:
        return row
    found = discover(kube, api_version, kind)
    return unknown(api_version, kind, found.plural, serves=serves, namespaced=found.namespaced)


def refer(kind: Kind, name: str, namespace: str) -> Ref:
    """Return the reference to the workload."""
    return Ref(kind.api_version, kind.kind, kind.plural, namespace if kind.namespaced else "", name)


def _rank(entry: Document) -> int | None:
    row = KINDS.get((entry["apiVersion"], entry["kind"]))
    # A RayCluster beside a job serves that job; a pod beside a workload is a helper.
    return None if row is None else 2 if row.kind == "Pod" else int(row.serves)


def _is_custom(entry: Document) -> bool:
    """Return whether the API group is not one of Kubernetes itself, whose other kinds only support a workload."""
    group, _, version = entry["apiVersion"].rpartition("/")
    own = "." not in group or (group.endswith(".k8s.io") and not group.endswith(".x-k8s.io"))
    return bool(version) and not own


def _is_hook(entry: Document) -> bool:
    return "helm.sh/hook" in (entry["metadata"].get("annotations") or {})


def _names(entries: Iterable[Document]) -> str:
    return ", ".join(map(_name, entries))


def _name(entry: Document) -> str:
    return f"{entry['kind']}/{entry['metadata']['name']}"


def _absent(entries: list[Document], wanted: str, chart: str) -> str:
    workloads = [entry for entry in entries if _rank(entry) is not None or _is_custom(entry)]
    names = {name for entry in workloads for name in (entry["kind"], _name(entry))}
    return f"chart {chart}: renders no {wanted}, which workload asks for.{did_you_mean(wanted, names)}"


def _several(candidates: list[Document], chart: str) -> str:
    kinds = [entry["kind"] for entry in candidates]
    example = kinds[0] if kinds.count(kinds[0]) == 1 else _name(candidates[0])
    return (
        f"chart {chart}: renders several workloads ({_names(candidates)}). One of them decides the step: "
        f"set workload to its Kind or Kind/name, for example workload: {example}."
    )


def _none(entries: list[Document], custom: list[Document], chart: str) -> str:
    if custom:
        return (
            f"chart {chart}: the condition for the end of {_names(custom)} is not known. "
            f"Set it in the step: until: {_SPELLING}; and for a failure, fail_on in the same form."
        )
    kinds = ", ".join(sorted({entry["kind"] for entry in entries})) or "nothing"
    known = ", ".join(sorted(kind for _, kind in KINDS))
    return (
        f"chart {chart}: renders no workload that can be followed (found {kinds}). A step's chart renders one of "
        f"{known}, or one object of a custom kind, together with until: {_SPELLING}."
    )
