# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""The trainer of recipes/demo/digits-torch as a PyTorchJob: whoever makes a rank go, training goes on where it was."""

from __future__ import annotations

import re
import typing as t
from pathlib import Path

import numpy as np
import pytest
import yaml
from plays import ROOT
from samples import Json
from space import Space

pytestmark = [pytest.mark.cluster, pytest.mark.operators]

_SAVED = re.compile(r"caught SIGTERM: ending after epoch (\d+), checkpoint saved")
_RESUMED = re.compile(r"resuming after epoch (\d+) from /efs/home/run/checkpoints")


def _recipe(epochs: int) -> Json:
    path = ROOT / "recipes/demo/digits-torch/train.yaml"
    recipe = t.cast(Json, yaml.safe_load(path.read_text(encoding="utf-8")))
    args = [f"--epochs {epochs}" if arg.startswith("--epochs") else arg for arg in recipe["train"]["args"]]
    return {**recipe, "train": {**recipe["train"], "args": args}}


def _pipeline(space: Space, epochs: int, **policy: t.Any) -> Path:
    step = {"name": "train", "chart": "training/pytorchjob-distributed", "recipe": "train.yaml", "timeout": 300}
    return space.pipeline_of("run", [{**step, **policy}], {"train": _recipe(epochs)})


def _data(directory: Path) -> None:
    """Write what the data step leaves: as many images as let an epoch take a moment."""
    generator, count = np.random.default_rng(7), 2000
    path = directory / "home/run/digits.npz"
    path.parent.mkdir(parents=True)
    images, labels = generator.integers(0, 17, (count, 64), np.uint8), generator.integers(0, 10, count, np.uint8)
    np.savez(path, train_images=images, train_labels=labels)


def _epochs(found: re.Pattern[str], text: str) -> list[int]:
    return [int(epoch) for epoch in found.findall(text)]


def test_a_rank_that_has_to_go_takes_all_of_them_along_with_a_checkpoint(space: Space) -> None:
    _data(space.share("pv-fsx"))
    space.share("pv-efs")
    play = space.start("train", pipeline=_pipeline(space, 1_000_000, retries=1, retry_on=["evicted"], retry_backoff=1))
    play.shows("epoch       2/1000000")

    # The worker alone is told. A master that ended well would be a job that succeeded.
    space.evict("pytorchjob-run-worker-0")
    play.shows("attempt 2 begins", seconds=120)
    play.shows("resuming after epoch", seconds=120)
    space.play("stop", release="run")
    shown = play.end(rc=2)

    record = space.record("train")
    (first,) = record["attempts"]
    assert first["outcome"] == "failed"
    assert first["category"] == "evicted"
    assert record["outcome"] == "cancelled"
    (saved,) = _epochs(_SAVED, shown)[:1]
    assert _epochs(_RESUMED, shown) == [saved]

    (log,) = space.runs.glob("*-run-stop-*/east/run/logs/*master*.log")
    stopped = _epochs(_SAVED, log.read_text(encoding="utf-8"))
    assert stopped
    again = space.play("train", pipeline=_pipeline(space, stopped[0] + 1))
    assert _epochs(_RESUMED, again) == stopped
    assert space.record("train")["outcome"] == "succeeded"
