# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Word for a run that is stopped while none of its steps is at work: left in the ledger, found by the next step.

Between two steps nobody holds the lock, and nothing in the cluster is the run's. What it has left there is its id.
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

# Annotations of the ledger: a word for each run, and which run was the last to skip a step.
_WORD = "stopped.mlops.eks/"
_PASSING = "mlops.eks/passing"


@dataclass(frozen=True, kw_only=True)
class Cancellation:
    """Who stopped run `run_id`, and when (RFC 3339)."""

    run_id: str
    by: str
    at: str

    def __str__(self) -> str:
        return f"stopped from {self.by} at {self.at}"


def request(ledger: Ledger, *, by: str, at: str) -> list[str]:
    """Leave word for every run that may begin another step; return the ids of those for which there was none yet."""
    document = ledger.document()
    old, runs = _words(document), _unfinished(document)
    new = sorted(runs - set(old))
    if new:
        gone = {_key(run): None for run in old if run not in runs}
        ledger.annotate(gone | {_key(run): json.dumps(asdict(Cancellation(run_id=run, by=by, at=at))) for run in new})
    return new


def pending(ledger: Ledger) -> list[str]:
    """Return the ids of the runs for which `leave` would leave word."""
    document = ledger.document()
    return sorted(_unfinished(document) - set(_words(document)))


def find(ledger: Ledger, run_id: str) -> Cancellation | None:
    """Return the word that was left for a run."""
    return _words(ledger.document()).get(run_id)


def acknowledge(ledger: Ledger, run_id: str) -> None:
    """Take the word back of a run that ends because of it: its id may be used again."""
    if find(ledger, run_id):
        ledger.annotate({_key(run_id): None})


def note_skip(ledger: Ledger, run_id: str) -> None:
    """Write down that a run goes on to its next step: one that skips a step writes no entry for it."""
    if _annotations(ledger.document()).get(_PASSING) != run_id:
        ledger.annotate({_PASSING: run_id})


def _key(run_id: str) -> str:
    # Names of annotations are short, and ids of runs as long as their user likes.
    return _WORD + hashlib.sha256(run_id.encode()).hexdigest()[:32]


def _annotations(document: Document) -> Mapping[str, str]:
    return t.cast(Document, document.get("metadata") or {}).get("annotations") or {}


def _words(document: Document) -> dict[str, Cancellation]:
    found = {}
    for key, text in _annotations(document).items():
        # What is no word of this version was not left by us.
        with contextlib.suppress(ValueError, TypeError):
            if key.startswith(_WORD):
                word = Cancellation(**json.loads(text))
                found[word.run_id] = word
    return found


def _unfinished(document: Document) -> set[str]:
    """Return the runs that are not known to be over: their last step goes on, or was good and not the last one."""
    entries = sorted(parse(document).values(), key=lambda entry: (entry.going, entry.order))
    last = {entry.run_id: entry for entry in entries}
    runs = {run for run, entry in last.items() if entry.going or (entry.good and entry.index < entry.total)}
    passes = _annotations(document).get(_PASSING)
    return runs | ({passes} if passes and passes not in last else set())
