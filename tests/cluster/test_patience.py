# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Steps that hang, that do not start, and that are tried again, for real."""

from __future__ import annotations

import json

import pytest
from outsiders import noticed
from plays import until
from samples import gated, job, saving
from space import Space

pytestmark = pytest.mark.cluster
# With it an eviction fails the Job, as it fails those of other charts: by default it is replaced.
COUNTS = {"pod_failure_policy": {"rules": []}}

COUNTING = "for i in 1 2 3; do echo step $i/10; sleep 1; done"
# Seconds: more than a busy machine needs to start a container, to bring a line of its log, or to see that no node fits.
LIMIT = 15


def test_silence_and_waiting_end_a_step_each_in_its_own_words(space: Space) -> None:
    """Two runs side by side: a program that hangs after three steps, and one that no node has room for."""
    recipes = {"hangs": job(COUNTING, "echo -n half; sleep 600"), "waits": job("echo never")}
    recipes["waits"]["resources"]["requests"]["cpu"] = "4000"
    limits = {"hangs": {"no_output_timeout": LIMIT, "progress": r"step (?P<done>\d+)/(?P<total>\d+)"}}
    limits["waits"] = {"pending_timeout": LIMIT}
    plays = {}
    for name, recipe in recipes.items():
        step = {"name": name, "chart": "data-prep/data-process", "recipe": f"{name}.yaml", **limits[name]}
        plays[name] = space.start("train", pipeline=space.pipeline_of(name, [step], {name: recipe}), heartbeat=1)
    shown = {name: play.end(2) for name, play in plays.items()}

    hung, waited = space.record("hangs"), space.record("waits")
    assert [one["outcome"] for one in (hung, waited)] == ["timed_out", "timed_out"]
    assert [one["cause"]["reason"] for one in (hung, waited)] == ["NoOutputTimeout", "PendingTimeout"]
    said = hung["cause"]["message"]
    assert f"it runs, but no container has written a line for {LIMIT} s: pods 1 running." in said
    assert "It had reached 30 % (3/10)." in said
    assert "'step 3/10'" in said
    assert hung["progress"]["done"] == 3
    assert "% (" in shown["hangs"]
    assert "Insufficient cpu" in waited["cause"]["message"]
    why = f"it is pending and has not run for {LIMIT} s: pods 1 pending (Unschedulable)."
    assert why in waited["cause"]["message"]
    assert space.releases() == []


def test_a_job_that_is_evicted_once_succeeds_at_the_second_attempt(space: Space) -> None:
    play = space.start("train", pipeline=space.pipeline(train=saving() | COUNTS), retries=1, retry_backoff=1)
    play.shows("tick 1")
    (first,) = space.names("pods")
    space.evict(first)
    until(lambda: space.ledger().get("train", {}).get("tried"), "the ledger counts the first attempt")
    until(lambda: [name for name in space.names("pods") if name != first], "the second attempt has a pod")
    space.open_gate()
    shown = play.end()

    assert "attempt 1 of 2 failed after" in shown
    assert "because evicted is retried" in shown
    entry, record = space.ledger()["train"], space.record("train")
    assert (entry["outcome"], record["outcome"], record["attempt"]) == ("succeeded", "succeeded", 2)
    assert [one["category"] for one in entry["tried"]] == ["evicted"]
    (before,) = record["attempts"]
    assert before["object"] == f"Pod/{first}"
    evidence = space.evidence("train")
    earlier = evidence / before["evidence"]
    log = next((earlier / "logs").iterdir()).read_text(encoding="utf-8").splitlines()
    assert log[0] == "tick 1"
    assert "caught SIGTERM, checkpoint saved" in log
    assert json.loads((earlier / "step.json").read_text(encoding="utf-8"))["outcome"] == "failed"
    assert first not in " ".join(path.name for path in (evidence / "logs").iterdir())
    report = next(space.runs.glob("*/report.html")).read_text(encoding="utf-8")
    assert "attempt-1" in report
    assert space.releases() == []


@pytest.mark.slow
def test_an_evicted_pod_is_replaced_and_is_no_failed_attempt(space: Space) -> None:
    """Then the program fails by itself, which `backoff_limit: 0` does not forgive, and is to blame for it."""
    recipes = {"train": gated(), "break": gated("exit 3")}
    play = space.start("train", pipeline=space.pipeline(**recipes))
    pods: list[str] = []

    def next_pod() -> str:
        pods.append(until(lambda: space.waiting_at_gate(but=pods), "a pod is at work"))
        return pods[-1]

    for _ in recipes:
        space.evict(next_pod())
        next_pod()
        space.open_gate()
    shown = play.end(2)

    assert len(space.pods_ever()) == 4
    assert (space.ledger()["train"]["outcome"], space.record("train")["restarts"]) == ("succeeded", 1)
    cause = space.record("break")["cause"]
    assert (cause["reason"], cause["object"]) == ("Error", f"Pod/{pods[3]}")
    assert "it ended with exit code 3" in shown
    assert space.releases() == []


def test_an_eviction_after_the_notice_of_a_spot_interruption_is_told_as_one(space: Space) -> None:
    """In this file, since another eviction on the same node would be taken for one as well."""
    play = space.start("train", pipeline=space.pipeline(train=saving() | COUNTS))
    play.shows("tick 1")
    (found,) = space.get("pods")
    with noticed(space, found["spec"]["nodeName"]):
        space.evict(found["metadata"]["name"])
        shown = play.end(2)
    cause = space.record("train")["cause"]
    assert (cause["reason"], cause["category"]) == ("SpotInterrupted", "node_lost")
    assert "EC2 took its spot instance" in shown
