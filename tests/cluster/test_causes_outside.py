# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""What comes from outside of a workload: admission, preemption, spot instances, Karpenter; on a real API server.

Admission, eviction and preemption are the cluster's own; what Karpenter would write there is written by the test.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import outsiders
import pytest
from followed import Act, Found, follow_all
from outsiders import NO_CAPACITY, NO_POOL, NO_SUBNET
from plays import until
from recorded_workloads import SLEEP, job, mpi, pod
from refusing import POLICY, SILENCE, WEBHOOK, refused, refusing
from samples import Json
from space import Space

pytestmark = pytest.mark.cluster


def _device(space: Space, name: str) -> str:
    """Return a resource that no other namespace's pods ask for."""
    return f"{space.namespace}.example.com/{name}"


def _asking(space: Space, device: str, script: str = "true", **more: str) -> Json:
    amount = {_device(space, device): "1"}
    return pod(script, resources={"requests": amount, "limits": amount}, pod_more=more)


def _workloads(space: Space) -> list[Json]:
    low = {"priorityClassName": f"{space.namespace}-low"}
    return [
        job("denied", refused(pod("true"), POLICY)),
        mpi("ranks", pod("true"), refused(pod("true"), WEBHOOK)),
        job("unanswered", refused(pod("true"), SILENCE)),
        job("yields", _asking(space, "slot", f"trap 'exit 143' TERM; {SLEEP}", **low)),
        job("spot", pod(f"trap 'exit 143' TERM; {SLEEP}")),
        job("unlaunched", _asking(space, "launch")),
        job("exhausted", _asking(space, "capacity")),
        job("unmatched", _asking(space, "pool")),
    ]


def _priority(space: Space, name: str, value: int) -> Json:
    metadata = {"name": f"{space.namespace}-{name}"}
    return {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": metadata, "value": value}


def _pod_of(space: Space, name: str, *phases: str) -> Json:
    def look() -> list[Json]:
        found = space.get("pods", "-l", f"batch.kubernetes.io/job-name={name}")
        return [one for one in found if one["status"].get("phase") in phases]

    return until(look, f"the pod of {name} is {' or '.join(phases)}")[0]


def _preempt(space: Space) -> None:
    """Let somebody more important ask for what the Job `yields` has."""
    _pod_of(space, "yields", "Running")
    more = {"priorityClassName": f"{space.namespace}-high"}
    space.apply(job("important", _asking(space, "slot", **more)))


def _interrupt(space: Space) -> None:
    """Take the spot instance under the Job `spot` back: Karpenter says so, and drains the node."""
    found = _pod_of(space, "spot", "Running")
    outsiders.interrupted(space, found)
    space.evict(found["metadata"]["name"])


def _mismatch(space: Space) -> None:
    outsiders.no_pool(space, _pod_of(space, "unmatched", "Pending"))


_ACTS: tuple[Act, ...] = (_preempt, _interrupt, _mismatch)
# What is looked up and said now and then; whoever waits for it here has heard all there is.
_AWAITED = {"unlaunched": "Karpenter brings node", "exhausted": "Karpenter got no node", "unmatched": NO_POOL}


def _offer(space: Space, amount: int | None) -> None:
    """Let the node have one slot, or none."""
    (node, *_) = space.names("nodes")
    slots = {_device(space, "slot"): None if amount is None else str(amount)}
    change = json.dumps({"status": {"capacity": slots, "allocatable": slots}})
    space.kubectl("patch", "node", node, "--subresource=status", "--type=merge", "-p", change)


@pytest.fixture(scope="module")
def found(module_space: Space) -> Iterator[dict[str, Found]]:
    """Return what each workload came to."""
    space = module_space
    priorities = [_priority(space, "low", 1), _priority(space, "high", 1000)]
    try:
        with refusing(space), outsiders.claims(space):
            _offer(space, 1)
            outsiders.launch_failed(space, _device(space, "launch"))
            outsiders.no_capacity(space)
            workloads = _workloads(space)
            yield follow_all(space, priorities, workloads, acts=_ACTS, awaited=_AWAITED, waiting=("unanswered",))
    finally:
        _offer(space, None)
        for one in priorities:
            space.kubectl("delete", "priorityclass", one["metadata"]["name"], "--ignore-not-found")


@pytest.mark.slow
def test_a_policy_that_denies_the_pods_is_quoted(found: dict[str, Found]) -> None:
    denied = found["denied"]
    assert denied.told == ("failed", "AdmissionDenied", "admission")
    assert denied.cause["object"] == "Job/denied"
    assert "denied request: GPUs are for the night" in denied.cause["message"]


def test_a_webhook_that_denies_the_workers_of_an_mpi_job_is_quoted(found: dict[str, Found]) -> None:
    ranks = found["ranks"]
    assert ranks.told == ("failed", "AdmissionDenied", "admission")
    assert ranks.cause["object"] == "MPIJob/ranks"
    assert f'admission webhook "{WEBHOOK}.example.com" denied the request: no team label' in ranks.cause["message"]


def test_a_webhook_that_does_not_answer_is_waited_for_and_named(found: dict[str, Found]) -> None:
    one = found["unanswered"]
    assert one.told == ("timed_out", "PendingTimeout", "timeout")
    assert "Job/unanswered: WebhookUnreachable: Error creating: " in one.waited_for
    assert f'failed calling webhook "{SILENCE}.example.com"' in one.waited_for
    assert "WebhookUnreachable" in one.cause["message"]


def test_a_job_that_the_scheduler_preempts_says_so(found: dict[str, Found]) -> None:
    yields = found["yields"]
    assert yields.told == ("failed", "PreemptionByScheduler", "preempted")
    assert "a pod of higher priority took its place on node" in yields.cause["message"]


def test_a_spot_instance_that_is_taken_back_is_told_from_an_eviction(found: dict[str, Found]) -> None:
    spot = found["spot"]
    assert spot.told == ("failed", "SpotInterrupted", "node_lost")
    assert "EC2 took its spot instance" in spot.cause["message"]


def test_a_node_that_karpenter_cannot_launch_says_why(found: dict[str, Found], module_space: Space) -> None:
    named = f"{module_space.namespace} (p5.48xlarge, on-demand)"
    assert f"Karpenter brings node {named}: it is being launched: {NO_SUBNET}." in found["unlaunched"].waited_for


def test_capacity_that_ec2_does_not_have_is_told(found: dict[str, Found]) -> None:
    said = f"Karpenter got no node: InsufficientCapacityError: NodeClaim default-7xk2q event: {NO_CAPACITY}"
    assert said in found["exhausted"].waited_for


def test_a_pod_that_no_node_pool_fits_is_told_which_and_why(found: dict[str, Found]) -> None:
    assert f"Karpenter brings no node: {NO_POOL}" in found["unmatched"].waited_for
