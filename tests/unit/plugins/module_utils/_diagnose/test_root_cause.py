"""The root cause among several terminations.

Conditions, reasons and messages are those of Kubernetes v1.35 (file in each test), Karpenter's and the AWS Node
Termination Handler's as named in `_diagnose/disruptions.py`.
"""

from __future__ import annotations

import typing as t

import pytest
from fakes.made import Document, condition, container, ended, pod, runs, stamp, waits, warning

from ansible_collections.mlops.eks.plugins.module_utils._diagnose.causes import Cause
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.root_cause import Consequences, root_cause
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.table import KINDS

MPI = KINDS["kubeflow.org/v2beta1", "MPIJob"]
WORKLOAD: Document = {"metadata": {"name": "digits"}, "spec": {}}
ROLE = "training.kubeflow.org/job-role"


def worker(index: int, *states: Document, **more: t.Any) -> Document:
    labels = {ROLE: "worker", "training.kubeflow.org/replica-index": str(index)}
    return pod(f"digits-worker-{index}", *states, labels=labels, **more)


def launcher(*states: Document, name: str = "digits-launcher-x", **more: t.Any) -> Document:
    return pod(name, *states, labels={ROLE: "launcher"}, **more)


def left(*pods: Document, **more: t.Any) -> Consequences:
    return Consequences(kind=MPI, workload=WORKLOAD, pods={one["metadata"]["name"]: one for one in pods}, **more)


def blamed(*pods: Document, warnings: tuple[Document, ...] = (), **more: t.Any) -> Cause:
    found = root_cause(left(*pods, warnings=warnings, **more))
    assert found is not None
    return found


def told(cause: Cause) -> tuple[str, str, str]:
    return cause.object.removeprefix("Pod/digits-"), cause.reason, cause.category


def disrupted(reason: str, message: str, after: float = 40.0) -> Document:
    return {"conditions": [condition("DisruptionTarget", "True", after, reason=reason, message=message)]}


BROKEN_PIPE = launcher(ended(1, 50, message="write: broken pipe"), phase="Failed")


# Time and kind


def test_rank_3_out_of_memory_and_rank_0_broken_pipe_is_rank_3() -> None:
    victim = worker(0, ended(1, 50), phase="Failed")
    oom = worker(3, ended(137, 50, reason="OOMKilled"), phase="Failed", limit="80Gi")
    cause = blamed(victim, BROKEN_PIPE, oom)
    assert told(cause) == ("worker-3", "OOMKilled", "memory")
    assert "its limit of 80Gi" in cause.message


def test_out_of_memory_seen_a_second_after_its_effect_is_still_the_cause() -> None:
    assert told(blamed(BROKEN_PIPE, worker(3, ended(137, 51, reason="OOMKilled"), phase="Failed")))[0] == "worker-3"


def test_out_of_memory_long_after_a_failure_is_not_its_cause() -> None:
    late = worker(3, ended(137, 55, reason="OOMKilled"), phase="Failed")
    assert told(blamed(worker(0, ended(1, 50), phase="Failed"), late)) == ("worker-0", "Error", "program")


def test_the_first_failure_is_to_blame() -> None:
    assert told(blamed(BROKEN_PIPE, worker(1, ended(3, 45), phase="Failed")))[0] == "worker-1"


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    ("root", "reason"),
    [
        (worker(1, runs(), **disrupted("DeletionByTaintManager", "Taint manager", 100)), "NodeLost"),
        (worker(1, ended(137, 50), phase="Failed", reason="Evicted", message="low on memory"), "Evicted"),
        (worker(1, runs(), **disrupted("PreemptionByScheduler", "preempting", 50)), "PreemptionByScheduler"),
        (worker(1, ended(137, 50, reason="OOMKilled"), phase="Failed"), "OOMKilled"),
        (worker(1, ended(127, 50, reason="StartError"), phase="Failed"), "StartError"),
        (worker(1, ended(3, 50), phase="Failed"), "Error"),
    ],
    ids=["node loss", "eviction", "preemption", "memory", "start", "exit code"],
)
def test_simultaneous_terminations_are_ranked_by_category(root: Document, reason: str, reverse: bool) -> None:
    killed = worker(0, ended(137, 50), phase="Failed")
    pods = [BROKEN_PIPE, killed, root]
    assert told(blamed(*(reversed(pods) if reverse else pods)))[:2] == ("worker-1", reason)


def test_of_equal_terminations_that_of_the_leader_is_a_consequence() -> None:
    pods = [launcher(ended(1, 50), name="a-launcher"), worker(1, ended(1, 50))]
    assert told(blamed(*pods))[0] == "worker-1"


def test_a_termination_by_deletion_of_its_pod_is_a_consequence() -> None:
    # cleanPodPolicy: the operator deletes what is left, in the second of the failure.
    cleaned = worker(0, ended(1, 50), phase="Failed", deleted=50)
    assert told(blamed(BROKEN_PIPE, cleaned))[0] == "launcher-x"


def test_a_deletion_before_the_failure_is_the_cause() -> None:
    gone = worker(1, ended(143, 47), phase="Failed", deleted=45)
    assert told(blamed(BROKEN_PIPE, gone)) == ("worker-1", "PodDeleted", "interrupted")


def test_a_deletion_alone_explains_no_failure() -> None:
    gone = worker(1, ended(143, 47), phase="Failed", deleted=45)
    assert root_cause(left(gone)) is None


def test_a_failure_that_was_overcome_long_ago_is_not_the_cause() -> None:
    restarted = worker(1, container("main", runs(20), last=ended(3, 10), restarts=1), restart="OnFailure")
    late = launcher(ended(9, 500), phase="Failed")
    assert told(blamed(restarted, late)) == ("launcher-x", "Error", "program")


def test_what_was_overcome_before_the_program_began_is_not_its_cause() -> None:
    # A Ray head that starts badly, is restarted, and then takes the program that fails by itself.
    restarted = worker(1, container("main", runs(20), last=ended(1, 10, ran=5), restarts=1), restart="Always")
    program = launcher(ended(3, 50, ran=20), phase="Failed")
    assert told(blamed(restarted, program)) == ("launcher-x", "Error", "program")


def test_a_restart_just_before_the_failure_is_its_cause() -> None:
    oom = ended(137, 45, reason="OOMKilled")
    restarted = worker(1, container("main", runs(48), last=oom, restarts=1), restart="OnFailure")
    assert told(blamed(restarted, BROKEN_PIPE))[:2] == ("worker-1", "OOMKilled")


def test_an_earlier_attempt_in_the_same_role_is_not_the_cause() -> None:
    first = launcher(ended(4, 10), name="digits-launcher-a", phase="Failed")
    second = launcher(ended(5, 400), name="digits-launcher-b", phase="Failed", created=200)
    assert told(blamed(first, second))[0] == "launcher-b"


def test_a_kill_without_explanation_has_its_own_reason() -> None:
    cause = blamed(worker(1, ended(137, 45), phase="Failed"), BROKEN_PIPE)
    assert told(cause) == ("worker-1", "Killed", "program")
    assert cause.message == "it ended with exit code 137 (SIGKILL)."


def test_a_kill_that_the_runtime_did_not_explain_names_the_memory_limit() -> None:
    # containerd 1.6: of those that run out of memory as they start, on a busy machine, one in ten has the reason Error.
    cause = blamed(worker(1, ended(137, 45), phase="Failed", limit="32Mi"))
    assert told(cause) == ("worker-1", "Killed", "program")
    assert "for a memory limit; its limit is 32Mi." in cause.message
    assert "limit" not in blamed(worker(1, ended(143, 45), phase="Failed", limit="32Mi")).message


# Node loss


def test_node_lost_by_the_taint_manager() -> None:
    # pkg/controller/tainteviction/taint_eviction.go; the pod is ready=False since the node is silent.
    lost = worker(
        1,
        runs(),
        deleted=340,
        conditions=[
            condition("Ready", "False", 50),
            condition(
                "DisruptionTarget",
                "True",
                340,
                reason="DeletionByTaintManager",
                message="Taint manager: deleting due to NoExecute taint",
            ),
        ],
    )
    cause = blamed(launcher(ended(255, 12), phase="Failed"), lost)
    assert told(cause) == ("worker-1", "NodeLost", "node_lost")
    assert cause.message == "its node node-a was lost: Taint manager: deleting due to NoExecute taint."


def by_taint(ready: Document) -> Document:
    target = condition(
        "DisruptionTarget", "True", 45, reason="DeletionByTaintManager", message="Taint manager: deleting"
    )
    return {"conditions": [target, ready]}


@pytest.mark.parametrize(
    "ready",
    [condition("Ready", "True", 5), condition("Ready", "False", 45, reason="PodFailed")],
    ids=["ends", "has ended"],
)
def test_a_taint_on_a_node_that_is_well_is_no_loss_of_it(ready: Document) -> None:
    cause = blamed(BROKEN_PIPE, worker(1, ended(143, 45), deleted=45, **by_taint(ready)))
    assert told(cause) == ("worker-1", "TaintEviction", "evicted")
    assert cause.message == "a NoExecute taint evicted it from node node-a: Taint manager: deleting."


def test_a_pod_that_was_never_ready_is_lost_with_its_node_all_the_same() -> None:
    waiting = worker(1, runs(), deleted=45, **by_taint(condition("Ready", "False", 5, reason="ContainersNotReady")))
    assert told(blamed(BROKEN_PIPE, waiting, nodes={"node-a": {"gone": True}}))[1] == "NodeLost"


def test_node_lost_by_the_collector_of_orphaned_pods() -> None:
    # pkg/controller/podgc/gc_controller.go
    lost = worker(1, runs(), phase="Failed", **disrupted("DeletionByPodGC", "PodGC: node no longer exists"))
    assert told(blamed(BROKEN_PIPE, lost)) == ("worker-1", "NodeLost", "node_lost")


def test_node_lost_in_the_words_of_older_control_planes() -> None:
    # pkg/util/node/node.go
    said = "Node node-a which was running pod digits-worker-1 is unresponsive"
    assert told(blamed(BROKEN_PIPE, worker(1, runs(), reason="NodeLost", message=said)))[1] == "NodeLost"


def test_node_lost_when_the_phase_is_unknown() -> None:
    assert told(blamed(BROKEN_PIPE, worker(1, runs(), phase="Unknown")))[1] == "NodeLost"


def test_node_lost_when_only_the_event_says_so_yet() -> None:
    # pkg/controller/util/node/controller_utils.go: the node is silent, the taint's toleration has not passed.
    silent = warning("NodeNotReady", "Pod/digits-worker-1", "Node is not ready", 80)
    cause = blamed(BROKEN_PIPE, worker(1, runs()), warnings=(silent,))
    assert told(cause) == ("worker-1", "NodeLost", "node_lost")


def test_node_shut_down() -> None:
    # pkg/kubelet/nodeshutdown/nodeshutdown_manager.go
    said = "Pod was terminated in response to imminent node shutdown."
    down = worker(1, ended(143, 49), phase="Failed", reason="Terminated", message=said)
    assert told(blamed(BROKEN_PIPE, down)) == ("worker-1", "NodeShutdown", "node_lost")


def test_a_failed_pod_that_was_disrupted_much_later_failed_by_itself() -> None:
    cause = blamed(worker(1, ended(3, 50), phase="Failed", **disrupted("EvictionByEvictionAPI", "evicting", 90)))
    assert told(cause)[1] == "Error"


def tainted(after: float) -> dict[str, Document]:
    taint = {"key": "node.kubernetes.io/unreachable", "effect": "NoExecute", "timeAdded": stamp(after)}
    return {"node-a": {"kind": "Node", "spec": {"taints": [taint]}}}


def test_node_lost_when_only_its_taint_says_so_yet() -> None:
    # pkg/controller/nodelifecycle/node_lifecycle_controller.go
    cause = blamed(BROKEN_PIPE, worker(1, runs()), nodes=tainted(90))
    assert told(cause) == ("worker-1", "NodeLost", "node_lost")
    assert "taint node.kubernetes.io/unreachable" in cause.message


def test_node_lost_when_it_does_not_exist_any_more() -> None:
    assert told(blamed(BROKEN_PIPE, worker(1, runs()), nodes={"node-a": {"gone": True}}))[1] == "NodeLost"


def test_a_pod_that_had_ended_does_not_suffer_from_its_node() -> None:
    done = worker(1, ended(0, 20, reason="Completed"), phase="Succeeded")
    assert told(blamed(BROKEN_PIPE, done, nodes={"node-a": {"gone": True}}))[0] == "launcher-x"


# Spot interruption


def test_spot_interruption_reported_by_karpenter() -> None:
    told_by = warning("SpotInterrupted", "Pod/digits-worker-1", "Spot interruption warning was triggered", 30)
    drained = worker(1, ended(143, 49), **disrupted("EvictionByEvictionAPI", "Eviction API: evicting"))
    cause = blamed(BROKEN_PIPE, drained, warnings=(told_by,))
    assert told(cause) == ("worker-1", "SpotInterrupted", "node_lost")
    assert "took its spot instance node-a back" in cause.message


def test_spot_interruption_reported_by_the_node_termination_handler() -> None:
    told_by = warning("SpotInterruption", "Node/node-a", "Spot ITN received", 30)
    drained = worker(1, ended(143, 49), **disrupted("EvictionByEvictionAPI", "Eviction API: evicting"))
    assert told(blamed(BROKEN_PIPE, drained, warnings=(told_by,)))[1] == "SpotInterrupted"
    elsewhere = warning("SpotInterruption", "Node/node-b", "Spot ITN received", 30)
    assert told(blamed(BROKEN_PIPE, drained, warnings=(elsewhere,)))[1] == "EvictionByEvictionAPI"
    long_after = warning("SpotInterruption", "Node/node-a", "Spot ITN received", 900)
    assert told(blamed(BROKEN_PIPE, drained, warnings=(long_after,)))[1] == "EvictionByEvictionAPI"


@pytest.mark.parametrize("reason", ["PreemptionByScheduler", "PreemptionByKubelet"])
def test_a_preempted_pod_is_not_lost_with_its_node(reason: str) -> None:
    told_by = warning("SpotInterruption", "Node/node-a", "Spot ITN received", 30)
    gone = worker(1, ended(143, 49), **disrupted(reason, "preempting"))
    assert told(blamed(BROKEN_PIPE, gone, warnings=(told_by,))) == ("worker-1", reason, "preempted")


# Eviction and preemption


def test_evicted_by_the_kubelet_with_its_numbers() -> None:
    # pkg/kubelet/eviction/helpers.go
    said = (
        "The node was low on resource: memory. Threshold quantity: 100Mi, available: 60Mi. "
        "Container main was using 3Gi, request is 1Gi, has larger consumption of memory. "
    )
    target = disrupted("TerminationByKubelet", said, 45)
    cause = blamed(BROKEN_PIPE, worker(1, ended(137, 46), phase="Failed", reason="Evicted", message=said, **target))
    assert told(cause) == ("worker-1", "Evicted", "evicted")
    assert "Container main was using 3Gi, request is 1Gi" in cause.message


def test_evicted_by_request() -> None:
    # pkg/registry/core/pod/storage/eviction.go: kubectl drain, autoscalers, Karpenter
    drained = worker(1, ended(143, 49), deleted=45, **disrupted("EvictionByEvictionAPI", "Eviction API: evicting", 45))
    assert told(blamed(BROKEN_PIPE, drained)) == ("worker-1", "EvictionByEvictionAPI", "evicted")


def test_preempted_by_the_scheduler() -> None:
    # pkg/scheduler/framework/preemption/preemption.go
    said = "default-scheduler: preempting to accommodate a higher priority pod"
    gone = worker(1, ended(143, 49), deleted=45, **disrupted("PreemptionByScheduler", said, 45))
    assert told(blamed(BROKEN_PIPE, gone)) == ("worker-1", "PreemptionByScheduler", "preempted")


def test_preempted_by_the_kubelet() -> None:
    # pkg/kubelet/preemption/preemption.go
    said = "Preempted in order to admit critical pod"
    gone = worker(1, ended(137, 46), phase="Failed", reason="Preempting", message=said)
    assert told(blamed(BROKEN_PIPE, gone)) == ("worker-1", "PreemptionByKubelet", "preempted")


def test_refused_by_the_kubelet() -> None:
    said = "Allocate failed due to no healthy devices present; cannot allocate unhealthy devices nvidia.com/gpu"
    refused = pod("digits-worker-1", phase="Failed", reason="UnexpectedAdmissionError", message=said)
    assert told(blamed(refused)) == ("worker-1", "UnexpectedAdmissionError", "scheduling")


# Containers


def test_killed_because_the_node_ran_out_of_memory() -> None:
    # pkg/kubelet/oom/oom_watcher_linux.go
    oom = warning("SystemOOM", "Node/node-a", "System OOM encountered, victim process: python, pid: 4711", 50)
    cause = blamed(worker(1, ended(137, 50), phase="Failed"), BROKEN_PIPE, warnings=(oom,))
    assert told(cause) == ("worker-1", "SystemOOM", "memory")
    assert "victim process: python, pid: 4711" in cause.message


def test_init_container_failing() -> None:
    failing = worker(1, waits("PodInitializing"), init=(container("fetch", ended(9, 20)),), phase="Failed")
    cause = blamed(failing)
    assert (*told(cause), cause.container) == ("worker-1", "InitContainerFailed", "init", "fetch")
    assert cause.message == "init container ended with exit code 9."


def sidecar(state: Document) -> Document:
    return {**container("proxy", state), "spec": {"restartPolicy": "Always"}}


def test_sidecar_failing() -> None:
    cause = blamed(worker(1, runs(), init=(sidecar(ended(2, 20)),)))
    assert (*told(cause), cause.container) == ("worker-1", "SidecarFailed", "sidecar", "proxy")


def test_a_sidecar_that_is_ended_after_the_others_is_not_to_blame() -> None:
    done = worker(1, ended(0, 20, reason="Completed"), init=(sidecar(ended(137, 21)),), phase="Succeeded")
    assert told(blamed(done, BROKEN_PIPE))[0] == "launcher-x"


@pytest.mark.parametrize(("probe", "reason"), [("Liveness", "LivenessProbeFailed"), ("Startup", "StartupProbeFailed")])
def test_killed_for_a_failed_probe(probe: str, reason: str) -> None:
    # pkg/kubelet/prober/prober.go
    said = f"{probe} probe failed: HTTP probe failed with statuscode: 503"
    where = {"fieldPath": "spec.containers{main}"}
    restarted = worker(1, container("main", runs(51), last=ended(137, 50), restarts=1), restart="Always")
    cause = blamed(restarted, warnings=(warning("Unhealthy", "Pod/digits-worker-1", said, 20 + 1, **where),))
    assert told(cause) == ("worker-1", reason, "probe")
    assert "statuscode: 503" in cause.message
    assert "exit code 137 (SIGKILL)" in cause.message


def test_a_failed_readiness_probe_is_no_cause() -> None:
    said = warning("Unhealthy", "Pod/digits-worker-1", "Readiness probe failed: connection refused", 45)
    assert told(blamed(worker(1, ended(137, 50), phase="Failed"), warnings=(said,)))[1] == "Killed"


def test_a_probe_of_an_earlier_instance_is_not_the_cause() -> None:
    said = warning("Unhealthy", "Pod/digits-worker-1", "Liveness probe failed: timeout", 10)
    assert told(blamed(worker(1, ended(1, 500, ran=5), phase="Failed"), warnings=(said,)))[1] == "Error"


def test_deadline_of_a_pod() -> None:
    late = pod("digits-worker-1", phase="Failed", reason="DeadlineExceeded", message="Pod was active too long")
    assert told(blamed(late)) == ("worker-1", "DeadlineExceeded", "deadline")


def test_a_container_that_the_node_forgot() -> None:
    # pkg/kubelet/kubelet_pods.go: after a restart of the node
    lost = worker(1, ended(137, 50, reason="ContainerStatusUnknown"), phase="Failed")
    assert told(blamed(lost)) == ("worker-1", "ContainerStatusUnknown", "node_lost")


def test_a_termination_without_a_time_comes_last() -> None:
    undated = {"terminated": {"exitCode": 1, "reason": "Error"}}
    assert stamp(0) not in str(undated)
    assert told(blamed(worker(1, undated), BROKEN_PIPE))[0] == "launcher-x"
