# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Checkpoints: one file per epoch, complete or absent, the newest wins."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from digits.errors import DigitsError
from digits.files import PARTIAL, read_arrays, write_arrays
from digits.model import Floats, Layers

NAME = re.compile(r"epoch-(\d{5})\.npz")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything that decides the weights besides the number of epochs."""

    layers: Layers
    batch_size: int
    learning_rate: float
    momentum: float
    seed: int
    data_sha256: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Checkpoint:
    """The state after `epoch` epochs: parameters and their velocity, both of shape (parameters,)."""

    epoch: int
    settings: Settings
    parameters: Floats
    velocity: Floats


def save(directory: Path, checkpoint: Checkpoint, *, keep: int = 3) -> Path:
    """Write `checkpoint` and remove all but the newest `keep`, together with what killed writers left behind."""
    path = directory / f"epoch-{checkpoint.epoch:05d}.npz"
    write_arrays(
        path,
        {
            "settings": np.array(json.dumps(asdict(checkpoint.settings), sort_keys=True)),
            "parameters": checkpoint.parameters,
            "velocity": checkpoint.velocity,
        },
    )
    for old in [*paths(directory)[:-keep], *directory.glob(f"epoch-*{PARTIAL}")]:
        old.unlink(missing_ok=True)
    return path


def paths(directory: Path) -> list[Path]:
    """Return the checkpoints in `directory`, oldest first; none when it does not exist."""
    if not directory.is_dir():
        return []
    return sorted(path for path in directory.iterdir() if NAME.fullmatch(path.name))


def newest(directory: Path) -> Checkpoint | None:
    """Return the newest checkpoint in `directory`, or `None`."""
    found = paths(directory)
    return load(found[-1]) if found else None


def require(directory: Path) -> Checkpoint:
    """Return the newest checkpoint in `directory`.

    Raises:
        DigitsError: there is none.
    """
    checkpoint = newest(directory)
    if checkpoint is None:
        raise DigitsError(f"No checkpoint in {directory}. Run the train step of the same release first.")
    return checkpoint


def load(path: Path) -> Checkpoint:
    """Read one checkpoint."""
    remedy = "Remove it to go on from the one before."
    match = NAME.fullmatch(path.name)
    arrays = read_arrays(path, remedy=remedy)
    try:
        settings = json.loads(str(arrays["settings"]))
        settings["layers"] = tuple(settings["layers"])
        return Checkpoint(
            epoch=int(match.group(1)) if match else 0,
            settings=Settings(**settings),
            parameters=arrays["parameters"].astype(np.float64),
            velocity=arrays["velocity"].astype(np.float64),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise DigitsError(f"{path} is not a checkpoint of this program ({error}). {remedy}") from error
