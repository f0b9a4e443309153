# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""What training and evaluation share: the network, the data as tensors, checkpoints, and one-line errors."""

from __future__ import annotations

import os
import pickle
import sys
import zipfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.utils.data import TensorDataset

BRIGHTEST = 16


class DigitsError(Exception):
    """Something the user can act on; the message says what was found and what to do."""


def run(main: Callable[[], None]) -> None:
    """Run a program's `main`; turn a `DigitsError` into one line and exit code 1."""
    try:
        main()
    except DigitsError as error:
        print(f"error: {error}", file=sys.stderr, flush=True)
        sys.exit(1)


def network(hidden: list[int]) -> nn.Sequential:
    """Return an untrained network from 64 pixels to 10 scores, rectified between layers."""
    widths = [64, *hidden]
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(widths):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(widths[-1], 10))


def load_data(path: Path, part: str) -> TensorDataset:
    """Return images (n, 64) scaled to 0..1 and labels (n,) of the part `train` or `test`."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            images, labels = arrays[f"{part}_images"], arrays[f"{part}_labels"]
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise DigitsError(f"Cannot read {path}: {error}. Run the data step of the same release first.") from error
    return TensorDataset(
        torch.from_numpy(images.astype(np.float32) / BRIGHTEST), torch.from_numpy(labels.astype(np.int64))
    )


def save_checkpoint(directory: Path, state: dict[str, Any]) -> None:
    """Write `checkpoint.pt` in one step: readers see the old one, then the new one."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        partial = directory / "checkpoint.pt.partial"
        with partial.open("wb") as stream:
            torch.save(state, stream)
            stream.flush()
            os.fsync(stream.fileno())
        partial.replace(directory / "checkpoint.pt")
    except OSError as error:
        raise DigitsError(f"Cannot write a checkpoint to {directory}: {error.strerror}. Check the volume.") from error


def load_checkpoint(directory: Path) -> dict[str, Any] | None:
    """Return the checkpoint in `directory`, or `None`."""
    path = directory / "checkpoint.pt"
    if not path.exists():
        return None
    try:
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    except (OSError, RuntimeError, ValueError, EOFError, LookupError, pickle.UnpicklingError) as error:
        raise DigitsError(f"Cannot read {path}: {error}. Remove it to train anew.") from error
    return state
