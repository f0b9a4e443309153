# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Names that lead elsewhere, and recipes that read what is not theirs: refused in one line, and nothing is touched."""

from __future__ import annotations

import base64
import typing as t

import pytest
import yaml
from samples import JOB, Json, job
from space import Space

pytestmark = pytest.mark.cluster
TOKEN = "the-token-of-somebody-else"


class Case(t.NamedTuple):
    """A task that is wrong, and what must be said about it."""

    module: str
    parameters: Json
    says: tuple[str, ...]


STEP: Json = {"release": "run", "chart": JOB, "values": job("echo a")}
CASES = {
    "a run id that leaves its directory": Case("helm_step", {**STEP, "run_id": ".."}, ("run_id '..': expected",)),
    "a run id that is a path": Case("helm_step", {**STEP, "run_id": "a/../../b"}, ("run_id 'a/../../b': expected",)),
    "a step that adds labels": Case(
        "helm_step", {**STEP, "step": "a,owner=me"}, ("step 'a,owner=me': expected lower-case letters",)
    ),
    "a step that is a path": Case("helm_step", {**STEP, "step": "../a"}, ("step '../a': expected",)),
    "a release that is a path": Case("helm_step", {**STEP, "release": ".."}, ("release '..': expected",)),
    "a release that is too long": Case("helm_step", {**STEP, "release": "r" * 54}, ("has 54 characters", "at most 53")),
    "a namespace that is a path": Case("helm_step", {**STEP, "namespace": "a/../b"}, ("namespace 'a/../b': expected",)),
    "a context that is a flag": Case("helm_step", {**STEP, "context": "--debug"}, ("context '--debug': expected",)),
    "a workload that is a path": Case(
        "helm_step", {**STEP, "workload": "Job/../x"}, ("workload 'Job/../x': expected Kind or Kind/name",)
    ),
    "a pipeline that is a path": Case("helm_step", {**STEP, "pipeline": "../p"}, ("pipeline '../p': expected",)),
    "a workload to wait for that is a path": Case(
        "workload_wait", {"kind": "Job", "name": "../../secrets/x"}, ("name '../../secrets/x': expected",)
    ),
    "a kind with a query": Case("workload_wait", {"kind": "Job?a=b", "name": "x"}, ("kind 'Job?a=b': expected",)),
    "an MPIJob with a fragment": Case("mpi_job_wait", {"name": "x#"}, ("name 'x#': expected",)),
    "a run to stop that is a path": Case("run_stop", {"release": "../x"}, ("release '../x': expected",)),
    "a run to show that selects others": Case("run_info", {"release": "a,b"}, ("release 'a,b': expected",)),
    "a report of everything": Case("run_report", {"run_id": ".."}, ("run_id '..': expected",)),
    "control characters": Case("helm_step", {**STEP, "step": "a\x1b[2Jb"}, (r"step 'a\x1b[2Jb': expected",)),
}


def test_names_that_lead_elsewhere(space: Space) -> None:
    """All of them in one play: each is a task of its own that may fail."""
    where = {"kubeconfig": space.kubeconfig, "namespace": space.namespace}
    tasks = []
    for case in CASES.values():
        given = {} if case.module == "run_report" else dict(where)
        given |= {} if case.module == "run_info" else {"runs_dir": str(space.runs)}
        tasks.append({f"mlops.eks.{case.module}": {**given, **case.parameters}, "ignore_errors": True})
    play = space.directory / "play.yml"
    play.write_text(yaml.safe_dump([{"hosts": "clusters", "gather_facts": False, "tasks": tasks}]), encoding="utf-8")

    shown = space.play(play)

    assert f"ignored={len(CASES)}" in shown
    for case in CASES.values():
        _said(shown, case.says)
    assert "Traceback" not in shown
    _nothing_happened(space)


def test_a_run_id_of_a_playbook_and_a_host_are_names_too(space: Space) -> None:
    pipeline = space.pipeline(train=job("echo a"))

    _said(space.play("train", rc=2, pipeline=pipeline, run_id="../out"), ("run_id '../out': expected",))

    inventory = space.write_inventory({"../../east": space.host_variables()["east"]}, "strange.yml")
    _said(space.start("train", pipeline=pipeline, inventory=inventory).end(rc=2), ("host '../../east': expected",))
    _nothing_happened(space)
    assert not (space.directory / "out").exists()
    assert not (space.directory / "east").exists()


def test_evidence_of_another_run_stays(space: Space) -> None:
    mine = {"run_id": "mine", "chart": JOB, "values": job("echo a")}
    space.task("helm_step", release="first", step="train", **mine)
    record = space.runs / "mine/east/01-train/step.json"
    before = record.read_bytes()

    said = space.task("helm_step", 2, release="second", step="train", **mine)
    _said(said, (f"{record} belongs to release 'first'", "Choose another run_id"))

    elsewhere = space.directory / "elsewhere"
    elsewhere.mkdir()
    (space.runs / "linked").symlink_to(elsewhere)
    said = space.task("helm_step", 2, **{**mine, "run_id": "linked"}, release="third", step="train")
    _said(said, (f"{space.runs}/linked is a symbolic link", "Choose another run_id"))

    assert record.read_bytes() == before
    assert list(elsewhere.iterdir()) == []
    assert space.names("jobs") == []
    assert space.releases() == []


def test_a_recipe_reads_no_secret_unless_the_play_allows_it(space: Space) -> None:
    space.apply({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "other"}, "stringData": {"token": TOKEN}})
    # Rendered without a cluster, before it is installed, it finds nothing.
    call = f'{{{{ get (get (lookup "v1" "Secret" "{space.namespace}" "other") "data" | default dict) "token" }}}}'
    recipe = job('[ "$(echo $STOLEN | base64 -d | tail -c 5)" = "-else" ] && echo it was read')
    recipe["process"]["env"] = [{"name": "PLAIN", "value": "a lookup table"}, {"name": "STOLEN", "value": call}]
    pipeline = space.pipeline(train=recipe)

    said = space.play("train", rc=2, pipeline=pipeline)
    _said(
        said,
        (f"{pipeline}/train.yaml:", "process.env[1].value: its template calls lookup", "set allow_lookup: true"),
    )
    step = {"release": "run", "chart": JOB, "recipe": str(pipeline / "train.yaml")}
    _said(space.task("helm_step", 2, **step), ("process.env[1].value: its template calls lookup",))
    inline = space.pipeline_of("inline", [{"name": "train", "chart": JOB, "values": recipe}], {})
    _said(
        space.play("train", rc=2, pipeline=inline),
        (f"{inline}/pipeline.yaml:", "process.env[1].value: its template calls lookup"),
    )
    assert base64.b64encode(TOKEN.encode()).decode() not in said
    _nothing_happened(space)

    assert "it was read" in space.play("train", pipeline=pipeline, allow_lookup=True)


def _nothing_happened(space: Space) -> None:
    assert space.releases() == []
    assert space.names("jobs") == []
    assert space.ledger() == {}
    assert not space.runs.exists()


def _said(shown: str, texts: t.Iterable[str]) -> None:
    """Check that one line says all of it."""
    lines = [line for line in shown.splitlines() if line.startswith("[ERROR]")]
    assert any(all(text in line for text in texts) for line in lines), f"{texts} in:\n{shown}"
