# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""The 1,797 digits of scikit-learn as arrays, and their split into a training and a test part."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from digits.errors import DigitsError
from digits.files import read_arrays, write_arrays

PIXELS = 64
SIDE = 8
BRIGHTEST = 16
CLASSES = 10

Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True, kw_only=True, eq=False)
class Digits:
    """Images as rows of 64 pixels (0 to 16, row by row), shape (n, 64), and their digits, shape (n,)."""

    images: Bytes
    labels: Bytes

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, indices: list[int]) -> Digits:
        """Return the digits at `indices`, in that order."""
        return Digits(images=self.images[indices], labels=self.labels[indices])


def read_csv(path: Path) -> Digits:
    """Read scikit-learn's gzipped table: 64 pixels and the digit on every line."""
    try:
        with gzip.open(path, "rt", encoding="ascii") as stream:
            table = np.loadtxt(stream, delimiter=",")
    except (OSError, ValueError) as error:
        raise DigitsError(f"Cannot read the digits of {path}: {error}. Rebuild the image.") from error
    if table.ndim != 2 or table.shape[1] != PIXELS + 1:
        raise DigitsError(f"{path} has shape {table.shape}, not (n, {PIXELS + 1}). Rebuild the image.")
    return Digits(images=table[:, :PIXELS].astype(np.uint8), labels=table[:, PIXELS].astype(np.uint8))


def split(count: int, *, test_share: float, seed: int) -> tuple[list[int], list[int]]:
    """Return indices (train, test) of `count` samples.

    The order comes from a hash and not from numpy's generator, so it is the same with every version of everything.
    """
    order = sorted(range(count), key=lambda index: hashlib.sha256(f"{seed}:{index}".encode()).digest())
    tests = round(count * test_share)
    return sorted(order[tests:]), sorted(order[:tests])


def save(path: Path, *, train: Digits, test: Digits) -> None:
    """Write both parts to one file."""
    write_arrays(
        path,
        {
            "train_images": train.images,
            "train_labels": train.labels,
            "test_images": test.images,
            "test_labels": test.labels,
        },
    )


def load(path: Path, part: str) -> Digits:
    """Return the part `train` or `test` of the file that `save` wrote."""
    remedy = "Run the data step of the same release first."
    arrays = read_arrays(path, remedy=remedy)
    try:
        return Digits(
            images=arrays[f"{part}_images"].astype(np.uint8), labels=arrays[f"{part}_labels"].astype(np.uint8)
        )
    except KeyError as error:
        raise DigitsError(f"{path} has no array {error}. {remedy}") from error
