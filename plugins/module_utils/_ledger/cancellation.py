# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Cancellation markers: how a run is stopped while none of its steps runs.

Between two steps no controller holds the lock. The stop therefore leaves a marker with the run's id as an annotation
of the ledger, and the next step finds it before it begins.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import typing as t
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document
from ansible_collections.mlops.eks.plugins.module_utils._ledger.ledger import Ledger, parse

# Annotations of the ledger: one marker for each cancelled run, and the id of the run that skipped a step last.
_MARKER = "stopped.mlops.eks/"
_LAST_SKIP = "mlops.eks/passing"


@dataclass(frozen=True, kw_only=True)
class Cancellation:
    """Who stopped run `run_id`, and when (RFC 3339)."""

    run_id: str
    by: str
    at: str

    def __str__(self) -> str:
        return f"stopped from {self.by} at {self.at}"


def request(ledger: Ledger, *, by: str, at: str) -> list[str]:
    """Mark every run that may begin another step as cancelled; return the ids of the newly marked runs."""
    document = ledger.document()
    marked, runs = _markers(document), _unfinished(document)
    new = sorted(runs - set(marked))
    if new:
        obsolete = {_key(run): None for run in marked if run not in runs}
        ledger.annotate(
            obsolete | {_key(run): json.dumps(asdict(Cancellation(run_id=run, by=by, at=at))) for run in new}
        )
    return new


def pending(ledger: Ledger) -> list[str]:
    """Return the ids of the runs that `request` would mark."""
    document = ledger.document()
    return sorted(_unfinished(document) - set(_markers(document)))


def find(ledger: Ledger, run_id: str) -> Cancellation | None:
    """Return the cancellation marker of a run, if it has one."""
    return _markers(ledger.document()).get(run_id)


def acknowledge(ledger: Ledger, run_id: str) -> None:
    """Remove the marker of a run that ends because of it: the run id may be used again."""
    if find(ledger, run_id):
        ledger.annotate({_key(run_id): None})


def note_skip(ledger: Ledger, run_id: str) -> None:
    """Record that a run skipped a step and goes on: a skipped step gets no entry in the ledger."""
    if _annotations(ledger.document()).get(_LAST_SKIP) != run_id:
        ledger.annotate({_LAST_SKIP: run_id})


def _key(run_id: str) -> str:
    # An annotation's name has at most 63 characters, a run id up to 128.
    return _MARKER + hashlib.sha256(run_id.encode()).hexdigest()[:32]


def _annotations(document: Document) -> Mapping[str, str]:
    return t.cast(Document, document.get("metadata") or {}).get("annotations") or {}


def _markers(document: Document) -> dict[str, Cancellation]:
    markers = {}
    for key, text in _annotations(document).items():
        # A marker of another version is ignored.
        with contextlib.suppress(ValueError, TypeError):
            if key.startswith(_MARKER):
                marker = Cancellation(**json.loads(text))
                markers[marker.run_id] = marker
    return markers


def _unfinished(document: Document) -> set[str]:
    """Return the runs that may go on: their newest step is unfinished, or succeeded and is not the pipeline's last."""
    entries = sorted(parse(document).values(), key=lambda entry: (entry.unfinished, entry.order))
    last = {entry.run_id: entry for entry in entries}
    runs = {run for run, entry in last.items() if entry.unfinished or (entry.good and entry.index < entry.total)}
    skipper = _annotations(document).get(_LAST_SKIP)
    return runs | ({skipper} if skipper and skipper not in last else set())
