# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""What training needs of MPI: a sum over all ranks and a broadcast. One process alone is a world, too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from digits.model import Floats


class World(Protocol):
    """The ranks that train together."""

    @property
    def rank(self) -> int:
        """Return this process's number, from 0."""

    @property
    def size(self) -> int:
        """Return how many processes there are."""

    def sum(self, values: Floats) -> Floats:
        """Return the element-wise sum of every rank's `values`: the same bytes on every rank."""

    def broadcast(self, values: Floats) -> Floats:
        """Return rank 0's `values`; the others give an array of the same shape."""


@dataclass(frozen=True, kw_only=True)
class Alone:
    """One process: sums and broadcasts are what was given."""

    rank: int = 0
    size: int = 1

    def sum(self, values: Floats) -> Floats:
        """Return `values`."""
        return values

    def broadcast(self, values: Floats) -> Floats:
        """Return `values`."""
        return values


class Mpi:
    """MPI's world communicator. Starts MPI on construction, so it is made once, by the program."""

    def __init__(self) -> None:
        from mpi4py import MPI  # importing it calls MPI_Init

        self._communicator = MPI.COMM_WORLD
        self.rank = self._communicator.Get_rank()
        self.size = self._communicator.Get_size()

    def sum(self, values: Floats) -> Floats:
        """All-reduce."""
        total = np.empty_like(values)
        self._communicator.Allreduce(values, total)
        return total

    def broadcast(self, values: Floats) -> Floats:
        """Broadcast from rank 0."""
        received = values.copy()
        self._communicator.Bcast(received, root=0)
        return received
