# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""A pipeline from its first step to its report, and what the second run makes of it."""

from __future__ import annotations

import json

import pytest
import yaml
from samples import Json, gated, job
from space import Space

pytestmark = pytest.mark.cluster

PRINTED = ["one", "  two, indented; ünïcødé 日本", "", "percent % and {{ braces }}", "no: yaml"]
SAYS = [f"echo '{line}'" for line in PRINTED]


def test_a_pipeline_runs_streams_and_leaves_everything_behind(space: Space) -> None:
    # Long enough to be seen while it runs.
    recipe = job(*SAYS, "sleep 3")
    pipeline = space.pipeline(prepare=recipe, train=job("echo training", "echo trouble >&2"))

    shown = space.play("train", pipeline=pipeline)

    (pod,) = yaml.safe_load_all((space.evidence("prepare") / "pods.yaml").read_text(encoding="utf-8"))
    for line in PRINTED:
        assert f"east | run | {pod['metadata']['name']} | {line}\n" in shown
    assert "failed=0" in shown
    assert "changed=2" in shown
    assert space.releases() == []
    assert space.names("leases") == []
    assert {step: entry["outcome"] for step, entry in space.ledger().items()} == {
        "prepare": "succeeded",
        "train": "succeeded",
    }

    _evidence_is_complete(space, recipe)


def _evidence_is_complete(space: Space, recipe: Json) -> None:
    evidence, record = space.evidence("prepare"), space.record("prepare")
    assert yaml.safe_load((evidence / "values.yaml").read_text(encoding="utf-8")) == recipe
    kinds = {entry["kind"] for entry in yaml.safe_load_all((evidence / "manifest.yaml").read_text(encoding="utf-8"))}
    assert kinds == {"ConfigMap", "Job"}
    workload = yaml.safe_load((evidence / "workload.yaml").read_text(encoding="utf-8"))
    assert workload["status"]["succeeded"] == 1
    assert (evidence / "events.yaml").exists()
    assert space.log("prepare")[: len(PRINTED)] == PRINTED
    assert record["outcome"] == "succeeded"
    assert [phase["name"] for phase in record["phases"]] == ["queued", "pulling", "running", "finishing"]
    assert all(phase["finished"] >= phase["started"] for phase in record["phases"])
    (pod,) = record["pods"]
    (container,) = pod["containers"]
    assert container["exit_code"] == 0
    assert container["log_lines"] == len(space.log("prepare"))
    assert (evidence / container["log"]).stat().st_size == container["log_bytes"]
    assert record["resources"]["cpu"]["requested"] == 0.01
    run = evidence.parents[1]
    steps = json.loads((run / "run.json").read_text(encoding="utf-8"))["clusters"][0]["steps"]
    assert [step["step"] for step in steps] == ["prepare", "train"]
    assert "<html" in (run / "report.html").read_text(encoding="utf-8")


def test_the_second_run_changes_nothing_and_a_changed_recipe_runs_with_all_that_follow(space: Space) -> None:
    recipes = {"prepare": job("echo a"), "train": job("echo b"), "evaluate": job("echo c")}
    pipeline = space.pipeline(**recipes)
    space.play("train", pipeline=pipeline)

    again = space.play("train", pipeline=pipeline)
    assert "changed=0" in again
    assert again.count("skipped: identical step succeeded") == 3
    assert len(space.pods_ever()) == 3

    space.pipeline(**{**recipes, "train": job("echo b2")})
    changed = space.play("train", pipeline=pipeline)
    assert "changed=2" in changed
    assert "skipped: identical step succeeded" in changed
    assert [space.record(step)["outcome"] for step in recipes] == ["skipped", "succeeded", "succeeded"]
    assert space.log("train")[0] == "b2"
    assert len(space.pods_ever()) == 5


def test_steps_can_be_chosen(space: Space) -> None:
    pipeline = space.pipeline(prepare=job("echo a"), train=job("echo b"), evaluate=job("echo c"))

    space.play("train", "-e", "from_step=evaluate", pipeline=pipeline)
    assert set(space.ledger()) == {"evaluate"}

    space.play("train", "-e", "only_steps=prepare,train", pipeline=pipeline)
    outcomes = {step: entry["outcome"] for step, entry in space.ledger().items()}
    assert outcomes == dict.fromkeys(["prepare", "train", "evaluate"], "succeeded")
    assert len(space.pods_ever()) == 3


def test_check_mode_shows_the_plan_and_touches_nothing(space: Space) -> None:
    pipeline = space.pipeline(prepare=job("echo a"), train=job("echo b"))
    before = space.kubectl("get", "all,configmaps,secrets,leases", "-o", "name")

    planned = space.play("train", "--check", pipeline=pipeline)

    assert planned.count("would install: not installed") == 2
    assert "Job/data-process-run" in planned
    assert space.kubectl("get", "all,configmaps,secrets,leases", "-o", "name") == before
    assert not space.runs.exists()

    space.play("train", pipeline=pipeline)
    planned = space.play("train", "--check", pipeline=pipeline)
    assert planned.count("would skip: identical step succeeded") == 2
    assert "changed=0" in planned


def test_diff_shows_the_values_of_the_last_run_against_the_new_ones(space: Space) -> None:
    pipeline = space.pipeline(train=job("echo before"))
    space.play("train", pipeline=pipeline)
    space.pipeline(train=job("echo after"))

    shown = space.play("train", "--check", "--diff", pipeline=pipeline)

    assert "-  - echo before" in shown
    assert "+  - echo after" in shown
    assert f"values.yaml of {space.ledger()['train']['run_id']}" in shown
    assert space.ledger()["train"]["outcome"] == "succeeded"


def test_status_lists_the_runs(space: Space) -> None:
    assert "no runs" in space.play("status")
    play = space.start("train", pipeline=space.pipeline(prepare=job("echo a"), train=gated()))
    play.shows("tick 1")

    table = [line.split("|")[-1].split() for line in space.play("status").splitlines() if line.startswith("east |")]
    head, first, second = table

    assert head[:5] == ["RELEASE", "STEP", "OUTCOME", "TOOK", "AGE"]
    assert first[:3] == ["run", "prepare", "succeeded"]
    assert second[:3] == ["run", "train", "running"]
    assert space.evidence("train").parents[1].name in second
    space.open_gate()
    play.end()
