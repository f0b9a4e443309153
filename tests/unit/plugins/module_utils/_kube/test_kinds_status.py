"""Status documents of every kind, with their sources, and what the table of kinds makes of them.

The documents stand in tests/fixtures/status/kinds, one file a kind; a case's name is the test's name.
"""

from __future__ import annotations

import re
import typing as t
from pathlib import Path

import pytest
import yaml

from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.table import KINDS, judge

Document = dict[str, t.Any]
FILES = sorted((Path(__file__).parents[4] / "fixtures" / "status" / "kinds").glob("*.yaml"))
ROWS = [
    {**document, "kind": kind}
    for document in (yaml.safe_load(file.read_text(encoding="utf-8")) for file in FILES)
    for kind in document["kinds"]
]


def cases(part: str) -> list[t.Any]:
    return [
        pytest.param(row, case, id=f"{row['kind']}: {case.get('name') or case.get('object')}")
        for row in ROWS
        for case in row.get(part, ())
    ]


def entry_of(row: Document, case: Document) -> Document:
    """The workload `x` with the case's metadata, spec and status."""
    return {
        "apiVersion": row["api_version"],
        "kind": row["kind"],
        "metadata": {"name": "x", "uid": "u", "generation": 1, **case.get("metadata", {})},
        "spec": case.get("spec") or row.get("spec") or {},
        **({"status": case["status"]} if "status" in case else {}),
    }


@pytest.mark.parametrize(("row", "case"), cases("cases"))
def test_status(row: Document, case: Document) -> None:
    assert case["source"]
    verdict = judge(KINDS[row["api_version"], row["kind"]], entry_of(row, case), until=None, fail_on=())
    assert (verdict.state, verdict.reason) == (case["state"], case.get("reason", ""))
    assert bool(verdict.settle_seconds) is case.get("settles", False)
    if "message" in case:
        assert verdict.message == case["message"]
    # What fails a step has a reason, and what ends it well has none.
    assert not verdict.final or bool(verdict.reason) is (verdict.state == "failed")


@pytest.mark.parametrize(("row", "case"), cases("pods"))
def test_pods(row: Document, case: Document) -> None:
    kind = KINDS[row["api_version"], row["kind"]]
    pod = {"metadata": {"name": case.get("pod", "p"), "labels": case.get("labels", {})}}
    assert case["source"]
    assert kind.role(pod) == case["role"]
    entry = entry_of(row, case)
    assert kind.leads(entry, pod) is case["leads"]
    assert kind.is_current(entry, pod) is case.get("current", True)


@pytest.mark.parametrize(("row", "case"), cases("selectors"))
def test_selectors(row: Document, case: Document) -> None:
    found = KINDS[row["api_version"], row["kind"]].selectors(entry_of(row, case))
    assert [value for selector in found for value in selector.values()] == case["found"]


@pytest.mark.parametrize(("row", "case"), cases("between"))
def test_objects_between_a_workload_and_its_pods(row: Document, case: Document) -> None:
    found, _, name = case["object"].partition("/")
    patterns = KINDS[row["api_version"], row["kind"]].intermediates(entry_of(row, case))
    assert (found in patterns and re.fullmatch(patterns[found], name) is not None) is case["ours"]


def test_every_row_has_a_file_of_documents() -> None:
    assert {(row["api_version"], row["kind"]) for row in ROWS} == set(KINDS)
