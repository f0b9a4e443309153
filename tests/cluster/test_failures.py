# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""What goes wrong inside a step ends the play, soon, and says why."""

from __future__ import annotations

import pytest
from samples import IMAGE, JOB, SERVER, Json, gated, job
from space import Space

pytestmark = pytest.mark.cluster


def _step(space: Space, recipe: Json, *, chart: str = JOB, **parameters: object) -> str:
    """Run one recipe by `helm_step`, which must fail, leave nothing installed and say so everywhere."""
    shown = space.task("helm_step", None, release="run", chart=chart, values=recipe, **parameters)
    record, entry = space.record("run"), space.ledger()["run"]
    assert record["outcome"] == entry["outcome"]
    assert record["outcome"] not in ("succeeded", "ready", "running")
    assert record["cause"]["message"] in entry["cause"]
    assert record["cause"]["message"] in " ".join(shown.split())
    assert space.releases() == []
    return shown


def test_a_failing_trainer_behind_tee_fails_the_play_and_later_steps_do_not_run(space: Space) -> None:
    failing = job("(echo loss 0.1; echo 'CUDA error: out of luck' >&2; sleep 1; exit 3) 2>&1 | tee /tmp/log")
    pipeline = space.pipeline(prepare=job("echo a"), train=failing, evaluate=job("echo c"))

    shown = space.play("train", rc=2, pipeline=pipeline)

    assert "failed=1" in shown
    assert {step: entry["outcome"] for step, entry in space.ledger().items()} == {
        "prepare": "succeeded",
        "train": "failed",
    }
    cause = space.record("train")["cause"]
    assert cause["message"] == "it ended with exit code 3."
    assert "CUDA error: out of luck" in cause["log_tail"]
    assert "CUDA error: out of luck" in shown.partition("failed after")[2]
    assert space.releases() == []
    assert len(list(space.runs.glob("*/report.html"))) == 1


def test_an_image_that_cannot_be_pulled(space: Space) -> None:
    recipe = job("echo never") | {"image": "localhost/mlops-eks/absent:1"}

    shown = _step(space, recipe, image_pull_grace=3)

    assert "localhost/mlops-eks/absent:1" in shown
    cause = space.record("run")["cause"]
    assert cause["category"] == "image_pull"
    assert cause["remedy"] in " ".join(shown.split())


def test_a_missing_secret(space: Space) -> None:
    recipe = job("echo never")
    recipe["process"]["env"] = [{"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "absent", "key": "token"}}}]

    shown = _step(space, recipe, config_grace=2)

    assert 'secret "absent" not found' in shown
    assert space.record("run")["cause"]["reason"] == "CreateContainerConfigError"


def test_a_missing_claim(space: Space) -> None:
    shown = _step(space, job("echo never", pvc=[{"name": "absent", "mount_path": "/data"}]), config_grace=2)

    assert 'persistentvolumeclaim "absent" not found' in shown
    assert "Create the PersistentVolumeClaim" in shown


def test_more_than_any_node_has(space: Space) -> None:
    recipe = job("echo never") | {"resources": {"requests": {"cpu": "999", "memory": "16Mi"}}}

    shown = _step(space, recipe, unschedulable_grace=2)

    assert "Insufficient cpu" in shown
    assert space.record("run")["cause"]["reason"] == "Unschedulable"


def test_more_memory_than_the_limit(space: Space) -> None:
    limited = {"requests": {"cpu": "10m", "memory": "32Mi"}, "limits": {"memory": "32Mi"}}
    # Not at once: of what happens just after the start containerd 1.6 does not always tell.
    shown = _step(space, job("echo filling", "sleep 5", "exec tail /dev/zero") | {"resources": limited})

    assert "OOMKilled" in shown
    assert "its limit of 32Mi" in shown
    assert "Raise resources.limits.memory" in shown


def test_a_server_that_crashes_again_and_again(space: Space) -> None:
    recipe = {
        "image": {"name": IMAGE},
        "pvc": [],
        "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}},
        "server": {"ports": [{"name": "http", "value": 8080}], "command": ["echo no model found >&2; exit 7"]},
    }

    shown = _step(space, recipe, chart=SERVER, max_restarts=1)

    assert "CrashLoop" in shown
    assert "exit code 7" in shown
    assert space.record("run")["cause"]["log_tail"][-1] == "no model found"


def test_a_job_that_takes_too_long(space: Space) -> None:
    # As long as a pod may take to start on a busy machine.
    _step(space, gated(), timeout=25)

    record = space.record("run")
    assert record["outcome"] == "timed_out"
    assert record["cause"]["message"].startswith("it was still running after 25 s: pods 1 running.")
    assert space.log("run")[0] == "tick 1"
