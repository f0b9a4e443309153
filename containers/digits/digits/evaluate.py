# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Step `evaluate`: accuracy on the test part; too low an accuracy fails the step."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import numpy.typing as npt

from digits import checkpoint, dataset, model
from digits.errors import DigitsError, run


def confusion(predicted: npt.NDArray[np.integer], labels: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """Return counts of shape (10, 10): row = the digit that was written, column = the answer."""
    counts = np.zeros((dataset.CLASSES, dataset.CLASSES), dtype=np.int64)
    np.add.at(counts, (labels, predicted), 1)
    return counts


def main(argv: list[str] | None = None) -> None:
    """Print the confusion matrix and the accuracy of the newest checkpoint; fail below the minimum."""
    parser = argparse.ArgumentParser(prog="digits.evaluate", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="file that digits.data wrote")
    parser.add_argument("--checkpoints", type=Path, required=True, help="directory of the checkpoints")
    parser.add_argument("--min-accuracy", type=float, default=0.95)
    options = parser.parse_args(argv)

    test = dataset.load(options.data, "test")
    state = checkpoint.require(options.checkpoints)
    answers = model.probabilities(state.settings.layers, state.parameters, model.inputs_of(test.images)).argmax(axis=1)
    counts = confusion(answers, test.labels)

    print("written   answered 0    1    2    3    4    5    6    7    8    9")
    for digit, row in enumerate(counts):
        print(f"      {digit}         " + " ".join(f"{count or '·':>4}" for count in row))
    hits = int(np.trace(counts))
    accuracy = hits / len(test)
    print(f"test accuracy {accuracy:.4f} ({hits} of {len(test)}) after epoch {state.epoch}", flush=True)
    if accuracy < options.min_accuracy:
        raise DigitsError(
            f"Test accuracy {accuracy:.4f} is below the required {options.min_accuracy}. "
            "Train longer (--epochs in train.yaml) or lower --min-accuracy in evaluate.yaml."
        )


if __name__ == "__main__":
    run(main)
