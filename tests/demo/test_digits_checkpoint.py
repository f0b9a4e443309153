# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Checkpoints: complete or absent, the newest wins, old ones go."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from digits import checkpoint
from digits.checkpoint import Checkpoint, Settings
from digits.errors import DigitsError

SETTINGS = Settings(layers=(64, 3, 10), batch_size=8, learning_rate=0.1, momentum=0.9, seed=0, data_sha256="ab")


def at(epoch: int) -> Checkpoint:
    return Checkpoint(epoch=epoch, settings=SETTINGS, parameters=np.full(5, epoch / 3), velocity=np.arange(5.0))


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    loaded = checkpoint.load(checkpoint.save(tmp_path, at(7)))
    assert (loaded.epoch, loaded.settings) == (7, SETTINGS)
    assert np.array_equal(loaded.parameters, at(7).parameters)
    assert np.array_equal(loaded.velocity, at(7).velocity)


def test_newest_is_by_number_and_old_ones_go(tmp_path: Path) -> None:
    for epoch in (8, 9, 10, 100):
        checkpoint.save(tmp_path, at(epoch))
    assert [path.name for path in checkpoint.paths(tmp_path)] == [
        "epoch-00009.npz",
        "epoch-00010.npz",
        "epoch-00100.npz",
    ]
    assert checkpoint.require(tmp_path).epoch == 100


def test_no_directory_and_no_checkpoint_are_the_same(tmp_path: Path) -> None:
    assert checkpoint.newest(tmp_path / "absent") is None
    with pytest.raises(DigitsError, match=r"No checkpoint in .*absent\. Run the train step"):
        checkpoint.require(tmp_path / "absent")


def test_killed_while_writing_leaves_the_one_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The write dies after the bytes are out and before the file has its name."""
    checkpoint.save(tmp_path, at(1))

    def die(_descriptor: int) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", die)
        with pytest.raises(KeyboardInterrupt):
            checkpoint.save(tmp_path, at(2))
    assert len(list(tmp_path.iterdir())) == 2
    assert checkpoint.require(tmp_path).epoch == 1

    checkpoint.save(tmp_path, at(2))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["epoch-00001.npz", "epoch-00002.npz"]


def test_a_full_or_read_only_volume_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DigitsError, match=r"Cannot write .*epoch-00001\.npz: .*Check the volume"):
        checkpoint.save(tmp_path / "file" / "below", at(1))


@pytest.mark.parametrize("damage", [b"", b"not a zip file", None])
def test_a_foreign_checkpoint_is_named(tmp_path: Path, damage: bytes | None) -> None:
    path = tmp_path / "epoch-00003.npz"
    if damage is None:
        np.savez(path, other=np.zeros(3))
    else:
        path.write_bytes(damage)
    with pytest.raises(DigitsError, match=r"epoch-00003\.npz.*Remove it to go on from the one before"):
        checkpoint.require(tmp_path)
