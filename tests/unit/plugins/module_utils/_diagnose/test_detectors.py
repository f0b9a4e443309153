"""What keeps a step from going on, told apart by the words of kubelet, scheduler and API server."""

from __future__ import annotations

import math
import typing as t

import pytest
from fakes.made import Document, condition, container, ended, pod, runs, waits, warning

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import from_iso
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.causes import GracePeriods, Problem
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.detectors import Snapshot, problems
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.table import KINDS

JOB = KINDS["batch/v1", "Job"]
MPI = KINDS["kubeflow.org/v2beta1", "MPIJob"]
SERVER = KINDS["apps/v1", "Deployment"]
WAIT = GracePeriods(image=1, config=2, unschedulable=3, failure=4, volume=5)


def suspected(*pods: Document, events: tuple[Document, ...] = (), **more: t.Any) -> list[Problem]:
    named = {one["metadata"]["name"]: one for one in pods}
    scene = Snapshot(
        **{"kind": JOB, "workload": {"metadata": {}}, "pods": named, "warnings": events, "grace": WAIT, **more}
    )
    return list(problems(scene))


def one(*pods: Document, **more: t.Any) -> tuple[str, str, float]:
    (found,) = suspected(*pods, **more)
    return found.cause.reason, found.cause.category, found.grace


# Images: containerd's words as kubelet v1.35 repeats them

PULL = 'failed to pull and unpack image "r.example/a/b:1": failed to resolve reference "r.example/a/b:1": '


@pytest.mark.parametrize("reason", ["ErrImagePull", "ImagePullBackOff"])
@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("r.example/a/b:1: not found", "ImageNotFound"),
        ("pull access denied, repository does not exist or may require authorization", "ImageUnauthorized"),
        ("unexpected status from HEAD request to https://r.example/v2/a/b: 401 Unauthorized", "ImageUnauthorized"),
        ("failed to do request: Head https://r.example/v2: dial tcp 10.0.0.1:443: i/o timeout", "RegistryTimeout"),
        ("failed to do request: dial tcp: lookup r.example on 10.0.0.2:53: no such host", "RegistryNotFound"),
        ("429 Too Many Requests - toomanyrequests: You have reached your pull rate limit", "RegistryRateLimited"),
        ("failed to do request: dial tcp 127.0.0.1:1: connect: connection refused", "RegistryUnavailable"),
        ("unexpected status: 503 Service Unavailable", "RegistryUnavailable"),
        ("no match for platform in manifest", "ImagePlatform"),
        ("failed to extract layer: write /var/lib/x: no space left on device", "DiskFull"),
    ],
)
def test_image_pull(reason: str, said: str, expected: str) -> None:
    found = pod("x", waits(reason, PULL + said), phase="Pending")
    assert one(found) == (expected, "image_pull", 1)


def test_image_pull_in_the_words_of_the_event_when_the_kubelet_only_backs_off() -> None:
    backs_off = pod("x", waits("ImagePullBackOff", 'Back-off pulling image "registry/image:1"'), phase="Pending")
    event = warning("Failed", "Pod/x", 'Failed to pull image "registry/image:1": no such host')
    assert one(backs_off, events=(event,))[0] == "RegistryNotFound"
    assert one(backs_off)[0] == "ImagePullBackOff"


def test_a_repeated_image_pull_gives_the_same_message() -> None:
    said = PULL + "dial tcp 127.0.0.1:80: connect: connection refused"
    again = f'Back-off pulling image "registry/image:1": ErrImagePull: {said}'
    tries = (pod("x", waits("ErrImagePull", said)), pod("x", waits("ImagePullBackOff", again)))
    assert len({suspected(entry)[0].cause.message for entry in tries}) == 1


def test_images_that_no_waiting_brings() -> None:
    assert one(pod("x", waits("InvalidImageName", "bad"))) == ("InvalidImageName", "image_pull", 0)
    assert one(pod("x", waits("ErrImageNeverPull", "absent"))) == ("ErrImageNeverPull", "image_pull", 0)


def test_back_off_is_the_same_trouble_as_the_failed_pull() -> None:
    pulls, backs_off = (pod("x", waits(reason, "y")) for reason in ("ErrImagePull", "ImagePullBackOff"))
    assert suspected(pulls)[0].key == suspected(backs_off)[0].key


# Scheduling


def unscheduled(message: str, name: str = "x") -> Document:
    found = condition("PodScheduled", "False", 1, reason="Unschedulable", message=message)
    return pod(name, phase="Pending", node=None, conditions=[found])


def test_unschedulable_with_the_numbers_of_the_scheduler() -> None:
    said = "0/12 nodes are available: 8 Insufficient nvidia.com/gpu, 4 node(s) had untolerated taint(s)."
    (found,) = suspected(unscheduled(f"{said} preemption: 0/12 nodes are available: 12 Preemption is not helpful."))
    assert (found.cause.reason, found.cause.message, found.grace) == ("Unschedulable", said, 3)


def test_without_a_limit_nothing_is_final() -> None:
    (found,) = suspected(pod("x", waits("InvalidImageName", "bad")), grace=GracePeriods(image=math.inf))
    assert found.grace == math.inf


def test_pods_that_wait_for_the_same_nodes_are_one_trouble() -> None:
    assert {found.key for found in suspected(unscheduled("0/1", "x"), unscheduled("0/1", "y"))} == {"scheduling"}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ('0/3 nodes are available: persistentvolumeclaim "data" not found.', ("VolumeClaim", "volume", 2)),
        ("0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims.", ("ClaimUnbound", "volume", 3)),
    ],
)
def test_claims_that_keep_a_pod_from_its_node(said: str, expected: tuple[str, str, float]) -> None:
    assert one(unscheduled(said)) == expected


# Volumes: pkg/volume/util/operationexecutor, pkg/controller/volume/attachdetach/reconciler


@pytest.mark.parametrize(
    ("reason", "said", "expected"),
    [
        ("FailedMount", 'MountVolume.SetUp failed for volume "k" : secret "k" not found', ("VolumeSourceMissing", 2)),
        ("FailedMount", 'MountVolume.SetUp failed for volume "fsx" : rpc error: code = Internal', ("FailedMount", 5)),
        (
            "FailedAttachVolume",
            'Multi-Attach error for volume "pvc-1" Volume is already used by pod(s) other-0',
            ("MultiAttach", 5),
        ),
        ("FailedAttachVolume", "AttachVolume.Attach failed for volume: rpc error", ("FailedAttachVolume", 5)),
    ],
)
def test_volumes(reason: str, said: str, expected: tuple[str, float]) -> None:
    waiting, event = pod("x", waits("ContainerCreating"), phase="Pending"), warning(reason, "Pod/x", said)
    assert one(waiting, events=(event,)) == (expected[0], "volume", expected[1])
    assert suspected(pod("x", runs()), events=(event,)) == []


# Admission: what controllers repeat of the API server's refusal

FORBIDDEN = 'Error creating: pods "x-1" is forbidden: '


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            FORBIDDEN + "exceeded quota: gpus, requested: requests.nvidia.com/gpu=8, used: requests.nvidia.com/gpu=8, "
            "limited: requests.nvidia.com/gpu=8",
            ("ExceededQuota", "quota", 3),
        ),
        (
            'Error creating: admission webhook "policy.example" denied the request: no owner label',
            ("AdmissionDenied", "admission", 2),
        ),
        (FORBIDDEN + 'violates PodSecurity "restricted:latest": privileged', ("AdmissionDenied", "admission", 2)),
        (
            'Error creating: Internal error occurred: failed calling webhook "m.example": failed to call webhook: '
            'Post "https://m.svc:443/mutate": no endpoints available for service "m"',
            ("WebhookUnreachable", "admission", 4),
        ),
        ("Error creating: something else", ("FailedCreate", "admission", 2)),
    ],
    ids=["quota", "webhook denies", "pod security", "webhook unreachable", "other"],
)
def test_creation_refused(said: str, expected: tuple[str, str, float]) -> None:
    event = warning("FailedCreate", "Job/x", said)
    assert one(events=(event,)) == expected
    assert suspected(pod("x-0", runs()), events=(event,)) == []


def test_creation_refused_in_an_event_of_another_name() -> None:
    # The training operator's own reason for it.
    event = warning("FailedCreatePod", "PyTorchJob/x", FORBIDDEN + "exceeded quota: gpus")
    assert one(events=(event,))[0] == "ExceededQuota"


@pytest.mark.parametrize(
    ("reason", "about", "category"),
    [
        ("InvalidRayClusterSpec", "RayCluster/x-9vq4z", "validation"),
        ("TrainJobResourcesCreationFailed", "TrainJob/x", "admission"),
        ("JobCreationFailed", "JobSet/x", "admission"),
        ("FailedToCreateRayCluster", "RayJob/x", "admission"),
    ],
)
def test_what_operators_say_in_events_alone(reason: str, about: str, category: str) -> None:
    assert one(events=(warning(reason, about, "it cannot be made"),))[:2] == (reason, category)


def test_what_exists_already_was_not_refused() -> None:
    said = 'Failed to create the RayCluster team/x-abc: rayclusters.ray.io "x-abc" already exists'
    assert suspected(events=(warning("FailedToCreateRayCluster", "RayService/x", said),)) == []


def test_an_event_of_before_the_upgrade_of_a_server_is_forgiven() -> None:
    event = warning("InvalidRayClusterSpec", "RayCluster/x", "of an earlier generation", after=10)
    moment = from_iso(event["lastTimestamp"])
    assert suspected(events=(event,), kind=SERVER, after=moment + 1) == []
    # The event's second may have begun before the step did.
    assert one(events=(event,), kind=SERVER, after=moment + 0.9)[0] == "InvalidRayClusterSpec"


# Out of memory: who starts anew is not stopped


def out_of_memory(restart: str) -> Document:
    return pod("x", ended(137, 5, reason="OOMKilled"), phase="Failed", restart=restart)


@pytest.mark.parametrize(
    ("kind", "restart", "fatal"),
    [(JOB, "Never", False), (JOB, "OnFailure", False), (MPI, "Never", True), (MPI, "OnFailure", False)],
    ids=["job tries again", "in place", "nobody replaces a worker of MPI", "worker in place"],
)
def test_out_of_memory_ends_the_step_only_without_a_replacement(kind: t.Any, restart: str, fatal: bool) -> None:
    found = suspected(out_of_memory(restart), kind=kind)
    assert [(one.cause.reason, one.grace) for one in found] == ([("OOMKilled", 0)] if fatal else [])


def test_out_of_memory_of_a_server_ends_the_step() -> None:
    again = pod("x", container("main", runs(), last=ended(137, 5, reason="OOMKilled"), restarts=1), restart="Always")
    assert one(again, kind=SERVER)[::2] == ("OOMKilled", 0)


# Upgrades


def deployment(revision: str, *, generation: int = 2, observed: int = 2) -> Document:
    said = f'ReplicaSet "web-{revision}" is progressing.'
    progress = condition("Progressing", "True", 1, reason="ReplicaSetUpdated", message=said)
    status = {"observedGeneration": observed, "conditions": [progress]}
    return {"metadata": {"name": "web", "generation": generation}, "spec": {}, "status": status}


def test_only_pods_of_the_new_revision_count_in_an_upgrade() -> None:
    old = pod("web-1-x", waits("InvalidImageName", "bad"), labels={"pod-template-hash": "1"})
    assert suspected(old, kind=SERVER, workload=deployment("2")) == []
    assert one(old, kind=SERVER, workload=deployment("1"))[0] == "InvalidImageName"


def test_before_the_controller_saw_the_upgrade_no_pod_is_new() -> None:
    old = pod("web-1-x", waits("InvalidImageName", "bad"), labels={"pod-template-hash": "1"})
    assert suspected(old, kind=SERVER, workload=deployment("1", observed=1)) == []


# Disruption


def test_a_pod_that_was_taken_away_and_not_replaced_ends_the_step_after_a_while() -> None:
    target = condition("DisruptionTarget", "True", 5, reason="DeletionByTaintManager", message="Taint manager")
    lost = pod("x", runs(), deleted=5, conditions=[target])
    assert one(lost, kind=MPI) == ("NodeLost", "node_lost", 4)
    assert suspected(lost, kind=SERVER) == []


# Crash loops keep the more telling reason


def test_a_loop_of_failed_probes_is_no_mere_crash_loop() -> None:
    looping = pod("x", container("main", runs(80), last=ended(137, 50), restarts=9), restart="Always")
    said = warning("Unhealthy", "Pod/x", "Liveness probe failed: connection refused", 45)
    (found,) = suspected(looping, events=(said,))
    assert found.cause.reason == "LivenessProbeFailed"
    assert found.cause.message.startswith("It ended 9 times; the last time: Liveness probe failed")


def attempt(index: int, *, created: float) -> Document:
    return pod(f"x-{index}", ended(1, 10.0 * index + 5, ran=2), phase="Failed", created=created)


def test_many_quick_pods_of_one_job_are_a_crash_loop() -> None:
    tries = [attempt(index, created=10.0 * index) for index in range(4)]
    patient = GracePeriods(max_restarts=3)
    assert suspected(*tries[:3], pod("x-9", runs(), created=99), grace=patient) == []
    (found,) = suspected(*tries, pod("x-9", runs(), created=99), grace=patient)
    assert (found.cause.reason, found.cause.object) == ("CrashLoop", "Pod/x-3")
    assert found.cause.message.startswith("It ended 4 times")


def test_ranks_that_fail_together_are_no_crash_loop() -> None:
    assert suspected(*(attempt(index, created=0) for index in range(9)), grace=GracePeriods(max_restarts=3)) == []
