# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Identities of logs, where they are archived, and the sinks of their lines."""

from __future__ import annotations

import os
import typing as t
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.files import PRIVATE, SHARED
from ansible_collections.mlops.eks.plugins.module_utils._core.secret_mask import Mask
from ansible_collections.mlops.eks.plugins.module_utils._core.storage import Storage
from ansible_collections.mlops.eks.plugins.module_utils._logs.activity import Activity
from ansible_collections.mlops.eks.plugins.module_utils._logs.console import Console

# How many incomplete logs are named.
_SHOWN = 20


class Instance(t.NamedTuple):
    """One instance of a container, after that many restarts."""

    pod: str
    uid: str
    container: str
    restarts: int = 0


class LogFile(t.NamedTuple):
    """One archived log; `file` is relative to the evidence directory, `gap` says what is missing."""

    file: str
    lines: int
    bytes: int
    gap: str = ""


def gaps(files: Mapping[Instance, LogFile]) -> list[str]:
    """Return a line about each incomplete log, at most 20, and how many more there are."""
    found = [f"log of Pod/{one.pod} ({one.container}): {file.gap}" for one, file in files.items() if file.gap]
    return [*found[:_SHOWN], *([f"{len(found) - _SHOWN} more logs are not whole"] if len(found) > _SHOWN else [])]


@dataclass(frozen=True, kw_only=True)
class LogStore:
    """Where the logs of one step are archived.

    `earlier_evidence` are the evidence directories of earlier runs of the step. Lines stamped up to `shown_until`, in
    seconds since the epoch, were printed by an earlier controller. Only the owner can read `private` files.
    """

    directory: Path
    mask: Mask = field(default_factory=Mask)
    earlier_evidence: tuple[Path, ...] = ()
    shown_until: float = 0.0
    private: bool = False
    storage: Storage = field(default_factory=Storage, compare=False)

    def open(self, path: str, flags: int) -> int:
        """Open a file of the evidence."""
        return os.open(path, flags, PRIVATE if self.private else SHARED)


@dataclass(frozen=True, kw_only=True)
class Sinks:
    """The receivers of log lines: the console prints them, the activity passes them to the reducer."""

    console: Console = field(default_factory=lambda: Console(lambda: None))
    activity: Activity = field(default_factory=lambda: Activity(progress=False))
