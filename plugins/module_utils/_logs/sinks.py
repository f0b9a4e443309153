# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Which logs there are, how they are kept, and who is told what is in them."""

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

# As many logs that are not whole are named.
_SHOWN = 20


class Instance(t.NamedTuple):
    """One life of one container, after that many restarts."""

    pod: str
    uid: str
    container: str
    restarts: int = 0


class LogFile(t.NamedTuple):
    """One archived container log, relative to the evidence directory; `gap` says what is missing in it."""

    file: str
    lines: int
    bytes: int
    gap: str = ""


def gaps(files: Mapping[Instance, LogFile]) -> list[str]:
    """Return a line about each log that is not whole, or how many they are."""
    found = [f"log of Pod/{one.pod} ({one.container}): {file.gap}" for one, file in files.items() if file.gap]
    return [*found[:_SHOWN], *([f"{len(found) - _SHOWN} more logs are not whole"] if len(found) > _SHOWN else [])]


@dataclass(frozen=True, kw_only=True)
class LogStore:
    """How the logs of one step are kept.

    `former` are the evidence directories of earlier runs of the step. Lines stamped up to `seen`, in seconds since
    the epoch, were shown by an earlier controller. What is `private` only its owner may read.
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
    """Who is told what the containers write: the one who reads it, and the one who counts on it."""

    console: Console = field(default_factory=lambda: Console(lambda: None))
    activity: Activity = field(default_factory=lambda: Activity(progress=False))
