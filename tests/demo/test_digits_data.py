# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Step `data`: what is read, how it is split, what is written."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from digits import data, dataset
from digits.dataset import Digits
from digits.errors import DigitsError


def test_split_is_a_partition_of_the_asked_size() -> None:
    train, test = dataset.split(1797, test_share=0.2, seed=0)
    assert len(test) == 359
    assert sorted(train + test) == list(range(1797))


def test_split_is_the_same_everywhere() -> None:
    """Held as a constant: another Python, numpy or machine must not change which images are the test."""
    assert dataset.split(20, test_share=0.25, seed=0)[1] == [4, 7, 9, 15, 18]


def test_another_seed_is_another_split() -> None:
    assert dataset.split(100, test_share=0.5, seed=0) != dataset.split(100, test_share=0.5, seed=1)


def test_data_step_writes_both_parts(
    table: Path, digits: Digits, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "new" / "digits.npz"
    data.main(["--source", str(table), "--data", str(path), "--seed", "3"])
    train, test = dataset.split(200, test_share=0.2, seed=3)
    assert np.array_equal(dataset.load(path, "train").images, digits.images[train])
    assert np.array_equal(dataset.load(path, "test").labels, digits.labels[test])
    assert "train:  160 images" in capsys.readouterr().out


def test_data_step_writes_the_same_bytes_again(table: Path, tmp_path: Path) -> None:
    paths = [tmp_path / "one.npz", tmp_path / "two.npz"]
    for path in paths:
        data.main(["--source", str(table), "--data", str(path)])
    assert paths[0].read_bytes() == paths[1].read_bytes()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1,2,3\n4,5,6\n", r"has shape \(2, 3\)"),
        ("one,two\n", "Cannot read the digits"),
    ],
)
def test_a_wrong_table_is_named(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "wrong.csv.gz"
    path.write_bytes(gzip.compress(content.encode()))
    with pytest.raises(DigitsError, match=message):
        dataset.read_csv(path)


def test_an_empty_part_is_refused(table: Path, tmp_path: Path) -> None:
    with pytest.raises(DigitsError, match="leaves one part of 200 digits empty"):
        data.main(["--source", str(table), "--data", str(tmp_path / "digits.npz"), "--test-share", "0.001"])


@pytest.mark.parametrize("share", ["0", "1", "nan"])
def test_an_impossible_share_is_refused(share: str, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="2"):
        data.main(["--data", str(tmp_path / "digits.npz"), "--test-share", share])


def test_missing_data_names_the_step_to_run(tmp_path: Path) -> None:
    with pytest.raises(DigitsError, match=r"digits\.npz does not exist\. Run the data step"):
        dataset.load(tmp_path / "digits.npz", "test")


def test_a_truncated_file_is_named(data: Path) -> None:
    data.write_bytes(data.read_bytes()[:500])
    with pytest.raises(DigitsError, match=r"Cannot read .*digits\.npz"):
        dataset.load(data, "train")
