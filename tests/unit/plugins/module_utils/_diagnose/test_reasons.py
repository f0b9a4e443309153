"""The table of reasons, and what a cause takes from it."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest

from ansible_collections.mlops.eks.plugins.module_utils._diagnose.causes import Cause
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.reasons import REASONS, Category, lookup


@pytest.mark.parametrize("reason", REASONS)
def test_every_reason_has_a_category_and_a_remedy_in_a_sentence(reason: str) -> None:
    row = REASONS[reason]
    assert row.category in t.get_args(Category)
    assert row.remedy.endswith(".")
    assert row.remedy[0].isupper()


def test_no_category_is_empty() -> None:
    assert {row.category for row in REASONS.values()} | {"workload"} == set(t.get_args(Category))


def test_what_an_operator_made_up_is_about_the_workload() -> None:
    assert lookup("BackoffLimitExceeded").category == "workload"


@pytest.mark.parametrize(
    ("reason", "category"),
    [
        ("Evicted", "evicted"),
        ("EvictionByEvictionAPI", "evicted"),
        ("NodeLost", "node_lost"),
        ("SpotInterrupted", "node_lost"),
        ("PreemptionByScheduler", "preempted"),
        ("ImageNotFound", "image_pull"),
        ("RegistryRateLimited", "image_pull"),
    ],
)
def test_categories_that_retry_on_knows(reason: str, category: str) -> None:
    assert Cause.of(reason, "Pod/x", "it said so").category == category


def test_a_cause_takes_remedy_and_category_of_its_reason_into_the_record() -> None:
    record = Cause.of("OOMKilled", "Pod/x", "it used\n too much", container="main").to_record()
    assert record == {
        "reason": "OOMKilled",
        "category": "memory",
        "object": "Pod/x",
        "container": "main",
        "role": "",
        "message": "it used too much.",
        "remedy": REASONS["OOMKilled"].remedy,
        "log_tail": [],
    }


@pytest.mark.parametrize("category", t.get_args(Category))
def test_the_page_about_causes_has_every_reason_under_its_category(category: str) -> None:
    page = (Path(__file__).parents[5] / "docs" / "causes.md").read_text(encoding="utf-8")
    (row,) = (line for line in page.splitlines() if line.startswith(f"| `{category}` |"))
    listed = [word.strip("` ") for word in row.split("|")[3].split(",") if "`" in word]
    assert sorted(listed) == sorted(reason for reason, found in REASONS.items() if found.category == category)
