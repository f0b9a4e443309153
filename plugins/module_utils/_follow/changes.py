# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The changes that an observer reports while a step is followed."""

from __future__ import annotations

from dataclasses import dataclass

from ansible_collections.mlops.eks.plugins.module_utils._diagnose.capacity import Capacity
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document
from ansible_collections.mlops.eks.plugins.module_utils._logs.activity import Output


@dataclass(frozen=True, kw_only=True)
class Change:
    """Something observed `at` seconds since the epoch."""

    at: float


@dataclass(frozen=True, kw_only=True)
class WorkloadSeen(Change):
    """The workload was created or changed; `entry` is the object now."""

    entry: Document


@dataclass(frozen=True, kw_only=True)
class WorkloadGone(Change):
    """The workload was deleted, but not by this step."""


@dataclass(frozen=True, kw_only=True)
class PodSeen(Change):
    """A pod was created or changed; `entry` is the object now."""

    entry: Document


@dataclass(frozen=True, kw_only=True)
class PodGone(Change):
    """A pod was deleted; `entry` is its last state."""

    entry: Document


@dataclass(frozen=True, kw_only=True)
class EventSeen(Change):
    """A Kubernetes event about the workload or something it owns."""

    entry: Document


@dataclass(frozen=True, kw_only=True)
class ConsoleOutput(Change):
    """The console has log lines to print."""


@dataclass(frozen=True, kw_only=True)
class LogActivity(Change):
    """Containers wrote to their logs since the last tick."""

    output: Output


@dataclass(frozen=True, kw_only=True)
class ContextSeen(Change):
    """Objects that are not watched but fetched while the step waits; each entry has its `kind`."""

    entries: tuple[Document, ...]


@dataclass(frozen=True, kw_only=True)
class CapacitySeen(Change):
    """The nodes that the cluster has and can create; `None` when that cannot be known."""

    capacity: Capacity | None


@dataclass(frozen=True, kw_only=True)
class WatchError(Change):
    """A watch failed; it is repeated."""

    message: str


@dataclass(frozen=True, kw_only=True)
class LockLost(Change):
    """Another controller took over the release."""

    holder: str


@dataclass(frozen=True, kw_only=True)
class Tick(Change):
    """Time has passed."""
