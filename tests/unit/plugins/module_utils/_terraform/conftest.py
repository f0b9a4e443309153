"""Recordings of the real Terraform: tests/record_terraform.py."""

from __future__ import annotations

import json
import typing as t
from collections.abc import Callable
from pathlib import Path

import pytest

from ansible_collections.mlops.eks.plugins.module_utils._terraform.events import Event, read

KEPT = Path(__file__).resolve().parents[4] / "fixtures" / "terraform"


@pytest.fixture
def recorded() -> Callable[[str], list[Event]]:
    """Read the events of one recording."""

    def events(name: str) -> list[Event]:
        found = list(read(KEPT / f"{name}.jsonl"))
        assert found, name
        return found

    return events


@pytest.fixture
def plan() -> Callable[[str], dict[str, t.Any]]:
    """Read one recorded plan."""

    def document(name: str) -> dict[str, t.Any]:
        found: dict[str, t.Any] = json.loads((KEPT / f"{name}.json").read_text(encoding="utf-8"))
        return found

    return document
