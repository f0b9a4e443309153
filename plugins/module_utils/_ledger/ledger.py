# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The run's record inside the cluster: one ConfigMap per release, one key per step. It survives the controller."""

from __future__ import annotations

import json
import socket
import typing as t
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from ansible_collections.mlops.eks.plugins.module_utils._core.bounds import CAUSE, EARLIER_CAUSE, LEDGER_ENTRY
from ansible_collections.mlops.eks.plugins.module_utils._core.clock import iso
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import AbsentError, ConflictError
from ansible_collections.mlops.eks.plugins.module_utils._core.text import shortened
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document, Kube
from ansible_collections.mlops.eks.plugins.module_utils._kube.paths import collection, item
from ansible_collections.mlops.eks.plugins.module_utils._plan.retry import PastAttempt
from ansible_collections.mlops.eks.plugins.module_utils._plan.task import Task
from ansible_collections.mlops.eks.plugins.module_utils._recipe.chart import Chart

LABEL = "mlops.eks/ledger"
_MERGE = "application/merge-patch+json"
# What limits and retries need of an earlier attempt; the rest is for people.
_COUNTED = ("attempt", "run_id", "started", "finished", "outcome", "reason", "category")


class Serving(t.TypedDict):
    """The revision of a Helm release that was ready last; `identity` is the value of its label."""

    revision: int
    identity: str


@dataclass(frozen=True, kw_only=True)
class Entry:
    """The state of one step. Times are RFC 3339; `outcome` may be `running`, or `retrying` between two attempts.

    `order` counts the steps of the release as they end, so that no clock decides which of two steps is newer. `chart`
    is a display name, `chart_digest` identifies the chart. `objects` are the rendered objects (see
    `leftovers.object_names`), for a step whose Helm release somebody deletes. `serving` is the revision that a failed
    upgrade of a server goes back to; it is kept across attempts.
    """

    step: str
    identity: str
    outcome: str
    run_id: str
    pipeline: str
    helm_release: str
    controller: str
    started: str
    finished: str | None = None
    cause: str = ""
    kept: bool = False
    total: int = 1
    index: int = 1
    order: int = 0
    tried: Sequence[PastAttempt] = ()
    chart: str = ""
    chart_digest: str = ""
    user: str = ""
    objects: Sequence[str] = ()
    serving: Serving | None = None

    @property
    def good(self) -> bool:
        """Whether the step reached its goal."""
        return self.outcome in ("succeeded", "ready")

    @property
    def unfinished(self) -> bool:
        """Whether the step runs, or waits between two attempts."""
        return self.outcome in ("running", "retrying")

    @property
    def attempt(self) -> int:
        """The number of the attempt that runs, ran last, or comes next, from 1."""
        return len(self.tried) + 1


def running_entry(
    task: Task,
    identity: str,
    started: float,
    earlier: Sequence[PastAttempt] = (),
    *,
    chart: Chart | None = None,
    objects: Sequence[str] = (),
) -> Entry:
    """Return the entry of a running step. `earlier` are its past attempts; `started` is in seconds since the epoch."""
    return Entry(
        step=task.step,
        identity=identity,
        outcome="running",
        run_id=task.run_id,
        pipeline=task.pipeline,
        helm_release=task.helm_release,
        controller=socket.gethostname(),
        user=task.user,
        started=iso(started),
        kept=task.keep,
        index=task.index,
        total=task.total,
        tried=tuple(earlier),
        chart=chart.label if chart else "",
        chart_digest=chart.digest if chart else "",
        objects=tuple(objects),
    )


def parse(document: Document) -> dict[str, Entry]:
    """Return the entries of a ledger ConfigMap by step name; entries of another version are ignored."""
    entries = {}
    for step, text in (document.get("data") or {}).items():
        try:
            found = json.loads(text)
            known = {key: value for key, value in found.items() if key in Entry.__dataclass_fields__}
            entries[step] = Entry(**{**known, **{key: tuple(known.get(key, ())) for key in ("tried", "objects")}})
        except (ValueError, TypeError, AttributeError):
            continue
    return entries


def _text(entry: Entry) -> str:
    """Return an entry as JSON, shortened because a ConfigMap holds 1 MiB; the record on disk has all of it."""
    entry = replace(entry, cause=shortened(entry.cause, CAUSE))
    short = tuple({**one, "message": str(one.get("message", ""))[:EARLIER_CAUSE]} for one in entry.tried)
    shortest = tuple({key: one[key] for key in one if key in _COUNTED} for one in entry.tried)
    for tried in (entry.tried, short, shortest):
        text = json.dumps(asdict(replace(entry, tried=tried)), sort_keys=True)
        if len(text) <= LEDGER_ENTRY:
            break
    return text


class Ledger:
    """The ConfigMap `mlops-eks-<release>`."""

    def __init__(self, kube: Kube, release: str) -> None:
        self._kube, self._release = kube, release
        self._collection = collection("v1", "configmaps", kube.namespace)
        self._path = item("v1", "configmaps", kube.namespace, f"mlops-eks-{release}")

    def read(self) -> dict[str, Entry]:
        """Return all entries by step name."""
        return parse(self.document())

    def document(self) -> Document:
        """Return the ConfigMap, empty when there is none."""
        return self._kube.get(self._path) or {}

    def annotate(self, annotations: Mapping[str, str | None]) -> None:
        """Set annotations of the ledger, which must exist; `None` removes one."""
        self._patch({"metadata": {"annotations": dict(annotations)}})

    def write(self, entry: Entry) -> None:
        """Store one entry; the others are not touched."""
        data = {entry.step: _text(entry)}
        try:
            self._patch({"data": data})
        except AbsentError:
            self._create(data)

    def finish(self, entry: Entry) -> None:
        """Store the entry of a step that has ended, as the newest one of the ledger."""
        newest = max((other.order for other in self.read().values()), default=0)
        self.write(replace(entry, order=newest + 1))

    def _patch(self, change: Document) -> None:
        self._kube.request("PATCH", self._path, body=change, content_type=_MERGE)

    def _create(self, data: Mapping[str, str]) -> None:
        body: dict[str, t.Any] = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "name": f"mlops-eks-{self._release}",
                "labels": {
                    LABEL: "true",
                    "mlops.eks/release": self._release,
                    "app.kubernetes.io/managed-by": "mlops.eks",
                },
            },
            "data": dict(data),
        }
        try:
            self._kube.request("POST", self._collection, body=body)
        except ConflictError:
            # An earlier attempt of this request created it, and its answer was lost.
            self._patch({"data": data})
