# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The steps that the ledgers of a cluster know, as rows and as a table; and which run a task is about."""

from __future__ import annotations

import typing as t
from collections.abc import Iterable, Mapping, Sequence

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import from_iso, human
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import ClusterError
from ansible_collections.mlops.eks.plugins.module_utils._core.text import listed, shortened
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Kube
from ansible_collections.mlops.eks.plugins.module_utils._kube.listing import items
from ansible_collections.mlops.eks.plugins.module_utils._kube.paths import collection
from ansible_collections.mlops.eks.plugins.module_utils._kube.pods import node, phase
from ansible_collections.mlops.eks.plugins.module_utils._ledger.ledger import LABEL, Entry, parse
from ansible_collections.mlops.eks.plugins.module_utils._recipe.pipeline import locate, read

Params = Mapping[str, t.Any]
Row = dict[str, t.Any]
# Outcomes of steps whose release is, or will be, installed.
INSTALLED = ("running", "retrying", "ready")
# Nodes, and namespaces, that a message names.
_NAMED_NODES, _NAMED_NAMESPACES = 3, 5
_NODE_GROUP = "eks.amazonaws.com/nodegroup"
_COLUMNS = ("release", "step", "outcome", "took", "age", "by", "run", "cause")
# Characters of a cell of the table.
_WIDTH = 60


def runs(kube: Kube, *, release: str | None, all_namespaces: bool, now: float) -> list[Row]:
    """Return one row per step of every run, newest run last, steps in their order."""
    where = None if all_namespaces else kube.namespace
    found = kube.request("GET", collection("v1", "configmaps", where), params=selector(release))
    rows = []
    for document in found.get("items") or []:
        for entry in parse(document).values():
            rows.append(_row(entry, document["metadata"], now))
    return sorted(rows, key=lambda row: (row["namespace"], row["release"], row["index"]))


def on_node_groups(kube: Kube, rows: Iterable[Row], groups: Sequence[str]) -> list[Row]:
    """Return the installed steps that would lose pods with the nodes of managed node groups of EKS.

    `nodes` of a row are the nodes of its pods. A step without pods is returned too, without nodes: its pods may be
    scheduled there at any moment.
    """
    selector = f"{_NODE_GROUP} in ({','.join(groups)})"
    found = items(kube.request("GET", collection("v1", "nodes", None), params={"labelSelector": selector}))
    nodes = {entry["metadata"]["name"] for entry in found}
    kept = []
    for row in rows:
        if row["outcome"] in INSTALLED:
            used = _nodes_of(kube, row)
            if used is None or used & nodes:
                shared = sorted(nodes & (used or set()))
                kept.append({**row, "nodes": shared, "text": _text(row, shared)})
    return kept


def _text(row: Row, nodes: Sequence[str]) -> str:
    """Return which step is on `nodes`, as part of a sentence."""
    does = {"running": "runs", "retrying": "waits for its next attempt", "ready": "serves"}[row["outcome"]]
    where = f"on {listed(nodes, _NAMED_NODES)}" if nodes else "with no pod yet"
    who = f"step {row['step']} of {row['release']} in namespace {row['namespace']}"
    return f"{who} {does} {where}, since {row['started']}"


def _nodes_of(kube: Kube, row: Row) -> set[str] | None:
    """Return the nodes that the pods of a release are on, `None` when it has no pods."""
    params = {"labelSelector": f"app.kubernetes.io/instance={row['helm_release']}"}
    found = items(kube.request("GET", collection("v1", "pods", row["namespace"]), params=params))
    there = {node(pod) for pod in found if phase(pod) not in ("Succeeded", "Failed")}
    return {name for name in there if name} if found else None


def _row(entry: Entry, metadata: dict[str, t.Any], now: float) -> Row:
    started = from_iso(entry.started)
    ended = from_iso(entry.finished) if entry.finished else now
    return {
        "namespace": metadata["namespace"],
        "release": metadata["labels"]["mlops.eks/release"],
        "pipeline": entry.pipeline,
        "step": entry.step,
        "index": entry.index,
        "outcome": entry.outcome,
        "attempt": entry.attempt,
        # An attempt that waits for its back-off starts in the future.
        "took": human(max(0.0, ended - started)),
        "age": human(now - ended) if entry.finished else "-",
        "started": entry.started,
        "finished": entry.finished,
        "run": entry.run_id,
        "user": entry.user,
        "controller": entry.controller,
        "by": f"{entry.user}@{entry.controller}" if entry.user else entry.controller,
        "helm_release": entry.helm_release,
        "cause": entry.cause,
    }


def table(rows: Iterable[Row], none: str = "no runs") -> list[str]:
    """Return the rows as aligned lines of text with a heading, or `none` if there are no rows."""
    cells = [[column.upper() for column in _COLUMNS]]
    cells += [[shortened(str(row[column]), _WIDTH) for column in _COLUMNS] for row in rows]
    if len(cells) == 1:
        return [none]
    widths = [max(len(line[index]) for line in cells) for index in range(len(_COLUMNS))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells]


def run_params(params: Params) -> Params:
    """Return the parameters, with release and namespace of `pipeline` where the task sets none.

    Raises:
        InvalidInputError: there is no such pipeline, or it is broken.
    """
    if not params["pipeline"]:
        return params
    pipeline = read(locate(params["pipeline"]))
    return {
        **params,
        "release": params["release"] or pipeline.name,
        "namespace": params["namespace"] or pipeline.namespace,
    }


def selector(release: str | None) -> dict[str, str]:
    """Return the query that selects the ledger of a run, or all ledgers."""
    return {"labelSelector": f"{LABEL}=true" + (f",mlops.eks/release={release}" if release else "")}


def elsewhere(kube: Kube, release: str | None) -> str:
    """Return a sentence that names the other namespaces with this run, or any; empty if none, or not permitted."""
    try:
        found = kube.request("GET", collection("v1", "configmaps", None), params=selector(release))
    except ClusterError:
        return ""
    names = sorted({one["metadata"]["namespace"] for one in found.get("items") or ()} - {kube.namespace})
    if not names:
        return ""
    subject = f"run {release} is" if release else "there are runs"
    where = listed(names, _NAMED_NAMESPACES)
    return f" But {subject} in {where}: set the namespace (playbooks: -e kube_namespace={names[0]})."
