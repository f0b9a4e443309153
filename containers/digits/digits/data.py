# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Step `data`: write the digits with a fixed train/test split to the shared file system."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from digits import dataset
from digits.errors import DigitsError, run

SOURCE = Path("/usr/share/digits/digits.csv.gz")


def main(argv: list[str] | None = None) -> None:
    """Read the table of the image, split it, write it, say what was written."""
    parser = argparse.ArgumentParser(prog="digits.data", description=__doc__)
    parser.add_argument("--source", type=Path, default=SOURCE, help="gzipped table of 64 pixels and a digit per line")
    parser.add_argument("--data", type=Path, required=True, help="file to write (.npz)")
    parser.add_argument("--test-share", type=float, default=0.2, help="share of the samples kept for the test")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)
    if not 0 < options.test_share < 1:
        parser.error(f"--test-share is {options.test_share}; it must lie between 0 and 1")

    digits = dataset.read_csv(options.source)
    train, test = (
        digits.take(part) for part in dataset.split(len(digits), test_share=options.test_share, seed=options.seed)
    )
    if not len(train) or not len(test):
        raise DigitsError(f"--test-share {options.test_share} leaves one part of {len(digits)} digits empty.")
    dataset.save(options.data, train=train, test=test)
    for name, part in (("train", train), ("test", test)):
        counts = " ".join(str(count) for count in np.bincount(part.labels, minlength=dataset.CLASSES))
        print(f"{name:>5}: {len(part):4d} images; of each digit 0-9: {counts}")
    print(f"wrote {options.data} ({options.data.stat().st_size / 1024:.0f} KiB)")


if __name__ == "__main__":
    run(main)
