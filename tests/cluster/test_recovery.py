# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""What a controller or Helm left half-done is finished or cleared away."""

from __future__ import annotations

import json
import subprocess

import pytest
from plays import ROOT, helm_binary, until
from samples import IMAGE, JOB, Json, consecutive, gated, job, saving, ticks
from space import Space

pytestmark = pytest.mark.cluster


def test_an_install_that_was_interrupted_is_cleared_away(space: Space) -> None:
    pipeline = space.pipeline(train=gated())
    command = [helm_binary(), "install", "run", str(ROOT / "charts" / JOB), "--wait", "--wait-for-jobs"]
    command += ["-f", str(pipeline / "train.yaml"), "--kubeconfig", space.kubeconfig, "-n", space.namespace]
    helm = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until(lambda: space.get("jobs"), "helm made the job")
    helm.kill()
    helm.wait()
    (secret,) = space.get("secrets", "-l", "owner=helm")
    assert secret["metadata"]["labels"]["status"] == "pending-install"

    # A Helm of somebody else's hand: it is left alone until the user hands it to the run.
    pipeline = space.pipeline(train=job("echo again"))
    assert "this collection did not install it" in space.play("train", pipeline=pipeline, rc=2)
    shown = space.play("train", pipeline=pipeline, adopt=True)

    assert "pending-install; uninstalling it first" in shown
    assert space.log("train")[0] == "again"
    assert space.releases() == []


def test_a_controller_that_died_before_it_uninstalled_is_made_good(space: Space) -> None:
    step: Json = {"release": "run", "chart": JOB, "values": job("echo a")}
    # What is left is what a controller leaves that dies between the ledger and Helm.
    space.task("helm_step", **step, cleanup="never")
    assert space.ledger()["run"]["outcome"] == "succeeded"
    assert space.releases() == ["run"]

    shown = space.task("helm_step", **step)

    assert "skipped: identical step succeeded" in shown
    assert space.releases() == []
    assert len(space.pods_ever()) == 1


def test_a_failed_step_is_run_again(space: Space) -> None:
    failing = space.pipeline(prepare=job("echo a"), train=job("exit 4"))
    space.play("train", rc=2, pipeline=failing)

    space.play("train", pipeline=space.pipeline(prepare=job("echo a"), train=job("echo mended")))

    assert space.record("prepare")["outcome"] == "skipped"
    assert space.log("train")[0] == "mended"


def test_a_run_that_is_stopped_keeps_its_evidence_first(space: Space) -> None:
    pipeline = space.pipeline(train=saving(), evaluate=job("echo c"))
    play = space.start("train", pipeline=pipeline)
    play.shows("tick 3")

    stopped = space.play("stop", release="run")
    followed = play.end(rc=2)

    assert "stopped train" in stopped
    assert "cancelled after" in followed
    assert "stopped from" in followed
    assert space.ledger()["train"]["outcome"] == "cancelled"
    assert set(space.ledger()) == {"train"}
    assert space.record("train")["outcome"] == "cancelled"
    assert space.releases() == []
    (log,) = space.runs.glob("*-run-stop-*/east/run/logs/*.log")
    kept = log.read_text(encoding="utf-8").splitlines()
    assert ticks(kept)[:3] == [1, 2, 3]
    assert "caught SIGTERM, checkpoint saved" in kept
    assert ticks(space.log("train"))[:3] == [1, 2, 3]

    assert "changed=0" in space.play("stop", release="run")
    until(lambda: not space.get("pods"), "the pods are gone")
    assert "changed=1" in space.play("train", pipeline=space.pipeline(train=job("echo anew")))


def test_the_last_words_of_a_workload_that_somebody_deletes_are_kept(space: Space) -> None:
    play = space.start("train", pipeline=space.pipeline(train=saving(seconds=3)))
    play.shows("tick 3")

    space.kubectl("delete", "jobs", "--all", "--wait=false")
    shown = play.end(rc=2)

    assert "deleted; waiting for" in shown
    assert "| caught SIGTERM, checkpoint saved" in shown
    assert "caught SIGTERM, checkpoint saved" in space.log("train")
    assert consecutive(ticks(space.log("train")))
    record = space.record("train")
    assert (record["outcome"], record["cause"]["reason"]) == ("lost", "Deleted")
    (pod,) = record["pods"]
    assert pod["containers"][0]["exit_code"] == 143
    assert space.releases() == []


def test_a_step_that_ran_into_its_limit_may_save(space: Space) -> None:
    step: Json = {"release": "run", "chart": JOB, "values": saving(seconds=3, words=10)}
    # Of the limits the one that counts from its last line: it does not matter when it began.
    shown = space.task("helm_step", 2, **step, no_output_timeout=15)

    assert "timed_out after" in shown
    assert "caught SIGTERM, checkpoint saved" in space.log("run")
    assert consecutive(ticks(space.log("run")))
    (pod,) = space.record("run")["pods"]
    (container,) = pod["containers"]
    assert (container["exit_code"], container["log_lines"]) == (143, len(space.log("run")))
    assert space.releases() == []


def test_pods_that_outlive_their_workload_are_named(space: Space) -> None:
    play = space.start("train", pipeline=space.pipeline(train=gated()))
    play.shows("tick 3")

    space.kubectl("delete", "jobs", "--all", "--cascade=orphan")
    shown = play.end(rc=2)

    (left,) = space.names("pods")
    assert f"it was deleted while it ran, and {left} still there" in shown


def test_stop_in_check_mode_stops_nothing(space: Space) -> None:
    play = space.start("train", pipeline=space.pipeline(train=gated()))
    play.shows("tick 1")

    assert "would stop train" in space.play("stop", "--check", release="run")

    assert space.ledger()["train"]["outcome"] == "running"
    assert space.releases() == ["run"]
    space.open_gate()
    play.end()


@pytest.mark.slow
def test_an_attempt_that_timed_out_says_its_last_words_before_the_next_one_begins(space: Space) -> None:
    step: Json = {"release": "run", "chart": JOB, "values": saving(seconds=3, words=10)}
    limits: Json = {"no_output_timeout": 15, "retries": 1, "retry_on": ["any"], "retry_backoff": 1}
    shown = space.task("helm_step", 2, **step, **limits)

    assert "attempt 1 of 2 timed_out after" in shown
    evidence, record = space.evidence("run"), space.record("run")
    assert (record["outcome"], record["attempt"]) == ("timed_out", 2)
    for attempt in (evidence / "attempt-1", evidence):
        (log,) = (attempt / "logs").iterdir()
        said = log.read_text(encoding="utf-8").splitlines()
        assert consecutive(ticks(said))
        assert "caught SIGTERM, checkpoint saved" in said
    (pod,) = json.loads((evidence / "attempt-1/step.json").read_text(encoding="utf-8"))["pods"]
    assert pod["containers"][0]["exit_code"] == 143
    assert space.releases() == []


def test_what_survives_a_failure_says_its_last_words(space: Space) -> None:
    """Its step has failed by what it looks at, and the program goes on until it is ended with the release."""
    failed = "jsonpath={.metadata.labels.verdict}=bad"
    play = space.start_task("helm_step", release="run", chart=JOB, values=saving(seconds=2), fail_on=[failed])
    play.shows("tick 3")
    space.kubectl("label", "jobs", "--all", "verdict=bad")
    play.end(2)

    assert space.record("run")["cause"]["reason"] == "fail_on"
    assert "caught SIGTERM, checkpoint saved" in space.log("run")
    assert consecutive(ticks(space.log("run")))
    (pod,) = space.record("run")["pods"]
    assert pod["containers"][0]["exit_code"] == 143
    assert space.releases() == []


def forget(space: Space) -> None:
    """Take Helm's memory of all releases."""
    space.kubectl("delete", "secrets", "-l", "owner=helm")
    assert space.releases() == []


def test_what_helm_has_forgotten_is_cleared_away(space: Space) -> None:
    play = space.start("train", pipeline=space.pipeline(train=gated()))
    play.shows("tick 1")
    forget(space)
    space.open_gate()
    shown = play.end()

    assert "Helm has no record of it any more; deleting what it made: Job/" in shown
    assert space.ledger()["train"]["outcome"] == "succeeded"
    assert (space.names("jobs"), [name for name in space.names("configmaps") if "data-process" in name]) == ([], [])


def test_a_run_that_helm_has_forgotten_is_stopped(space: Space) -> None:
    play = space.start("train", pipeline=space.pipeline(train=saving()))
    play.shows("tick 3")
    forget(space)

    assert "stopped train" in space.play("stop", release="run")
    assert "cancelled after" in play.end(rc=2)
    assert space.names("jobs") == []
    (log,) = space.runs.glob("*-run-stop-*/east/run/logs/*.log")
    assert "caught SIGTERM, checkpoint saved" in log.read_text(encoding="utf-8")


def test_a_run_that_helm_has_forgotten_is_taken_up_again(space: Space) -> None:
    pipeline = space.pipeline(train=gated())
    first = space.start("train", pipeline=pipeline)
    first.shows("tick 3")
    first.kill()
    forget(space)

    second = space.start("train", pipeline=pipeline)
    second.shows("re-attached")
    space.open_gate()
    second.end()

    assert space.ledger()["train"]["outcome"] == "succeeded"
    assert consecutive(ticks(space.log("train")))
    assert (len(space.pods_ever()), space.names("jobs")) == (1, [])


def test_pods_that_stay_beyond_their_grace_period_end_the_step_with_a_remedy(space: Space) -> None:
    name = "data-process-run"
    labels = {"batch.kubernetes.io/job-name": name}
    meta = {"name": "stuck", "labels": labels, "finalizers": ["example.com/stays"]}
    spec = {"containers": [{"name": "main", "image": IMAGE, "command": ["true"]}], "restartPolicy": "Never"}
    space.apply({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec})
    space.kubectl("delete", "pod", "stuck", "--wait=false", "--grace-period=1")
    try:
        shown = space.task("helm_step", 2, release="run", chart=JOB, values=job("true"), leftover_grace=5)
    finally:
        let_go = {"metadata": {"finalizers": None}}
        space.kubectl("patch", "pod", "stuck", "--type=merge", "-p", json.dumps(let_go))

    assert "waiting for 1 pod of an earlier attempt or step to go away: stuck" in shown
    assert "The controller that set its finalizers must remove them: example.com/stays." in shown
    record, entry = space.record("run"), space.ledger()["run"]
    assert (record["outcome"], record["cause"]["reason"]) == ("failed", "StuckTerminating")
    assert (entry["outcome"], entry["finished"] is not None) == ("failed", True)
    assert (space.names("jobs"), space.releases(), space.names("leases")) == ([], [], [])
