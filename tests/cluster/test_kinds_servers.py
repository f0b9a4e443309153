# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Every kind that serves, driven to ready and to failure by the controller it belongs to."""

from __future__ import annotations

import pytest
from any_chart import write
from driven import BY_NAME, LONG, scenarios
from space import Space

pytestmark = pytest.mark.cluster

# Who took part.
READY = {
    "deployment-ready": {"pod"},
    "statefulset-ready": {"replica-0", "replica-1"},
    "lws-ready": {"leader-0", "worker-0-1"},
    "rayservice-ready": {"head"},
}
# Reason and words of the message.
BAD = {
    "deployment-crash-loop": ("CrashLoop", "exit code 7"),
    "statefulset-crash-loop": ("CrashLoop", "exit code 7"),
    "lws-worker-crashes": ("CrashLoop", "exit code 7"),
    "rayservice-fails": ("DEPLOY_FAILED", "no_such_app"),
    "rayservice-invalid": ("ValidationFailed", "headService.metadata.name should not be set"),
}


@pytest.mark.parametrize("name", scenarios(READY))
def test_ready(name: str, space: Space, one_ray: None) -> None:
    """As a step that is kept: it ends ready, a second run finds it so, and stop takes it away."""
    scenario = BY_NAME[name]
    for _, body in scenario.before:
        space.apply(body)
    chart, values = write(space.directory / "chart", [scenario.workload])
    step = {"release": "run", "chart": str(chart), "values": values, "keep": True, "timeout": LONG - 60}
    shown = space.start_task("helm_step", **step).end(seconds=LONG)
    assert "changed=1" in shown
    record = space.record("run")
    assert record["outcome"] == "ready"
    assert {pod["role"] for pod in record["pods"]} == READY[name]
    assert space.releases() == ["run"]
    assert "changed=0" in space.task("helm_step", **step)
    space.play("stop", release="run")
    assert space.releases() == []


@pytest.mark.parametrize("name", scenarios(BAD))
def test_failure(name: str, space: Space, one_ray: None) -> None:
    """As somebody else's workload: what keeps it from ever being ready is said, and not waited for."""
    scenario = BY_NAME[name]
    workload = scenario.workload
    for body in (*(body for _, body in scenario.before), workload):
        space.apply(body)
    play = space.start_task(
        "workload_wait",
        api_version=workload["apiVersion"], kind=workload["kind"], name=name, max_restarts=1, timeout=LONG - 60,
    )  # fmt: skip
    shown = play.end(2, seconds=LONG)
    reason, words = BAD[name]
    record = space.record(name)
    assert (record["outcome"], record["cause"]["reason"]) == ("failed", reason)
    assert words in record["cause"]["message"]
    assert words in shown
