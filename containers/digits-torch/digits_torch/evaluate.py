# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Step `evaluate`: accuracy on the test part; too low an accuracy fails the step."""

from __future__ import annotations

import argparse
from pathlib import Path

import torch

from digits_torch.network import DigitsError, load_checkpoint, load_data, network, run


def main(argv: list[str] | None = None) -> None:
    """Print the accuracy of the checkpoint; fail below the minimum."""
    parser = argparse.ArgumentParser(prog="digits_torch.evaluate", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="file that the data step wrote")
    parser.add_argument("--checkpoints", type=Path, required=True, help="directory of the checkpoint")
    parser.add_argument("--min-accuracy", type=float, default=0.95)
    options = parser.parse_args(argv)

    state = load_checkpoint(options.checkpoints)
    if state is None:
        raise DigitsError(f"No checkpoint in {options.checkpoints}. Run the train step of the same release first.")
    images, labels = load_data(options.data, "test").tensors
    model = network(state["hidden"])
    model.load_state_dict(state["model"])
    with torch.no_grad():
        hits = int((model(images).argmax(dim=1) == labels).sum())
    accuracy = hits / len(labels)
    print(f"test accuracy {accuracy:.4f} ({hits} of {len(labels)}) after epoch {state['epoch']}", flush=True)
    if accuracy < options.min_accuracy:
        raise DigitsError(
            f"Test accuracy {accuracy:.4f} is below the required {options.min_accuracy}. "
            "Train longer (--epochs in train.yaml) or lower --min-accuracy in evaluate.yaml."
        )


if __name__ == "__main__":
    run(main)
