# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Make the programs of `containers/digits` importable and give them a small data set that can be learned."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import numpy as np
import pytest
from digits_programs import PROGRAMS

sys.path.insert(0, str(PROGRAMS))

from digits import dataset
from digits.dataset import Digits


@pytest.fixture
def digits() -> Digits:
    """Two hundred noisy images: a digit lights the quarters of the image that are bits of it."""
    generator = np.random.default_rng(7)
    bits = np.arange(dataset.CLASSES)[:, None] >> np.arange(4) & 1
    templates = np.kron(12 * bits.reshape(-1, 2, 2), np.ones((4, 4), dtype=int)).reshape(-1, dataset.PIXELS)
    labels = np.arange(200) % dataset.CLASSES
    images = templates[labels] + generator.integers(0, 4, (200, dataset.PIXELS))
    return Digits(images=images.astype(np.uint8), labels=labels.astype(np.uint8))


@pytest.fixture
def table(tmp_path: Path, digits: Digits) -> Path:
    """Return the same digits as scikit-learn would ship them."""
    path = tmp_path / "digits.csv.gz"
    with gzip.open(path, "wt", encoding="ascii") as stream:
        np.savetxt(stream, np.column_stack([digits.images, digits.labels]), fmt="%d", delimiter=",")
    return path


@pytest.fixture
def data(tmp_path: Path, digits: Digits) -> Path:
    """Return the file of a finished data step: 160 images to train with, 40 for the test."""
    path = tmp_path / "fsx" / "digits.npz"
    dataset.save(path, train=digits.take(list(range(160))), test=digits.take(list(range(160, 200))))
    return path
