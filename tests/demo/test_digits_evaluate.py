# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Step `evaluate`: its figures and its exit code."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from digits import dataset, errors, evaluate, train
from digits.world import Alone
from test_digits_train import SETTINGS


@pytest.fixture
def checkpoints(data: Path, tmp_path: Path) -> Path:
    """Return the checkpoints of a well trained model."""
    directory = tmp_path / "checkpoints"
    digits = dataset.load(data, "train")
    train.train(digits=digits, settings=SETTINGS, epochs=40, checkpoints=directory, world=Alone())
    return directory


def test_confusion_counts_rows_by_truth() -> None:
    counts = evaluate.confusion(np.array([1, 2, 2]), np.array([1, 1, 2]))
    assert {(row, column): int(counts[row, column]) for row, column in np.argwhere(counts)} == {
        (1, 1): 1,
        (1, 2): 1,
        (2, 2): 1,
    }


def test_good_model_passes(data: Path, checkpoints: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evaluate.main(["--data", str(data), "--checkpoints", str(checkpoints)])
    found = re.search(r"test accuracy (\S+) \((\d+) of 40\) after epoch 40", capsys.readouterr().out)
    assert found is not None
    assert float(found[1]) == pytest.approx(int(found[2]) / 40, abs=1e-4)
    assert float(found[1]) >= 0.95


def test_weak_model_fails_the_step(
    data: Path, checkpoints: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["evaluate", "--data", str(data), "--checkpoints", str(checkpoints), "--min-accuracy", "1.01"]
    monkeypatch.setattr(sys, "argv", arguments)
    with pytest.raises(SystemExit) as exit_:
        errors.run(evaluate.main)
    assert exit_.value.code == 1
    assert re.fullmatch(r"error: Test accuracy \S+ is below the required 1\.01\. .*\n", capsys.readouterr().err)


def test_without_training_it_says_what_to_run(data: Path, tmp_path: Path) -> None:
    with pytest.raises(errors.DigitsError, match="Run the train step"):
        evaluate.main(["--data", str(data), "--checkpoints", str(tmp_path / "none")])
