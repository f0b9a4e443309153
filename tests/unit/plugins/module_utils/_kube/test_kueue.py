"""Why Kueue holds a workload back, in words."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest
import yaml

from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.kueue import deactivated, why_held

Document = dict[str, t.Any]
FILE = Path(__file__).parents[4] / "fixtures" / "status" / "kueue.yaml"
CASES = yaml.safe_load(FILE.read_text(encoding="utf-8"))
ENTRY = {"metadata": {"name": "x", "uid": "mine"}}


def held(status: Document, *, owner: str = "mine", name: str = "job-x-1", **spec: t.Any) -> Document:
    metadata = {"name": name, "creationTimestamp": name, "ownerReferences": [{"uid": owner}]}
    return {"metadata": metadata, "spec": {"queueName": "team-a", **spec}, "status": status}


WAITS = CASES[0]["status"]
RUNS = next(case["status"] for case in CASES if case["name"] == "it runs")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_why_a_kueue_workload_waits(case: Document) -> None:
    assert case["source"]
    assert why_held([held(case["status"], **case.get("spec", {}))], ENTRY) == case["said"]


def test_a_workload_of_another_owner_is_ignored() -> None:
    assert why_held([held(WAITS, owner="other")], ENTRY) is None
    assert why_held([], ENTRY) is None
    assert why_held([{"metadata": {"name": "orphan"}, "spec": {}, "status": WAITS}], ENTRY) is None


def test_pods_may_own_the_workload() -> None:
    assert why_held([held(WAITS, owner="pod-uid")], ENTRY, owners={"pod-uid"}) == CASES[0]["said"]


def test_of_several_workloads_the_held_one_is_explained() -> None:
    found = [held(RUNS, name="a"), held({}, name="c"), held(WAITS, name="b")]
    assert why_held(found, ENTRY) == CASES[0]["said"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_who_waits_for_somebody_to_activate_it(case: Document) -> None:
    found = deactivated([held(case["status"], **case.get("spec", {}))], ENTRY)
    assert found == (case["said"] if case["name"] == "given up" else None)
