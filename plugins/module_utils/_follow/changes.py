# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""What can happen to a step while it is followed. `at` is in seconds since the epoch."""

from __future__ import annotations

from dataclasses import dataclass

from ansible_collections.mlops.eks.plugins.module_utils._diagnose.capacity import Capacity
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document


@dataclass(frozen=True, kw_only=True)
class Change:
    """Something observed at a moment; alone it means that time has passed."""

    at: float


@dataclass(frozen=True, kw_only=True)
class WorkloadSeen(Change):
    """The workload as it is now."""

    entry: Document


@dataclass(frozen=True, kw_only=True)
class WorkloadGone(Change):
    """The workload was deleted, and not by this step."""


@dataclass(frozen=True, kw_only=True)
class PodSeen(Change):
    """One of its pods as it is now."""

    entry: Document


@dataclass(frozen=True, kw_only=True)
class PodGone(Change):
    """A pod was deleted; `entry` is how it looked last."""

    entry: Document


@dataclass(frozen=True, kw_only=True)
class EventSeen(Change):
    """A Kubernetes event about the workload or something it owns."""

    entry: Document


@dataclass(frozen=True, kw_only=True)
class Output(Change):
    """The screen has lines to print."""


@dataclass(frozen=True, kw_only=True)
class Wrote(Change):
    """Containers wrote to their logs since the last tick: last of all `pod`'s `line`.

    `lines` are the newest of the leader's, each with the moment its node noted; empty where nobody looks for progress.
    """

    pod: str
    line: str
    lines: tuple[tuple[float, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class ContextSeen(Change):
    """What is not watched, fetched while the step waits; each entry has its `kind`."""

    entries: tuple[Document, ...]


@dataclass(frozen=True, kw_only=True)
class CapacitySeen(Change):
    """What nodes the cluster has and could have; without a capacity that cannot be known."""

    capacity: Capacity | None


@dataclass(frozen=True, kw_only=True)
class Trouble(Change):
    """The watch met an error and goes on."""

    message: str


@dataclass(frozen=True, kw_only=True)
class LockLost(Change):
    """Another controller took over the release."""

    holder: str


@dataclass(frozen=True, kw_only=True)
class Tick(Change):
    """Time has passed."""
