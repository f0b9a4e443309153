# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Every kind that runs to completion, driven to success and to failure by the operator it belongs to."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

import pytest
from any_chart import write
from driven import BY_NAME, LONG, run_step, scenarios
from space import Space

pytestmark = pytest.mark.cluster


@dataclass(frozen=True)
class Good:
    """What is shown of the leader, and who took part."""

    shown: str
    roles: frozenset[str]


@dataclass(frozen=True)
class Bad:
    """Whose fault it was, and the words for it."""

    role: str
    reason: str
    words: str


GOOD = {
    "job-succeeds": Good("done", frozenset({"pod"})),
    "mpi-succeeds": Good("", frozenset({"launcher", "worker-0", "worker-1"})),
    "pytorch-succeeds": Good("", frozenset({"master-0", "worker-0"})),
    # One of its workers has not ended.
    "pytorch-elastic": Good("trained", frozenset({"worker-0", "worker-1"})),
    "tf-succeeds": Good("trained", frozenset({"chief-0", "worker-0"})),
    "xgboost-succeeds": Good("trained", frozenset({"master-0", "worker-0"})),
    "paddle-succeeds": Good("trained", frozenset({"master-0", "worker-0"})),
    "jax-succeeds": Good("trained", frozenset({"worker-0"})),
    "jobset-succeeds": Good("trained", frozenset({"driver-0", "worker-0", "worker-1"})),
    "train-succeeds": Good("trained", frozenset({"node-0", "node-1"})),
    "rayjob-succeeds": Good("trained", frozenset({"submitter", "head", "small-0"})),
}
BAD = {
    "job-exits-3": Bad("pod", "Error", "exit code 3"),
    "mpi-exits-3": Bad("launcher", "Error", "exit code 3"),
    "pytorch-worker-fails": Bad("worker-0", "Error", "exit code 3"),
    "tf-fails": Bad("worker-0", "Error", "exit code 3"),
    "xgboost-fails": Bad("master-0", "Error", "exit code 3"),
    "paddle-fails": Bad("worker-0", "Error", "exit code 3"),
    "jax-fails": Bad("worker-0", "Error", "exit code 3"),
    "jobset-worker-fails": Bad("worker-1", "Error", "exit code 3"),
    "train-node-fails": Bad("node-1", "Error", "exit code 3"),
    # The submitter of a Ray job that failed ends well itself: the RayJob says how it ended.
    "rayjob-fails": Bad("", "AppFailed", "exit code 3"),
    "rayjob-invalid": Bad("", "ValidationFailed", "cannot have TTLSecondsAfterFinished"),
}


@pytest.mark.parametrize("name", scenarios(GOOD))
def test_success(name: str, space: Space, one_ray: None) -> None:
    """As a step: a chart that renders the workload is installed, followed to its end and uninstalled."""
    scenario, expected = BY_NAME[name], GOOD[name]
    for _, body in scenario.before:
        space.apply(body)
    chart, values = write(space.directory / "chart", [scenario.workload])
    shown = run_step(space, chart, values)
    assert "changed=1" in shown
    record = space.record("run")
    assert record["outcome"] == "succeeded"
    assert {pod["role"] for pod in record["pods"]} == expected.roles
    assert f"| {expected.shown}" in shown
    assert space.releases() == []
    assert space.ledger()["run"]["outcome"] == "succeeded"


@pytest.mark.parametrize("name", scenarios(BAD))
def test_failure(name: str, space: Space, one_ray: None) -> None:
    """As somebody else's workload: the pod that caused it is named, not those that suffered from it."""
    scenario, expected = BY_NAME[name], BAD[name]
    for body in (*(body for _, body in scenario.before), scenario.workload):
        space.apply(body)
    shown = space.start_task("workload_wait", **_name_of(scenario.workload), timeout=LONG - 60).end(2, seconds=LONG)
    record = space.record(name)
    cause = record["cause"]
    assert (record["outcome"], cause["reason"]) == ("failed", expected.reason)
    assert expected.words in cause["message"]
    assert expected.words in shown
    roles = {f"Pod/{pod['name']}": pod["role"] for pod in record["pods"]}
    assert roles.get(cause["object"], "") == expected.role


def _name_of(workload: dict[str, t.Any]) -> dict[str, str]:
    return {
        "api_version": workload["apiVersion"],
        "kind": workload["kind"],
        "name": workload["metadata"]["name"],
    }
