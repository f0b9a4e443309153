"""Why a step waits, in sentences, from what is watched and what was fetched."""

from __future__ import annotations

import math
import typing as t
from dataclasses import replace

import pytest
from fakes.built import rules, workload
from fakes.made import BEGIN, Document, condition, container, pod, runs, stamp, waits, warning
from fakes.replay import drive, ticks

from ansible_collections.mlops.eks.plugins.module_utils._diagnose.capacity import Capacity
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.causes import GracePeriods
from ansible_collections.mlops.eks.plugins.module_utils._follow import changes, pending
from ansible_collections.mlops.eks.plugins.module_utils._follow.state import State
from ansible_collections.mlops.eks.plugins.module_utils._kube import fit
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.table import KINDS

GPUS = "0/12 nodes are available: 8 Insufficient nvidia.com/gpu, 4 node(s) had untolerated taint(s)."
TAIL = " no new claims to deallocate, preemption: 0/12 nodes are available: 12 Preemption is not helpful."


def waiting(*found: Document, events: tuple[Document, ...] = (), context: tuple[Document, ...] = ()) -> State:
    """Return the state of a Job that has waited for ten seconds with these pods."""
    seen: list[changes.Change] = [workload(0)]
    seen += [changes.PodSeen(at=BEGIN + 1, entry=one) for one in found]
    seen += [changes.EventSeen(at=BEGIN + 2, entry=one) for one in events]
    seen += [changes.ContextSeen(at=BEGIN + 3, entries=context), *ticks(BEGIN + 3, 7)]
    return drive(seen, rules())[0]


def unscheduled(name: str = "digits-x", said: str = GPUS + TAIL, **more: t.Any) -> Document:
    found = condition("PodScheduled", "False", 1, reason="Unschedulable", message=said)
    resources = {"limits": {"nvidia.com/gpu": "8"}}
    spec = {"containers": [{"name": "main", "image": "i", "resources": resources}], **more}
    return pod(name, phase="Pending", node=None, conditions=[found], spec=spec)


def claim(name: str = "data", phase: str = "Pending") -> Document:
    spec = {"storageClassName": "gp3"}
    return {"kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": spec, "status": {"phase": phase}}


def about(kind: str, name: str, reason: str, message: str) -> Document:
    return {**warning(reason, f"{kind}/{name}", message), "kind": "Event"}


def node_claim(*stages: tuple[str, str, str, str], device: str = "nvidia.com/gpu") -> Document:
    labels = {"node.kubernetes.io/instance-type": "p5.48xlarge", "karpenter.sh/capacity-type": "spot"}
    found = [condition(kind, state, 1, reason=reason, message=said) for kind, state, reason, said in stages]
    spec = {"resources": {"requests": {"cpu": "4", device: "8"}}}
    metadata = {"name": "gpu-7xk2q", "labels": labels}
    return {"kind": "NodeClaim", "metadata": metadata, "spec": spec, "status": {"conditions": found}}


# The scheduler


def test_the_numbers_of_the_scheduler_without_its_afterthoughts() -> None:
    assert waiting(unscheduled()).why == f"Its pod has no node: {GPUS}"


def test_several_pods_are_counted() -> None:
    found = [unscheduled("digits-0"), unscheduled("digits-1"), pod("digits-2", runs())]
    state = waiting(*found)
    assert state.why.startswith("2 of 3 pods have no node: 0/12 nodes are available")


def test_scheduling_gates_are_named() -> None:
    gated = pod("digits-x", phase="Pending", node=None, spec={"schedulingGates": [{"name": "kueue.x-k8s.io/topology"}]})
    assert waiting(gated).why == "Its pod has scheduling gates: kueue.x-k8s.io/topology."
    assert pending.to_fetch(waiting(gated)) == {"queue"}


# Karpenter: conditions as in kubernetes-sigs/karpenter pkg/controllers/nodeclaim/lifecycle


@pytest.mark.parametrize(
    ("stages", "expected"),
    [
        ([("Launched", "Unknown", "AwaitingReconciliation", "object is awaiting")], "is being launched."),
        (
            [("Launched", "Unknown", "LaunchFailed", "no subnets found")],
            "is being launched: no subnets found.",
        ),
        (
            [("Launched", "True", "", ""), ("Registered", "Unknown", "NodeNotFound", "Node not registered")],
            "is launched, but has not joined the cluster.",
        ),
        (
            [
                ("Launched", "True", "", ""),
                ("Registered", "True", "", ""),
                (
                    "Initialized",
                    "Unknown",
                    "ResourceNotRegistered",
                    'Resource "nvidia.com/gpu" was requested but not registered',
                ),
            ],
            "has joined the cluster, but is not initialized: "
            'Resource "nvidia.com/gpu" was requested but not registered.',
        ),
    ],
    ids=["launching", "launch failed", "not registered", "not initialized"],
)
def test_a_node_that_karpenter_brings(stages: list[tuple[str, str, str, str]], expected: str) -> None:
    state = waiting(unscheduled(), context=(node_claim(*stages),))
    assert state.why == (
        f"Its pod has no node: {GPUS} Karpenter brings node gpu-7xk2q (p5.48xlarge, spot): it {expected}"
    )


def test_a_node_for_others_is_not_ours() -> None:
    assert "Karpenter" not in waiting(unscheduled(), context=(node_claim(device="aws.amazon.com/neuron"),)).why


def test_karpenter_finds_no_capacity() -> None:
    event = about("NodeClaim", "gpu-1", "InsufficientCapacityError", "NodeClaim gpu-1 event: all requested types")
    said = waiting(unscheduled(), context=(event,)).why
    assert said.endswith(
        "Karpenter got no node: InsufficientCapacityError: NodeClaim gpu-1 event: all requested types."
    )


def test_a_launch_that_failed_long_before_was_for_others() -> None:
    event = about("NodeClaim", "gpu-1", "InsufficientCapacityError", "NodeClaim gpu-1 event: all requested types")
    event["lastTimestamp"] = stamp(-301)
    assert "Karpenter" not in waiting(unscheduled(), context=(event,)).why


def test_karpenter_cannot_help() -> None:
    said = 'Failed to schedule pod, incompatible with nodepool "default", did not tolerate gpu=true:NoSchedule'
    state = waiting(unscheduled(), events=(warning("FailedScheduling", "Pod/digits-x", said, 2),))
    assert state.why.endswith('Karpenter brings no node: incompatible with nodepool "default", did not tolerate '
                              "gpu=true:NoSchedule.")  # fmt: skip


@pytest.mark.parametrize(("launched", "told"), [(2, "brings no node"), (1, "brings no node"), (3, "got no node")])
def test_the_last_event_of_karpenter_counts_and_at_equal_times_that_about_our_pod(launched: float, told: str) -> None:
    said = "Failed to schedule pod, did not tolerate gpu=true:NoSchedule"
    launch = about("NodeClaim", "gpu-1", "InsufficientCapacityError", "NodeClaim gpu-1 event: all requested types")
    launch["lastTimestamp"] = stamp(launched)
    ours = warning("FailedScheduling", "Pod/digits-x", said, 2)
    assert f"Karpenter {told}" in waiting(unscheduled(), events=(ours,), context=(launch,)).why


# Volumes

MOUNTS = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
UNBOUND = "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims."


def test_a_claim_that_is_not_bound() -> None:
    event = about("PersistentVolumeClaim", "data", "ProvisioningFailed", 'storageclass "gp3" not found')
    state = waiting(unscheduled(said=UNBOUND, volumes=MOUNTS), context=(claim(), claim("other"), event))
    assert state.why.endswith('Claim data (storage class gp3) is not bound: storageclass "gp3" not found.')
    assert "other" not in state.why


def test_a_claim_that_waits_for_its_pod_is_not_the_reason() -> None:
    event = about("PersistentVolumeClaim", "data", "WaitForFirstConsumer", "waiting for first consumer")
    state = waiting(unscheduled(volumes=MOUNTS), context=(claim(), event))
    assert state.why == f"Its pod has no node: {GPUS}"


def test_a_volume_that_cannot_be_attached() -> None:
    said = 'Multi-Attach error for volume "pvc-1" Volume is already used by pod(s) other-0'
    creating = pod("digits-x", waits("ContainerCreating"), phase="Pending")
    state = waiting(creating, events=(warning("FailedAttachVolume", "Pod/digits-x", said, 2),))
    assert state.why == f"Pod/digits-x waits for a volume: MultiAttach: {said}."


# Quotas and admission


def test_a_quota_with_what_is_used_of_it_now() -> None:
    said = 'Error creating: pods "digits-x" is forbidden: exceeded quota: gpus, requested: requests.cpu=4'
    hard, used = {"requests.cpu": "8"}, {"requests.cpu": "6"}
    quota = {"kind": "ResourceQuota", "metadata": {"name": "gpus"}, "status": {"hard": hard, "used": used}}
    state = waiting(events=(warning("FailedCreate", "Job/digits", said, 2),), context=(quota,))
    assert pending.to_fetch(state) == {"quotas"}
    assert state.why == f"Job/digits: ExceededQuota: {said}; now quota gpus has used 6 of 8 requests.cpu."


def test_a_controller_that_has_created_nothing() -> None:
    assert waiting().why == "No pod of it exists yet: its controller has not created any."


# Kueue


def test_a_queue_that_holds_it_back() -> None:
    state = waiting()
    entry = {**t.cast(Document, state.workload), "metadata": {"name": "digits", "uid": "u-1"}}
    said = "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu"
    held = {
        "kind": "Workload",
        "metadata": {"name": "job-digits", "ownerReferences": [{"uid": "u-1"}]},
        "spec": {"queueName": "team-a", "active": True},
        "status": {"conditions": [condition("QuotaReserved", "False", 1, reason="Pending", message=said)]},
    }
    found = pending.why(replace(state, workload=entry, context=(held,)), rules())
    assert "insufficient unused quota for nvidia.com/gpu" in found
    assert "team-a" in found


def test_a_suspended_workload_is_asked_about_at_its_queue() -> None:
    state, _ = drive([workload(0, "Suspended"), *ticks(BEGIN, 10)], rules())
    assert pending.to_fetch(state) == {"queue"}
    assert state.why == "It is suspended and runs once it is resumed."


def deactivated(*, active: bool) -> Document:
    """The Workload of `digits`, made by a person to wait."""
    why = condition("Evicted", "True", 1, reason="Deactivated", message="The workload is deactivated")
    owned = {"name": "job-digits", "ownerReferences": [{"uid": "u-1"}]}
    return {"kind": "Workload", "metadata": owned, "spec": {"active": active}, "status": {"conditions": [why]}}


def test_what_kueue_gave_up_fails_in_the_end() -> None:
    metadata = {"name": "digits", "uid": "u-1"}
    given_up = changes.ContextSeen(at=BEGIN + 7, entries=(deactivated(active=False),))
    seen = [workload(0, "Suspended", metadata=metadata), *ticks(BEGIN, 7), given_up]
    state, _ = drive([*seen, *ticks(BEGIN + 7, 299, every=5)], rules())
    assert state.ending is None
    failed = drive(ticks(BEGIN + 300, 10), rules(), state)[0].ending
    assert failed is not None
    assert failed.cause is not None
    assert (failed.outcome, failed.cause.reason, failed.cause.category) == ("failed", "Deactivated", "scheduling")
    assert "Kueue has deactivated it and will not try again" in failed.cause.message

    again = changes.ContextSeen(at=BEGIN + 300, entries=(deactivated(active=True),))
    assert drive([again, *ticks(BEGIN + 300, 400, every=5)], rules(), state)[0].ending is None
    runs_now = workload(300, metadata=metadata, status={"ready": 1})
    assert drive([runs_now, *ticks(BEGIN + 300, 400, every=5)], rules(), state)[0].ending is None


# Starting


def test_an_init_container_that_runs() -> None:
    found = pod("digits-x", waits("PodInitializing"), phase="Pending", init=(container("fetch", runs(1)),))
    assert waiting(found).why == "Init container fetch of Pod/digits-x runs."


def test_a_pod_on_its_node() -> None:
    found = pod("digits-x", waits("ContainerCreating"), phase="Pending")
    assert waiting(found).why == "Its pod has a node; images and volumes are being prepared."


def test_a_server_that_is_not_ready() -> None:
    # A server is pending until it answers.
    labels = {"pod-template-hash": "1"}
    server = KINDS["apps/v1", "Deployment"]
    alive = pod("digits-1-x", runs(), labels=labels, conditions=[condition("Ready", "False", 1)])
    said = "Readiness probe failed: HTTP probe failed with statuscode: 503"
    state, _ = drive(
        [
            workload(0, kind="Deployment", spec={"replicas": 1}, status={}),
            changes.PodSeen(at=BEGIN + 1, entry=alive),
            changes.EventSeen(at=BEGIN + 2, entry=warning("Unhealthy", "Pod/digits-1-x", said, 2)),
        ],
        rules(kind=server),
    )
    assert pending.why(state, rules(kind=server)) == f"Pod/digits-1-x is not ready: {said}."


# When it is said


def test_nothing_is_explained_in_the_first_seconds() -> None:
    state, said = drive([workload(0), *ticks(BEGIN, 4)], rules())
    assert (state.why, said) == ("", [])


def test_it_is_said_once_and_again_only_when_it_changes() -> None:
    first, second = unscheduled(), unscheduled(said="0/13 nodes are available: 13 Insufficient cpu.")
    seen = [workload(0), changes.PodSeen(at=BEGIN, entry=first), *ticks(BEGIN, 30)]
    seen += [changes.PodSeen(at=BEGIN + 30, entry=second), *ticks(BEGIN + 30, 30)]
    _, said = drive(seen, rules())
    assert [line for line in said if ": pending: " in line] == [
        f"Job digits: pending: Its pod has no node: {GPUS}",
        "Job digits: pending: Its pod has no node: 0/13 nodes are available: 13 Insufficient cpu.",
    ]


def test_nothing_is_said_or_asked_once_it_runs() -> None:
    state, _ = drive(
        [workload(0), changes.PodSeen(at=BEGIN, entry=pod("digits-x", runs())), *ticks(BEGIN, 60)], rules()
    )
    assert state.why == ""
    assert not pending.is_waiting(state, BEGIN + 60)


def test_a_running_leader_does_not_hide_workers_that_wait() -> None:
    found = [pod("digits-0", runs()), unscheduled("digits-1")]
    assert waiting(*found).why == f"1 of 2 pods has no node: {GPUS}"


def test_a_timeout_says_why() -> None:
    seen = [workload(0), changes.PodSeen(at=BEGIN, entry=unscheduled()), *ticks(BEGIN, 60)]
    state, _ = drive(seen, rules(timeout=55))
    assert GPUS in str(t.cast(t.Any, state.ending).cause)


def test_why_it_waits_is_said_again_every_five_minutes_and_not_with_every_heartbeat() -> None:
    seen = [workload(0), changes.PodSeen(at=BEGIN, entry=unscheduled()), *ticks(BEGIN, 1300)]
    state, said = drive(seen, rules(heartbeat=60))
    assert state.ending is None
    why = f"Job digits: pending: Its pod has no node: {GPUS}"
    assert said.count(why) == 5
    assert [line for line in said if GPUS in line] == [why] * 5
    assert len([line for line in said if line.startswith("Job digits: pending for ")]) >= 12
    silent = drive(seen, rules(heartbeat=math.inf))[1]
    assert silent.count(why) == 5
    assert not [line for line in silent if "pending for" in line]


# What nothing could ever run


def offered(**more: t.Any) -> changes.Change:
    """Return a look at a cluster of one node that has no device."""
    metadata = {"name": "node-a", "creationTimestamp": stamp(-86400)}
    node = {"metadata": metadata, "spec": {}, "status": {"allocatable": {"cpu": "4", "pods": "110"}}}
    found = Capacity(nodes=(fit.of_node(node, BEGIN),), **more)
    return changes.CapacitySeen(at=BEGIN + 6, capacity=found)


KEPT = (
    "no node could run it, even empty: it asks for 8 nvidia.com/gpu, but there is none (1 node). "
    "There is no NodePool of Karpenter and no cluster autoscaler that could make one."
)


def test_what_nothing_could_ever_run_fails_after_its_grace_and_says_why() -> None:
    seen = [workload(0), changes.PodSeen(at=BEGIN, entry=unscheduled()), offered(), *ticks(BEGIN + 6, 59)]
    state, said = drive(seen, rules())
    assert state.ending is None
    assert any(KEPT in line for line in said)
    state, _ = drive(ticks(BEGIN + 65, 2), rules(), state)
    cause = t.cast(t.Any, state.ending).cause
    assert (cause.reason, cause.category, cause.object) == ("NoMatchingNode", "scheduling", "Pod/digits-x")
    assert cause.message == KEPT
    assert "infeasible_grace" in cause.remedy


@pytest.mark.parametrize(
    "seen",
    [
        [changes.CapacitySeen(at=BEGIN + 6, capacity=None)],
        [offered(pools=(fit.of_pool({"metadata": {"name": "gpu"}, "spec": {}}),))],
        [offered(), changes.PodSeen(at=BEGIN + 30, entry=pod("digits-x", runs()))],
        [offered(), changes.CapacitySeen(at=BEGIN + 40, capacity=None)],
        [changes.PodSeen(at=BEGIN + 1, entry=pod("digits-0", runs())), offered()],
        [],
    ],
    ids=["unknown", "a pool may", "it got a node", "it may come", "others had nodes", "not looked at"],
)
def test_what_may_still_get_a_node_waits(seen: list[changes.Change]) -> None:
    first = [workload(0), changes.PodSeen(at=BEGIN, entry=unscheduled())]
    assert drive([*first, *seen, *ticks(BEGIN + 41, 10_000, every=10)], rules())[0].ending is None


@pytest.mark.parametrize("more", [{"grace": GracePeriods(infeasible=math.inf)}, {"had_nodes": True}])
def test_a_grace_of_none_and_an_attempt_that_had_nodes_wait(more: t.Any) -> None:
    seen = [workload(0), changes.PodSeen(at=BEGIN, entry=unscheduled()), offered(), *ticks(BEGIN + 6, 10_000, every=10)]
    assert drive(seen, rules(**more))[0].ending is None


def test_workers_that_nothing_could_run_do_not_end_a_leader_that_runs() -> None:
    mpi = KINDS["kubeflow.org/v2beta1", "MPIJob"]
    roles = [{"training.kubeflow.org/job-role": role} for role in ("launcher", "worker")]
    launcher, worker = pod("digits-launcher", runs(), labels=roles[0]), unscheduled("digits-worker-0")
    worker["metadata"]["labels"] = roles[1]
    both = [changes.PodSeen(at=BEGIN, entry=one) for one in (launcher, worker)]
    seen = [workload(0, kind="MPIJob"), *both, offered(), *ticks(BEGIN + 6, 1000)]
    state, _ = drive(seen, rules(kind=mpi))
    assert state.ending is None
    assert KEPT in state.why


# The cluster autoscaler: cluster-autoscaler/processors/status/eventing_scale_up_processor.go


@pytest.mark.parametrize(
    ("reason", "message", "told"),
    [
        (
            "NotTriggerScaleUp",
            "pod didn't trigger scale-up: 1 max node group size reached",
            "The cluster autoscaler adds no node: 1 max node group size reached.",
        ),
        (
            "TriggeredScaleUp",
            "pod triggered scale-up: [{eks-gpu 0->1 (max: 4)}]",
            "The cluster autoscaler makes a group larger: [{eks-gpu 0->1 (max: 4)}].",
        ),
    ],
)
def test_events_of_the_cluster_autoscaler_about_our_pods(reason: str, message: str, told: str) -> None:
    assert waiting(unscheduled(), context=(about("Pod", "digits-x", reason, message),)).why.endswith(told)
    assert "autoscaler" not in waiting(unscheduled(), context=(about("Pod", "another", reason, message),)).why
