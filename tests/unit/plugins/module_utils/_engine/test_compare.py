"""How check mode and diff describe a step that ran before."""

from __future__ import annotations

import typing as t
from dataclasses import replace
from pathlib import Path

import pytest
from fakes.kube import FakeKube

from ansible_collections.mlops.eks.plugins.module_utils._core.secret_mask import Mask
from ansible_collections.mlops.eks.plugins.module_utils._engine.compare import differences, what_changed
from ansible_collections.mlops.eks.plugins.module_utils._engine.decide import decide
from ansible_collections.mlops.eks.plugins.module_utils._ledger.ledger import Entry, Ledger
from ansible_collections.mlops.eks.plugins.module_utils._plan.plan import Plan
from ansible_collections.mlops.eks.plugins.module_utils._plan.task import Task
from ansible_collections.mlops.eks.plugins.module_utils._recipe.chart import Chart, Origin

BEFORE = {"image": "x:1", "resources": {"nnodes": 2, "limits": {"cpu": 1}}, "args": [1, 2]}


def entry(outcome: str = "succeeded", identity: str = "old", **more: t.Any) -> Entry:
    base = {"run_id": "r0", "pipeline": "p", "helm_release": "digits", "controller": "h", "order": 3}
    times = {"started": "2026-11-21T09:01:00.000Z", "finished": "2026-11-21T09:05:00.000Z"}
    return Entry(**{**base, **times, "step": "train", "identity": identity, "outcome": outcome, **more})


class Seen(t.NamedTuple):
    """As much of a plan as a comparison looks at."""

    values: dict[str, t.Any]
    manifest: tuple[dict[str, t.Any], ...] = ()
    chart: Chart | None = None


@pytest.fixture
def stage(tmp_path: Path) -> tuple[Ledger, Task]:
    task = Task(
        cluster="local", namespace="team", release="digits", step="train", chart="c", run_id="r1", runs_dir=tmp_path
    )
    ledger = Ledger(FakeKube(), "digits")
    ledger.write(entry())
    return ledger, task


def keep(task: Task, text: str) -> None:
    where = task.runs_dir / "r0" / "local" / "02-train"
    where.mkdir(parents=True)
    (where / "values.yaml").write_text(text, encoding="utf-8")


def changed(stage: tuple[Ledger, Task], values: dict[str, t.Any]) -> str:
    return what_changed(entry(), stage[1], t.cast(Plan, Seen(values)))


def a_chart(digest: str, commit: str = "") -> Chart:
    origin = Origin(package=Path("p"), package_digest=f"sha256:{digest * 64}", repo="r", commit=commit)
    about = {"ref": "app of r", "path": Path("c"), "name": "app", "version": "1.0.0", "serves": False}
    return Chart(**about, defaults={}, schema=None, digest=digest, origin=origin)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({**BEFORE, "image": "x:2"}, "values image changed"),
        ({**BEFORE, "resources": {"nnodes": 4, "limits": {}}}, "values resources.limits.cpu, resources.nnodes changed"),
        ({**BEFORE, "args": [1], "new": None}, "values args, new changed"),
        ({**BEFORE, **{f"k{n}": n for n in range(9)}}, "values k0, k1, k2, k3, k4, k5 and 3 more changed"),
        (BEFORE, "chart changed"),
    ],
)
def test_changed_keys_are_named(stage: tuple[Ledger, Task], values: dict[str, t.Any], said: str) -> None:
    keep(stage[1], "image: x:1\nresources: {nnodes: 2, limits: {cpu: 1}}\nargs: [1, 2]\n")
    assert changed(stage, values) == said


def test_without_evidence_no_change_is_named(stage: tuple[Ledger, Task]) -> None:
    assert changed(stage, BEFORE) == ""
    before = differences(*stage, t.cast(Plan, Seen(BEFORE)))[0]
    assert (before["before"], before["before_header"]) == ("", "values.yaml (no earlier run on this controller)")


def test_a_secret_that_yaml_breaks_over_lines_is_not_shown(stage: tuple[Ledger, Task]) -> None:
    """Nor is a value called changed because a secret was taken out of what was kept of it."""
    words = "correct horse battery staple " * 8 + "end1"
    task = replace(stage[1], mask=Mask([words]))
    keep(task, "phrase: '********'\n")
    shown = differences(stage[0], task, t.cast(Plan, Seen({"phrase": words})))[0]
    assert shown["after"] == "phrase: '********'\n"
    assert what_changed(entry(), task, t.cast(Plan, Seen({"phrase": words}))) == "chart changed"


MOVED = "chart changed from app 1.0.0 (sha256:000000000000) to app 1.0.0 (sha256:111111111111)"


@pytest.mark.parametrize(
    ("kept", "after", "said"),
    [
        (True, a_chart("1"), MOVED),
        (False, a_chart("1"), MOVED),
        (
            False,
            a_chart("1", "c" * 40),
            "chart changed from app 1.0.0 (sha256:000000000000) to app 1.0.0 (commit cccccccccccc)",
        ),
        (False, a_chart("0", "c" * 40), "values changed"),
    ],
)
def test_a_changed_chart_is_named_from_the_ledger(
    stage: tuple[Ledger, Task], kept: bool, after: Chart, said: str
) -> None:
    if kept:
        keep(stage[1], "image: x:1\nresources: {nnodes: 2, limits: {cpu: 1}}\nargs: [1, 2]\n")
    found = entry(chart=a_chart("0").label, chart_digest="0")
    assert what_changed(found, stage[1], t.cast(Plan, Seen(BEFORE, chart=after))) == said


def test_changed_chart_and_values_are_both_named(stage: tuple[Ledger, Task]) -> None:
    keep(stage[1], "image: x:1\n")
    said = what_changed(
        entry(chart=a_chart("0").label, chart_digest="0"),
        stage[1],
        t.cast(Plan, Seen({"image": "x:2"}, chart=a_chart("1"))),
    )
    assert said == f"{MOVED}, and its values image changed"


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (None, "not installed"),
        (entry(), "its chart or values changed since it succeeded in run r0"),
        (entry("failed", "new"), "it failed in run r0"),
        (entry("timed_out", "new"), "it timed out in run r0"),
        (entry("cancelled", "new"), "it was cancelled in run r0"),
        (entry("retrying", "new", finished=None), "it was waiting for its next attempt in run r0"),
        (entry("succeeded", "new", order=1), "a step before it ran since it succeeded in run r0"),
    ],
)
def test_the_reason_to_run_a_step(stage: tuple[Ledger, Task], found: Entry | None, why: str) -> None:
    task = Task(**{**stage[1].__dict__, "after": ("data",)})
    entries = {"data": entry(step="data", order=2)} | ({"train": found} if found else {})
    assert decide(task, "new", entries, []).why == why
