# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Why things fail and why they wait, in the words of a real cluster; all of it at once, since most of it is waiting."""

from __future__ import annotations

import typing as t
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest
from recorded_workloads import HOG, SLEEP, SMALL, container, job, mpi, pod
from samples import Json
from space import Space

from ansible_collections.mlops.eks.plugins.module_utils._step.argspec import FOLLOW
from ansible_collections.mlops.eks.plugins.module_utils._step.doors import workload_wait

pytestmark = pytest.mark.cluster

_DEVICE = "example.com/device"
_RANK_1_FILLS = f"case $HOSTNAME in *-worker-1) sleep 1; {HOG};; *) {SLEEP};; esac"
_CLAIM = {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "unbound"}}]}
_FETCH = {"initContainers": [{**container("echo no data; exit 9"), "name": "fetch"}]}
_LIVENESS = {"exec": {"command": ["sh", "-c", "echo no heartbeat; exit 1"]}, "periodSeconds": 1, "failureThreshold": 2}


def _workers_again(workload: Json) -> Json:
    workload["spec"]["mpiReplicaSpecs"]["Worker"]["restartPolicy"] = "OnFailure"
    return workload


WORKLOADS = (
    _workers_again(
        mpi("ranks", pod("sleep 6; echo 'write: broken pipe' >&2; exit 1"), pod(_RANK_1_FILLS, resources=SMALL))
    ),
    job("huge", pod("true", resources={"requests": {"cpu": "1000"}})),
    job("greedy", pod("true", resources={"requests": {_DEVICE: "2"}, "limits": {_DEVICE: "2"}})),
    job("homeless", pod("true", pod_more=_CLAIM)),
    job("uninitialized", pod("true", pod_more=_FETCH)),
    job("unhealthy", pod("trap '' TERM; sleep 600", livenessProbe=_LIVENESS)),
)
BEFORE: tuple[Json, ...] = (
    {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "devices"},
        "spec": {"hard": {f"requests.{_DEVICE}": "1"}},
    },
    {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "unbound"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "absent",
            "resources": {"requests": {"storage": "1Gi"}},
        },
    },
)


@dataclass(frozen=True, kw_only=True)
class Found:
    """What was returned and said of one workload."""

    outcome: str
    cause: Json
    lines: tuple[str, ...]

    @property
    def waited_for(self) -> str:
        """Why it waited, as it was said live."""
        return " ".join(line for line in self.lines if ": pending: " in line)


def _follow(space: Space, workload: Json) -> Found:
    lines: list[str] = []
    params = {
        **{key: row.get("default") for key, row in FOLLOW.items()},
        "kubeconfig": space.kubeconfig,
        "context": None,
        "namespace": space.namespace,
        "patience": 60.0,
        "name": workload["metadata"]["name"],
        "kind": workload["kind"],
        "api_version": workload["apiVersion"],
        "timeout": 120.0,
        "pending_timeout": 15.0,
        "unschedulable_grace": 10.0,
        "runs_dir": str(space.runs),
    }
    record = workload_wait(params, cluster=space.host, say=lines.append)
    return Found(outcome=record["outcome"], cause=t.cast(Json, record["cause"]), lines=tuple(lines))


@pytest.fixture(scope="module")
def found(module_space: Space) -> dict[str, Found]:
    """Return what each workload came to, followed all at the same time."""
    for entry in (*BEFORE, *WORKLOADS):
        module_space.apply(entry)
    with ThreadPoolExecutor(len(WORKLOADS)) as pool:
        results = pool.map(lambda workload: _follow(module_space, workload), WORKLOADS)
        return {workload["metadata"]["name"]: one for workload, one in zip(WORKLOADS, results, strict=True)}


def _told(one: Found) -> tuple[str, str, str]:
    return one.outcome, one.cause["reason"], one.cause["category"]


def test_the_rank_that_ran_out_of_memory_is_named_and_not_the_broken_pipe(found: dict[str, Found]) -> None:
    ranks = found["ranks"]
    assert _told(ranks) == ("failed", "OOMKilled", "memory")
    assert (ranks.cause["object"], ranks.cause["role"]) == ("Pod/ranks-worker-1", "worker-1")
    assert "its limit of 32Mi" in ranks.cause["message"]


def test_a_pod_without_a_node_waits_with_the_numbers_of_the_scheduler(found: dict[str, Found]) -> None:
    assert _told(found["huge"]) == ("failed", "Unschedulable", "scheduling")
    assert "Its pod has no node: 0/1 nodes are available: 1 Insufficient cpu." in found["huge"].waited_for


def test_a_full_quota_is_named_with_what_is_used_of_it(found: dict[str, Found]) -> None:
    greedy = found["greedy"]
    assert _told(greedy) == ("failed", "ExceededQuota", "quota")
    assert "exceeded quota: devices" in greedy.cause["message"]
    assert f"quota devices has used 0 of 1 requests.{_DEVICE}" in greedy.waited_for


def test_an_unbound_claim_is_named_with_its_storage_class(found: dict[str, Found]) -> None:
    homeless = found["homeless"]
    assert _told(homeless) == ("timed_out", "PendingTimeout", "timeout")
    assert "Claim unbound (storage class absent) is not bound" in homeless.waited_for
    assert '"absent" not found' in homeless.cause["message"]


def test_an_init_container_that_fails_is_named(found: dict[str, Found]) -> None:
    one = found["uninitialized"]
    assert (*_told(one), one.cause["container"]) == ("failed", "InitContainerFailed", "init", "fetch")
    assert one.cause["log_tail"] == ["no data"]


def test_a_container_killed_for_its_liveness_probe_says_what_the_probe_said(found: dict[str, Found]) -> None:
    one = found["unhealthy"]
    assert _told(one) == ("failed", "LivenessProbeFailed", "probe")
    assert "no heartbeat" in one.cause["message"]
