"""Which runs get a cancellation marker, and when it is removed."""

from __future__ import annotations

import typing as t

import pytest
from fakes.kube import FakeKube

from ansible_collections.mlops.eks.plugins.module_utils._ledger import cancellation
from ansible_collections.mlops.eks.plugins.module_utils._ledger.ledger import Entry, Ledger

PATH = "/api/v1/namespaces/team/configmaps/mlops-eks-digits"
AT = "2026-11-21T09:15:02.123Z"


@pytest.fixture
def ledger() -> Ledger:
    return Ledger(FakeKube(), "digits")


def entry(step: str, run_id: str, outcome: str = "succeeded", **more: t.Any) -> Entry:
    base = {"identity": "i", "pipeline": "digits", "helm_release": "digits", "controller": "h", "started": AT}
    return Entry(**{**base, "step": step, "run_id": run_id, "outcome": outcome, "index": 1, "total": 3, **more})


def leave(ledger: Ledger) -> list[str]:
    return cancellation.request(ledger, by="tower", at=AT)


@pytest.mark.parametrize(
    ("entries", "told"),
    [
        ([entry("data", "r1")], ["r1"]),
        ([entry("data", "r1", "running")], ["r1"]),
        ([entry("data", "r1"), entry("train", "r1", "retrying", index=2)], ["r1"]),
        ([entry("data", "r1"), entry("serve", "r1", "ready", index=3)], []),
        ([entry("data", "r1"), entry("train", "r1", "failed", index=2)], []),
        ([entry("train", "r1", "failed", index=2), entry("data", "r1")], ["r1"]),
        ([entry("data", "r1"), entry("train", "r2", index=2)], ["r1", "r2"]),
        ([entry("data", "r1", "cancelled")], []),
        ([], []),
    ],
)
def test_only_runs_that_may_go_on_are_marked(ledger: Ledger, entries: list[Entry], told: list[str]) -> None:
    for one in entries:
        (ledger.write if one.unfinished else ledger.finish)(one)
    assert cancellation.pending(ledger) == told
    assert leave(ledger) == told
    assert [run for run in ("r1", "r2") if cancellation.find(ledger, run)] == told
    assert leave(ledger) == []
    assert cancellation.find(ledger, "r3") is None


def test_a_run_that_only_skips_steps_is_marked_too(ledger: Ledger) -> None:
    ledger.finish(entry("data", "r1", index=3))
    cancellation.note_skip(
        ledger, "r2 with a name as long as its user liked, and longer than that of an annotation may be"
    )
    assert leave(ledger) == ["r2 with a name as long as its user liked, and longer than that of an annotation may be"]


def test_a_skip_is_noted_once(ledger: Ledger) -> None:
    kube = t.cast(FakeKube, ledger._kube)
    ledger.finish(entry("data", "r1"))
    cancellation.note_skip(ledger, "r2")
    version = kube.objects[PATH]["metadata"]["resourceVersion"]
    cancellation.note_skip(ledger, "r2")
    assert kube.objects[PATH]["metadata"]["resourceVersion"] == version


def test_acknowledge_removes_the_marker(ledger: Ledger) -> None:
    ledger.finish(entry("data", "r1"))
    leave(ledger)
    cancellation.acknowledge(ledger, "r2")
    assert str(cancellation.find(ledger, "r1")) == f"stopped from tower at {AT}"
    cancellation.acknowledge(ledger, "r1")
    assert cancellation.find(ledger, "r1") is None


def test_markers_of_unknown_runs_are_removed_by_the_next_request(ledger: Ledger) -> None:
    ledger.finish(entry("data", "r1"))
    leave(ledger)
    ledger.finish(entry("data", "r2"))
    assert leave(ledger) == ["r2"]
    assert cancellation.find(ledger, "r1") is None
    assert ledger.read()["data"].run_id == "r2"


def test_other_annotations_are_ignored(ledger: Ledger) -> None:
    ledger.finish(entry("data", "r1"))
    ledger.annotate({"stopped.mlops.eks/a": "{", "stopped.mlops.eks/b": '{"a": 1}', "stopped.mlops.eks/c": "[]"})
    assert cancellation.find(ledger, "r1") is None
    assert leave(ledger) == ["r1"]
