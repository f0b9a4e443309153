# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Why things fail and why they wait, in the words of a real cluster; all of it at once, since most of it is waiting."""

from __future__ import annotations

import pytest
from followed import Found, follow_all
from plays import until
from recorded_workloads import SLEEP, SMALL, container, job, mpi, pod
from samples import Json
from space import Space

pytestmark = pytest.mark.cluster

_DEVICE = "example.com/device"
# Rank 1 runs out of memory once, while the launcher runs, which notices when rank 1 is there again. Not at once: of
# what happens just after the start containerd 1.6 does not always tell.
_RANK_1_FILLS = (
    f"case $HOSTNAME in *-worker-1) ;; *) {SLEEP};; esac; [ -e /meet/filled ] && touch /meet/again && {SLEEP}; "
    "until [ -e /meet/launcher ]; do sleep 0.1; done; sleep 5; touch /meet/filled; exec tail /dev/zero"
)
_NOTICED = "touch /meet/launcher; until [ -e /meet/again ]; do sleep 0.1; done; echo 'write: broken pipe' >&2; exit 1"
_MET = {"volumes": [{"name": "meet", "persistentVolumeClaim": {"claimName": "meet"}}]}
_AT_MEET = [{"name": "meet", "mountPath": "/meet"}]
_CLAIM = {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "unbound"}}]}
_FETCH = {"initContainers": [{**container("echo no data; exit 9"), "name": "fetch"}]}
# A probe that takes longer than its time-out, 1 s by default, is not heard.
_LIVENESS = {
    "exec": {"command": ["sh", "-c", "echo no heartbeat; exit 1"]},
    "periodSeconds": 1,
    "failureThreshold": 2,
    "timeoutSeconds": 60,
}


def _workers_again(workload: Json) -> Json:
    workload["spec"]["mpiReplicaSpecs"]["Worker"]["restartPolicy"] = "OnFailure"
    return workload


WORKLOADS = (
    _workers_again(
        mpi(
            "ranks",
            pod(_NOTICED, pod_more=_MET, volumeMounts=_AT_MEET),
            pod(_RANK_1_FILLS, pod_more=_MET, volumeMounts=_AT_MEET, resources=SMALL),
        )
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


@pytest.fixture(scope="module")
def found(module_space: Space) -> dict[str, Found]:
    """Return what each workload came to."""
    space = module_space
    space.share("meet")
    for entry in BEFORE:
        space.apply(entry)
    # Until then the API server refuses the pods in other words, and nobody says what is wrong with the claim.
    until(lambda: "used" in space.get("resourcequotas")[0].get("status", {}), "the quota is counted")
    until(lambda: space.get("events", "--field-selector", "involvedObject.name=unbound"), "the claim is judged")
    return follow_all(space, (), WORKLOADS, waiting=("homeless",))


def test_the_rank_that_ran_out_of_memory_is_named_and_not_the_broken_pipe(found: dict[str, Found]) -> None:
    ranks = found["ranks"]
    assert ranks.told == ("failed", "OOMKilled", "memory")
    assert (ranks.cause["object"], ranks.cause["role"]) == ("Pod/ranks-worker-1", "worker-1")
    assert "its limit of 32Mi" in ranks.cause["message"]


def test_a_pod_without_a_node_waits_with_the_numbers_of_the_scheduler(found: dict[str, Found]) -> None:
    assert found["huge"].told == ("failed", "Unschedulable", "scheduling")
    assert "Its pod has no node: 0/1 nodes are available: 1 Insufficient cpu." in found["huge"].waited_for


def test_a_full_quota_is_named_with_what_is_used_of_it(found: dict[str, Found]) -> None:
    greedy = found["greedy"]
    assert greedy.told == ("failed", "ExceededQuota", "quota")
    assert "exceeded quota: devices" in greedy.cause["message"]
    assert f"quota devices has used 0 of 1 requests.{_DEVICE}" in greedy.waited_for


def test_an_unbound_claim_is_named_with_its_storage_class(found: dict[str, Found]) -> None:
    homeless = found["homeless"]
    assert homeless.told == ("timed_out", "PendingTimeout", "timeout")
    assert "Claim unbound (storage class absent) is not bound" in homeless.waited_for
    assert '"absent" not found' in homeless.cause["message"]


def test_an_init_container_that_fails_is_named(found: dict[str, Found]) -> None:
    one = found["uninitialized"]
    assert (*one.told, one.cause["container"]) == ("failed", "InitContainerFailed", "init", "fetch")
    assert one.cause["log_tail"] == ["no data"]


def test_a_container_killed_for_its_liveness_probe_says_what_the_probe_said(found: dict[str, Found]) -> None:
    one = found["unhealthy"]
    assert one.told == ("failed", "LivenessProbeFailed", "probe")
    assert "no heartbeat" in one.cause["message"]
