# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Evidence that must be on disk before what it tells of is removed: written as soon as there is room for it."""

from __future__ import annotations

import contextlib
import typing as t
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import Clock
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import StorageError
from ansible_collections.mlops.eks.plugins.module_utils._core.storage import REPEAT, RETRY
from ansible_collections.mlops.eks.plugins.module_utils._step.record import Journal, Record
from ansible_collections.mlops.eks.plugins.module_utils._step.task import Task

FOLLOWING = "following goes on, and what is missing is read again from the kubelet when there is room"
KEEPING = (
    "the step has ended; its pods stay until the evidence is whole. After Ctrl-C the same command goes on from here"
)


@dataclass(kw_only=True)
class Writer:
    """Writes the evidence of a step; `lost` tells whether another controller has taken over.

    Only while it is `patient` is room waited for: not where pods stay anyway, nor where another revision has to serve.
    """

    task: Task
    clock: Clock
    say: Callable[[str], None]
    lost: Callable[[], bool] = lambda: False
    patient: bool = True
    _recorded: bool = field(default=False, init=False)

    def tell(self, at: float, meanwhile: str, *, every: float = REPEAT) -> None:
        """Say what cannot be written, and what is done `meanwhile`, when that is due."""
        if said := self.task.storage.news(at, meanwhile, every=every):
            self.say(f"{self.task.place}: {said}")

    def wait(self, meanwhile: str = KEEPING) -> bool:
        """Say why the step does not go on although it could, and wait a little; return whether to wait any longer."""
        if not self.patient or self.lost():
            return False
        self.tell(self.clock.now(), meanwhile)
        self.clock.sleep(RETRY)
        return not self.lost()

    def insist(self, write: Callable[[], t.Any], meanwhile: str = KEEPING) -> None:
        """Write a part of the evidence as soon as there is room for it.

        Raises:
            StorageError: there is none, and it is not to be waited for.
        """
        self.task.storage.insist(self.task.evidence, write, partial(self.wait, meanwhile))

    def record(self, journal: Journal, **fields: t.Any) -> Record:
        """Write down how the step ended, for the first time as soon as there is room for it."""
        if not self._recorded:
            with contextlib.suppress(StorageError):
                self.insist(partial(journal.write, **fields))
        self._recorded, record = True, journal.note(**fields)
        if self.task.storage.error is None:
            self.tell(self.clock.now(), "")
        return record
