"""Runs to report: the recorded-like ones of tests/fixtures, and small ones made on the spot."""

from __future__ import annotations

import json
import shutil
import typing as t
from collections.abc import Callable
from pathlib import Path

import pytest

RECORDED = Path(__file__).resolve().parents[4] / "fixtures" / "runs"

Record = dict[str, t.Any]


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Return a copy of the recorded runs."""
    return Path(shutil.copytree(RECORDED, tmp_path / "runs"))


@pytest.fixture
def put(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that lays down one step's record, or what stands in its place, and returns the runs."""

    def _put(record: Record | str | None, *, run: str = "r", cluster: str = "local", step: str = "01-train") -> Path:
        directory = tmp_path / "runs" / run / cluster / step
        directory.mkdir(parents=True, exist_ok=True)
        if record is not None:
            text = record if isinstance(record, str) else json.dumps(record)
            (directory / "step.json").write_text(text, encoding="utf-8")
        return tmp_path / "runs"

    return _put
