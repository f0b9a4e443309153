# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""What runs and what ran on one cluster, read from its ledgers."""

from __future__ import annotations

import typing as t
from collections.abc import Iterable

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import from_iso, human
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Kube
from ansible_collections.mlops.eks.plugins.module_utils._kube.paths import collection
from ansible_collections.mlops.eks.plugins.module_utils._step.ledger import LABEL, Entry, parse

Row = dict[str, t.Any]
_COLUMNS = ("release", "step", "outcome", "took", "age", "run", "cause")


def runs(kube: Kube, *, release: str | None, all_namespaces: bool, now: float) -> list[Row]:
    """Return one row per step of every run, newest run last, steps in their order."""
    where = None if all_namespaces else kube.namespace
    selector = f"{LABEL}=true" + (f",mlops.eks/release={release}" if release else "")
    found = kube.request("GET", collection("v1", "configmaps", where), params={"labelSelector": selector})
    rows = []
    for document in found.get("items") or []:
        for entry in parse(document).values():
            rows.append(_row(entry, document["metadata"], now))
    return sorted(rows, key=lambda row: (row["namespace"], row["release"], row["index"]))


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
        # An attempt that waits for its back-off begins in the future.
        "took": human(max(0.0, ended - started)),
        "age": human(now - ended) if entry.finished else "-",
        "started": entry.started,
        "finished": entry.finished,
        "run": entry.run_id,
        "controller": entry.controller,
        "helm_release": entry.helm_release,
        "cause": entry.cause,
    }


def table(rows: Iterable[Row]) -> list[str]:
    """Return the rows as aligned lines of text, a heading first."""
    cells = [[column.upper() for column in _COLUMNS]]
    cells += [[_clip(str(row[column])) for column in _COLUMNS] for row in rows]
    if len(cells) == 1:
        return ["no runs"]
    widths = [max(len(line[index]) for line in cells) for index in range(len(_COLUMNS))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells]


def _clip(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."
