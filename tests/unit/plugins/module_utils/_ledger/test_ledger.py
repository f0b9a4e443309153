"""The run's record inside the cluster, and the table made of it."""

from __future__ import annotations

import json

import pytest
from fakes.built import entry
from fakes.kube import FakeKube

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import from_iso
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import AbsentError, ConflictError
from ansible_collections.mlops.eks.plugins.module_utils._engine.status import runs, table
from ansible_collections.mlops.eks.plugins.module_utils._helm.releases import revisions
from ansible_collections.mlops.eks.plugins.module_utils._ledger.ledger import Ledger, parse

PATH = "/api/v1/namespaces/team/configmaps/mlops-eks-digits"


def test_entries_come_back_as_written() -> None:
    kube = FakeKube()
    ledger = Ledger(kube, "digits")
    assert ledger.read() == {}
    first, second = entry("data", index=1, total=2), entry("train", "running", finished=None, index=2, total=2)
    ledger.write(first)
    ledger.write(second)
    assert ledger.read() == {"data": first, "train": second}
    labels = kube.objects[PATH]["metadata"]["labels"]
    assert labels == {
        "mlops.eks/ledger": "true",
        "mlops.eks/release": "digits",
        "app.kubernetes.io/managed-by": "mlops.eks",
    }


def test_writing_one_entry_leaves_those_of_other_controllers() -> None:
    kube = FakeKube()
    Ledger(kube, "digits").write(entry("data"))
    kube.objects[PATH]["data"]["foreign"] = "kept"
    Ledger(kube, "digits").write(entry("train"))
    assert set(kube.objects[PATH]["data"]) == {"data", "train", "foreign"}


def test_steps_are_numbered_as_they_end() -> None:
    ledger = Ledger(FakeKube(), "digits")
    ledger.finish(entry("data"))
    ledger.write(entry("train", "running", finished=None))
    ledger.finish(entry("evaluate"))
    ledger.finish(entry("data"))
    assert {step: one.order for step, one in ledger.read().items()} == {"data": 3, "train": 0, "evaluate": 2}


def test_a_creation_whose_answer_was_lost_is_no_conflict() -> None:
    # The client repeats the request, which then conflicts with what it created itself.
    kube = FakeKube()
    kube.fail[f"POST {PATH.rpartition('/')[0]}"] = [(ConflictError("already exists"), True)]
    Ledger(kube, "digits").write(entry())
    assert Ledger(kube, "digits").read() == {"train": entry()}


def test_entries_of_another_version_are_read_as_far_as_possible() -> None:
    known = json.loads(json.dumps({**entry().__dict__, "a_new_field": 1}))
    document = {"data": {"train": json.dumps(known), "old": "{}", "broken": "{", "list": "[]", "number": "3"}}
    assert parse(document) == {"train": entry()}
    assert parse({}) == {}


def test_a_missing_namespace_is_an_error() -> None:
    with pytest.raises(AbsentError, match="namespaces"):
        Ledger(_nowhere(), "digits").write(entry())


def _nowhere() -> FakeKube:
    kube = FakeKube()
    kube.namespaces.clear()
    return kube


def test_good_is_what_lets_the_play_go_on() -> None:
    good = {
        outcome
        for outcome in ("succeeded", "ready", "failed", "timed_out", "lost", "running", "cancelled")
        if entry(outcome=outcome).good
    }
    assert good == {"succeeded", "ready"}


def test_the_table_of_runs() -> None:
    kube = FakeKube()
    kube.namespaces.add("other")
    Ledger(kube, "digits").write(entry("train", index=2, cause="x" * 100))
    Ledger(kube, "digits").write(entry("data", index=1))
    Ledger(kube, "bert").write(entry("train", "running", finished=None))
    elsewhere = FakeKube("other")
    elsewhere.objects, elsewhere.namespaces = kube.objects, kube.namespaces
    Ledger(elsewhere, "far").write(entry())
    kube.put("/api/v1/namespaces/team/configmaps/unrelated", {"metadata": {"name": "unrelated", "namespace": "team"}})
    now = from_iso("2026-11-21T10:00:00Z")
    rows = runs(kube, release=None, all_namespaces=False, now=now)
    assert [(row["release"], row["step"]) for row in rows] == [
        ("bert", "train"),
        ("digits", "data"),
        ("digits", "train"),
    ]
    assert (rows[0]["took"], rows[0]["age"]) == ("1 h", "-")
    assert (rows[1]["took"], rows[1]["age"]) == ("2 min 5 s", "57 min 55 s")
    lines = table(rows)
    assert lines[0].split() == ["RELEASE", "STEP", "OUTCOME", "TOOK", "AGE", "BY", "RUN", "CAUSE"]
    assert len({line.index(word) for line, word in ((lines[1], "running"), (lines[2], "succeeded"))}) == 1
    assert lines[3].endswith("...")
    assert [row["release"] for row in runs(kube, release="bert", all_namespaces=False, now=now)] == ["bert"]
    everywhere = runs(kube, release=None, all_namespaces=True, now=now)
    assert {row["namespace"] for row in everywhere} == {"team", "other"}
    assert table([]) == ["no runs"]


def test_revisions_are_read_from_the_labels_of_helms_secrets() -> None:
    kube = FakeKube()
    for revision, status in ((10, "pending-upgrade"), (9, "deployed"), (1, "superseded")):
        labels = {
            "owner": "helm",
            "name": "digits",
            "status": status,
            "version": str(revision),
            "mlops.eks/step": "train",
        }
        path = f"/api/v1/namespaces/team/secrets/sh.helm.release.v1.digits.v{revision}"
        kube.put(path, {"metadata": {"name": path.rpartition("/")[2], "labels": labels}})
    kube.put("/api/v1/namespaces/team/secrets/other", {"metadata": {"name": "other"}})
    found = revisions(kube, "digits")
    assert [(one.revision, one.status, one.pending) for one in found] == [
        (1, "superseded", False),
        (9, "deployed", False),
        (10, "pending-upgrade", True),
    ]
    assert {one.step for one in found} == {"train"}
    assert revisions(kube, "else") == []
