# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Which Kubernetes events are about the workload that is followed."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import from_iso
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.table import Kind


def is_ours(entry: Document, *, kind: Kind, name: str, workload: Document | None, pods: Container[str]) -> bool | None:
    """Return whether a warning is about the workload, its pods or objects between; `None` while unknown.

    Events exist for an hour. Those of an earlier workload of the same name, and those of another run whose name has
    ours as a prefix, must not end this step.
    """
    if entry.get("type") != "Warning":
        return False
    if workload is None:
        return None
    if _older(entry, workload):
        return False
    about = entry.get("involvedObject") or {}
    subject = str(about.get("name", ""))
    if about.get("kind") == "Pod":
        return True if subject in pods else None
    if about.get("kind") == kind.kind:
        return subject == name
    pattern = kind.intermediates(workload).get(str(about.get("kind")))
    return pattern is not None and re.fullmatch(pattern, subject) is not None


def identify(entry: Document) -> str:
    """Return a key of the warning; its repetitions have the same key."""
    about = entry.get("involvedObject") or {}
    return f"{about.get('kind')}/{about.get('name')} {entry.get('reason')} {entry.get('message')}"


def line(entry: Document) -> str:
    """Return the warning as one line of text."""
    about = entry.get("involvedObject") or {}
    text = " ".join(str(entry.get("message", "")).split())
    return f"{about.get('kind')}/{about.get('name')}: {entry.get('reason')}: {text}"


def by_subject(entries: Iterable[Document]) -> dict[str, tuple[Document, ...]]:
    """Return events by the object they are about, as `Kind/name`."""
    found: dict[str, list[Document]] = {}
    for entry in entries:
        about = entry.get("involvedObject") or {}
        found.setdefault(f"{about.get('kind')}/{about.get('name')}", []).append(entry)
    return {subject: tuple(ones) for subject, ones in found.items()}


def about_pod(subjects: Mapping[str, tuple[Document, ...]], pod: Document) -> tuple[Document, ...]:
    """Return the events about a pod and about its node."""
    node = pod["spec"].get("nodeName")
    return subjects.get(f"Pod/{pod['metadata']['name']}", ()) + subjects.get(f"Node/{node}", ())


def seen(entry: Document) -> float:
    """Return when the event was seen last, in seconds since the epoch; 0 when unknown."""
    stamp = entry.get("lastTimestamp") or entry.get("eventTime") or entry["metadata"].get("creationTimestamp")
    return from_iso(stamp) if stamp else 0.0


def _older(entry: Document, workload: Document) -> bool:
    """Return whether the event is of an earlier workload of the same name."""
    at = seen(entry)
    return bool(at) and at < from_iso(workload["metadata"]["creationTimestamp"])
