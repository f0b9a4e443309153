"""Pods as the engine sees them."""

from __future__ import annotations

import typing as t

import pytest
from fakes.made import pod, runs, waits
from fakes.replay import load

from ansible_collections.mlops.eks.plugins.module_utils._follow.changes import PodSeen
from ansible_collections.mlops.eks.plugins.module_utils._kube import pods


def views(name: str) -> list[dict[str, t.Any]]:
    return [change.entry for change in load(name).changes if isinstance(change, PodSeen)]


def test_init_containers_come_first() -> None:
    found = list(pods.containers(views("job-init-fails")[-1]))
    assert [(one.name, one.init, one.state) for one in found] == [
        ("fetch", True, "terminated"),
        ("main", False, "waiting"),
    ]
    assert found[0].ended["exitCode"] == 9
    assert found[0].has_log
    assert not found[1].has_log


def test_a_restarted_container_remembers_how_it_ended() -> None:
    running = [
        one
        for pod in views("deployment-oom")
        for one in pods.containers(pod)
        if one.state == "running" and one.restarts == 1
    ]
    assert running
    assert running[0].ended["reason"] == "OOMKilled"
    assert running[0].exit_code is None


def test_a_pod_without_status_is_pending() -> None:
    pod = {"metadata": {"name": "x"}, "spec": {"containers": [{"name": "main", "image": "i"}]}}
    (one,) = pods.containers(pod)
    assert (one.state, one.reason, one.restarts, one.has_log) == ("waiting", "", 0, False)
    assert (pods.phase(pod), pods.node(pod), pods.unschedulable(pod)) == ("Pending", None, None)


def test_unschedulable_is_the_schedulers_word() -> None:
    said = pods.unschedulable(views("job-unschedulable")[-1])
    assert said is not None
    assert "Insufficient cpu" in said
    assert pods.unschedulable(views("job-succeeds")[-1]) is None


def test_requests_are_numbers_and_limits_count_where_requests_are_silent() -> None:
    resources = {
        "requests": {"cpu": "500m"},
        "limits": {"cpu": "2", "memory": "1Gi", "nvidia.com/gpu": "1"},
    }
    pod = {
        "spec": {
            "containers": [{"name": "a", "resources": resources}, {"name": "b", "resources": resources}, {"name": "c"}]
        }
    }
    assert pods.requests(pod) == {"cpu": 1.0, "memory": 2.0 * 2**30, "nvidia.com/gpu": 2.0}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("job-succeeds", "1 succeeded"),
        ("job-image-never", "1 pending (ErrImageNeverPull)"),
        ("job-unschedulable", "1 pending (Unschedulable)"),
        ("job-crash-loop", "1 running"),
    ],
)
def test_describe(name: str, said: str) -> None:
    assert pods.describe(views(name)[-1:]) == said


def test_describe_counts() -> None:
    everything = [views("job-succeeds")[-1], views("job-image-never")[-1], views("job-secret-missing")[-1]]
    assert pods.describe(everything) == "2 pending (CreateContainerConfigError, ErrImageNeverPull), 1 succeeded"
    assert pods.describe([]) == ""


def test_a_new_view_of_a_pod_is_looked_at_anew() -> None:
    first = pod("x", waits("ContainerCreating"))
    assert [one.state for one in pods.containers(first)] == ["waiting"]
    assert pods.containers(first) is pods.containers(first)
    second = pod("x", runs())
    assert [one.state for one in pods.containers(second)] == ["running"]
    assert [one.state for one in pods.containers(first)] == ["waiting"]
