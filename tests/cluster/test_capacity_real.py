# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Work that waits for nodes: for what is taken it waits, for what nothing could ever give it fails within a minute.

On a cluster of its own: what is there, and what left a short while ago, decides for every pod.
"""

from __future__ import annotations

import json
import time
import typing as t
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import outsiders
import pytest
from plays import until
from recorded_workloads import SLEEP, job, pod
from samples import Json
from samples import job as recipe
from space import Space, fresh

from ansible_collections.mlops.eks.plugins.module_utils._engine.entrypoints import workload_wait
from ansible_collections.mlops.eks.plugins.module_utils._plan.argspec import FOLLOW

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

SLOT = "example.com/slot"
# Seconds for what nothing could ever run, and, much longer, for all that is pending; the first test has the default.
GRACE, LIMIT = 5.0, 30.0
TAINT = {"key": "rack", "value": "a", "effect": "NoSchedule"}
TOLERATION = {"key": "rack", "operator": "Exists"}
POOL = {
    "metadata": {"name": "racks"},
    "spec": {
        "limits": {"cpu": "64"},
        "template": {"metadata": {"labels": {"team": "a"}}, "spec": {"taints": [TAINT]}},
    },
}


@pytest.fixture(scope="module")
def alone(second_cluster: t.Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Space]:
    """Return a namespace on a cluster whose only node has one slot."""
    with fresh(second_cluster.kubeconfig, tmp_path_factory.mktemp("alone"), host="west") as space:
        _forget_nodes(space)
        slots = {SLOT: "1"}
        change = json.dumps({"status": {"capacity": slots, "allocatable": slots}})
        space.kubectl("patch", "node", *space.names("nodes"), "--subresource=status", "--type=merge", "-p", change)
        yield space


def _forget_nodes(space: Space) -> None:
    """Forget the nodes that left while other tests ran."""
    space.kubectl("delete", "events", "--namespace", "default", "--field-selector", "reason=RemovingNode")


@pytest.fixture
def rack(alone: Space) -> Iterator[Space]:
    """Let there be a tainted node in rack a, which no kubelet stands behind."""
    metadata = {"name": "rack", "labels": {"rack": "a"}}
    has = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    alone.apply({"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": {"taints": [TAINT]}})
    change = json.dumps({"status": {"capacity": has, "allocatable": has}})
    alone.kubectl("patch", "node", "rack", "--subresource=status", "--type=merge", "-p", change)
    yield alone
    alone.kubectl("delete", "node", "rack")
    until(lambda: alone.get("events", "--namespace", "default", "--field-selector", "reason=RemovingNode"), "it left")
    _forget_nodes(alone)


def _asks(name: str, script: str = "true", *, cpu: str = "10m", device: str = "", **more: t.Any) -> Json:
    devices = {device: "1"} if device else {}
    resources = {"requests": {"cpu": cpu, **devices}, "limits": devices}
    return job(name, pod(script, resources=resources, pod_more=more))


def _follow(space: Space, workload: Json, **limits: float) -> tuple[Json, list[str]]:
    """Follow a workload with a short `infeasible_grace`, and return its result and the lines printed."""
    lines: list[str] = []
    params = {
        **{key: row.get("default") for key, row in FOLLOW.items()},
        "kubeconfig": space.kubeconfig,
        "context": None,
        "namespace": space.namespace,
        "api_retry_timeout": 60.0,
        "name": workload["metadata"]["name"],
        "kind": "Job",
        "api_version": "batch/v1",
        "runs_dir": str(space.runs),
        "infeasible_grace": GRACE,
        **limits,
    }
    return t.cast(Json, workload_wait(params, cluster=space.host, say=lines.append)), lines


def _follow_all(space: Space, *workloads: Json) -> dict[str, Json]:
    """Follow them at the same time, each for as long as nobody should wait in vain; return their results by name."""
    for one in workloads:
        space.apply(one)
    with ThreadPoolExecutor(len(workloads)) as pool:
        found = list(pool.map(lambda one: _follow(space, one, pending_timeout=LIMIT)[0], workloads))
    return {one["metadata"]["name"]: result for one, result in zip(workloads, found, strict=True)}


def _came_to(result: Json) -> tuple[str, str]:
    return result["outcome"], result["cause"]["reason"]


def test_more_than_any_node_has_fails_after_a_minute_and_says_what_there_is(alone: Space) -> None:
    greedy = recipe("echo never") | {"resources": {"requests": {"cpu": "1000", "memory": "16Mi"}}}
    shown = alone.task("helm_step", None, release="greedy", chart="data-prep/data-process", values=greedy)

    (node,) = alone.get("nodes")
    cores = node["status"]["allocatable"]["cpu"]
    record = next(one for one in map(json.loads, _records(alone)) if one["step"] == "greedy")
    assert (record["outcome"], record["cause"]["reason"]) == ("failed", "NoMatchingNode")
    assert f"it asks for 1000 cpu, but there is at most {cores} (1 node)." in record["cause"]["message"]
    assert "There is no NodePool of Karpenter and no cluster autoscaler" in record["cause"]["message"]
    assert "'infeasible_grace: 0' waits for them" in " ".join(shown.split())
    took = next(one for one in record["phases"] if one["name"] == "queued")
    assert 60 <= _seconds(took) < 120
    assert alone.releases() == []


def _records(space: Space) -> list[str]:
    return [path.read_text(encoding="utf-8") for path in space.runs.glob("*/*/*/step.json")]


def _seconds(phase: Json) -> float:
    from ansible_collections.mlops.eks.plugins.module_utils._core.clock import from_iso

    return from_iso(phase["finished"]) - from_iso(phase["started"])


def test_what_is_taken_is_waited_for_explained_and_got(alone: Space) -> None:
    alone.apply(_asks("holds", SLEEP, device=SLOT))
    until(lambda: alone.get("pods", "--field-selector", "status.phase=Running"), "the slot is taken")
    wants = _asks("wants", device=SLOT)
    alone.apply(wants)
    with ThreadPoolExecutor(1) as pool:
        following = pool.submit(_follow, alone, wants)
        time.sleep(LIMIT)
        assert not following.done()
        alone.kubectl("delete", "job", "holds")
        result, lines = following.result(timeout=300)
    assert result["outcome"] == "succeeded"
    (why,) = {line.partition(": pending: ")[2] for line in lines if ": pending: " in line and "Insufficient" in line}
    assert f"Its pod has no node: 0/1 nodes are available: 1 Insufficient {SLOT}." in why


def test_a_taint_decides_and_a_node_that_is_not_ready_is_waited_for(rack: Space) -> None:
    chosen = {"nodeSelector": {"rack": "a"}}
    found = _follow_all(rack, _asks("intolerant", **chosen), _asks("tolerant", tolerations=[TOLERATION], **chosen))
    assert _came_to(found["intolerant"]) == ("failed", "NoMatchingNode")
    said = found["intolerant"]["cause"]["message"]
    assert "it does not tolerate the taint rack=a:NoSchedule (1 node)" in said
    assert "it wants a node with rack In a (1 node)" in said
    assert _came_to(found["tolerant"]) == ("timed_out", "PendingTimeout")


def test_a_node_pool_that_could_make_a_node_is_waited_for(alone: Space) -> None:
    chosen = {"nodeSelector": {"team": "a"}, "tolerations": [TOLERATION]}
    with outsiders.pools(alone, POOL):
        found = _follow_all(
            alone,
            _asks("pooled", **chosen),
            _asks("large", cpu="1000", **chosen),
            _asks("misplaced", nodeSelector={"team": "b"}),
        )
    assert _came_to(found["pooled"]) == ("timed_out", "PendingTimeout")
    assert {_came_to(found[name]) for name in ("large", "misplaced")} == {("failed", "NoMatchingNode")}
    assert (
        "Karpenter cannot make one (racks): it asks for 1000 cpu, but there is at most 64 (1 NodePool)."
        in (found["large"]["cause"]["message"])
    )
    assert "it wants a node with team In b (1 NodePool)" in found["misplaced"]["cause"]["message"]


def test_where_a_cluster_autoscaler_is_at_work_it_waits(alone: Space) -> None:
    status = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cluster-autoscaler-status"}}
    alone.apply(status)
    found = _follow_all(alone, _asks("grows", cpu="1000"))
    alone.kubectl("delete", "configmap", "cluster-autoscaler-status")
    assert _came_to(found["grows"]) == ("timed_out", "PendingTimeout")
