"""The reducer's rules about time, events and order, on small made-up changes."""

from __future__ import annotations

import typing as t

import pytest
from fakes.built import (
    BACK_OFF,
    PULL,
    RUNS,
    SERVER,
    event,
    outcome,
    pod,
    reason,
    rules,
    workload,
)
from fakes.made import BEGIN, Document, ended
from fakes.replay import drive, load, ticks

from ansible_collections.mlops.eks.plugins.module_utils._diagnose.causes import GracePeriods
from ansible_collections.mlops.eks.plugins.module_utils._follow import changes
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.expressions import parse
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.table import KINDS


def heard(said: list[str]) -> list[str]:
    """Return what was said but for the explanations of the waiting."""
    return [line for line in said if ": pending: " not in line]


# Time


def test_timeout_names_what_it_waited_for() -> None:
    what = rules(timeout=100)
    unschedulable = {"conditions": [{"type": "PodScheduled", "reason": "Unschedulable", "message": "0/3 nodes fit"}]}
    state, _ = drive([workload(0), pod(1, {"waiting": {}}, **unschedulable), *ticks(BEGIN + 1, 100)], what)
    assert outcome(state) == "timed_out"
    assert "0/3 nodes fit" in str(t.cast(t.Any, state.ending).cause)
    assert "1 min 40 s" in str(t.cast(t.Any, state.ending).cause)


def test_timeout_does_not_come_before_its_second() -> None:
    what = rules(timeout=100)
    assert outcome(drive([workload(0), changes.Tick(at=BEGIN + 99.9)], what)[0]) is None
    assert outcome(drive([workload(0), changes.Tick(at=BEGIN + 100.0)], what)[0]) == "timed_out"


def test_a_success_found_on_reattaching_after_the_timeout_is_a_success() -> None:
    state, _ = drive([pod(9000, RUNS), workload(9000.1, "Complete")], rules(timeout=100))
    assert outcome(state) == "succeeded"


def test_a_workload_that_is_never_seen_times_out_all_the_same() -> None:
    state, _ = drive([changes.Tick(at=BEGIN), *ticks(BEGIN, 100)], rules(timeout=40))
    assert outcome(state) == "timed_out"
    assert "no pods" in str(t.cast(t.Any, state.ending).cause)


def test_a_heartbeat_is_printed_only_without_other_lines() -> None:
    what = rules(heartbeat=10)
    begun = [workload(0), pod(0, RUNS, phase="Running")]
    _, said = drive([*begun, *ticks(BEGIN, 35)], what)
    assert [line.split(" for ")[1] for line in said[1:]] == ["10 s", "20 s", "30 s"]
    talking = [
        change for at in range(35) for change in (changes.ConsoleOutput(at=BEGIN + at), changes.Tick(at=BEGIN + at))
    ]
    assert drive([*begun, *talking], what)[1] == said[:1]


def test_what_is_wrong_is_said_apart_from_the_heartbeat() -> None:
    _, said = drive(
        [workload(0), pod(1, PULL), *ticks(BEGIN + 1, 10)], rules(heartbeat=5, grace=GracePeriods(image=99))
    )
    assert said[-1] == "Job digits: pending for 10 s"
    assert "Job digits: pending: Pod/digits-x (main) cannot start: ErrImagePull: no such image." in said


# Suspicions


def test_a_problem_that_comes_back_gets_its_whole_grace_period() -> None:
    what = rules(grace=GracePeriods(image=30))
    state, _ = drive([workload(0), pod(1, PULL), pod(20, {"waiting": {"reason": "ContainerCreating"}})], what)
    state, _ = drive([pod(22, PULL), *ticks(BEGIN + 22, 25)], what, state)
    assert outcome(state) is None
    state, _ = drive(ticks(BEGIN + 47, 10), what, state)
    assert (outcome(state), reason(state)) == ("failed", "ErrImagePull")


def test_back_off_after_a_failed_pull_is_the_same_trouble() -> None:
    what = rules(grace=GracePeriods(image=30))
    state, _ = drive([workload(0), pod(1, PULL), pod(16, BACK_OFF), *ticks(BEGIN + 16, 15)], what)
    assert (outcome(state), reason(state)) == ("failed", "ImagePullBackOff")


def test_a_pod_proves_nothing_before_the_workload_was_seen() -> None:
    oom = pod(1, ended(137, 0, reason="OOMKilled"), phase="Failed")
    what = rules(kind=KINDS["kubeflow.org/v2beta1", "MPIJob"])
    assert outcome(drive([oom, workload(2, "Succeeded")], what)[0]) == "succeeded"
    state, _ = drive([oom, workload(2)], what)
    assert (outcome(state), reason(state)) == ("failed", "OOMKilled")


def test_what_the_workload_says_counts_more_than_its_pods() -> None:
    what = rules(grace=GracePeriods(image=10))
    state, _ = drive([workload(0), pod(1, PULL), workload(50, "Complete")], what)
    assert outcome(state) == "succeeded"


def test_an_upgraded_server_is_forgiven_its_earlier_life() -> None:
    spec = {"replicas": 1, "selector": {"matchLabels": {}}}
    seen = workload(0, kind="Deployment", spec=spec, status={})
    before = ended(137, -3600, reason="OOMKilled")
    what = rules(kind=SERVER)
    assert outcome(drive([seen, pod(1, RUNS, last=before, restarts=9)], what)[0]) is None
    now = ended(137, 5, reason="OOMKilled")
    assert outcome(drive([seen, pod(6, RUNS, last=now, restarts=1)], what)[0]) == "failed"


def test_restarts_after_hours_of_work_are_no_crash_loop() -> None:
    what = rules(grace=GracePeriods(max_restarts=2))
    assert outcome(drive([workload(0), pod(9, RUNS, last=ended(1, 5, ran=7200), restarts=9)], what)[0]) is None
    assert reason(drive([workload(0), pod(9, RUNS, last=ended(1, 5, ran=3), restarts=9)], what)[0]) == "CrashLoop"


# Events


@pytest.mark.parametrize("first", ["event", "workload"])
def test_an_event_of_an_earlier_workload_of_the_same_name_is_not_ours(first: str) -> None:
    old = event(0, "ValidationError", about="Job/digits", seen=-600)
    seen = workload(0)
    order = [old, seen] if first == "event" else [seen, old]
    state, said = drive([*order, *ticks(BEGIN, 60)], rules())
    assert (outcome(state), heard(said), dict(state.warnings)) == (None, [], {})


@pytest.mark.parametrize("first", ["event", "workload"])
def test_an_event_of_this_workload_is_ours_whichever_watch_is_quicker(first: str) -> None:
    new, seen = event(0, "ValidationError"), workload(0)
    order = [new, seen] if first == "event" else [seen, new]
    state, said = drive([*order, *ticks(BEGIN, 60)], rules())
    assert heard(said) == ["Job/digits: ValidationError: it said so"]
    assert (outcome(state), reason(state)) == ("failed", "ValidationError")


@pytest.mark.parametrize(
    "about",
    ["Job/digits-torch", "Pod/digits-serve-5c-x", "ReplicaSet/digits-serve-5c", "HorizontalPodAutoscaler/digits"],
)
def test_events_of_a_run_whose_name_begins_alike_are_not_ours(about: str) -> None:
    state, said = drive([workload(0), event(1, "FailedCreate", about=about), *ticks(BEGIN, 60)], rules())
    assert (outcome(state), heard(said)) == (None, [])


def test_an_event_of_a_pod_is_kept_until_the_pod_is_seen() -> None:
    about = "Pod/digits-x"
    state, said = drive([workload(0), event(1, "FailedMount", about=about)], rules())
    assert said == []
    _, said = drive([pod(2, {"waiting": {}})], rules(), state)
    assert said[0] == "Pod/digits-x: FailedMount: it said so"


@pytest.mark.parametrize(
    ("kind", "about"),
    [
        (("apps/v1", "Deployment"), "ReplicaSet/digits-7f9c"),
        (("kubeflow.org/v2beta1", "MPIJob"), "Job/digits-launcher"),
    ],
)
def test_events_of_objects_between_workload_and_pods_count(kind: tuple[str, str], about: str) -> None:
    row = KINDS[kind]
    seen = workload(0, kind=row.kind, spec={"replicas": 1}, status={})
    state, said = drive([seen, event(1, "FailedCreate", about=about), *ticks(BEGIN, 60)], rules(kind=row))
    assert heard(said) == [f"{about}: FailedCreate: it said so"]
    assert (outcome(state), reason(state)) == ("failed", "FailedCreate")


def test_normal_events_are_not_shown() -> None:
    assert drive([workload(0), event(1, "Pulled", type="Normal")], rules())[1] == []


def test_a_mount_that_succeeded_in_the_meantime_is_no_trouble() -> None:
    mount = event(2, "FailedMount", about="Pod/digits-x", message='secret "key" not found')
    waiting: Document = {"waiting": {"reason": "ContainerCreating"}}
    sandbox = {"conditions": [{"type": "PodReadyToStartContainers", "status": "True"}]}
    state, _ = drive([workload(0), pod(1, waiting), mount, pod(5, waiting, **sandbox), *ticks(BEGIN + 5, 99)], rules())
    assert outcome(state) is None
    state, _ = drive([workload(0), pod(1, waiting), mount, *ticks(BEGIN + 5, 20)], rules())
    assert (outcome(state), reason(state)) == ("failed", "VolumeSourceMissing")


def test_events_of_others_are_limited() -> None:
    many = [event(1, "BackOff", about=f"Pod/other-{n}") for n in range(1000)]
    assert len(drive([workload(0), *many], rules())[0].unassigned_events) == 200


# Endings from outside


def test_losing_the_lock_ends_it_without_judging_the_workload() -> None:
    state, _ = drive([workload(0), changes.LockLost(at=BEGIN + 1, holder="other (process 7)")], rules())
    assert (outcome(state), reason(state)) == ("lost", "LockLost")
    assert "other (process 7) took over" in str(t.cast(t.Any, state.ending).cause)


def test_a_deleted_workload_is_lost() -> None:
    state, _ = drive([workload(0), changes.WorkloadGone(at=BEGIN + 1)], rules())
    assert (outcome(state), reason(state)) == ("lost", "Deleted")


def test_the_deletion_of_the_only_pod_of_a_job_is_the_cause() -> None:
    """The Job counts it as any failure. One that failed by itself before is to blame all the same."""
    limit = {"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": "too often"}
    deleted = {"deleted": 9.0, "phase": "Failed"}
    failed = workload(12, status={"conditions": [limit]})
    state, _ = drive([workload(0), pod(0, RUNS, phase="Running"), pod(11, ended(143, 10), **deleted), failed], rules())
    cause = t.cast(t.Any, state.ending).cause
    assert (cause.reason, cause.object, cause.message) == ("PodDeleted", "Pod/digits-x", "somebody deleted it.")
    state, _ = drive([workload(0), pod(0, RUNS, phase="Running"), pod(11, ended(3, 5), **deleted), failed], rules())
    assert reason(state) == "Error"


def test_trouble_of_the_watch_is_said_once_and_ends_nothing() -> None:
    trouble = [changes.WatchError(at=BEGIN + n, message="HTTP 503") for n in range(5)]
    state, said = drive([workload(0), *trouble], rules())
    assert said == ["watching goes on in spite of: HTTP 503"]
    assert outcome(state) is None


# Expressions


def test_until_and_fail_on_decide() -> None:
    what = rules(until=parse("jsonpath={.status.phase}=Done"), fail_on=(parse("condition=Doomed"),))
    assert outcome(drive([workload(0, status={"phase": "Busy"})], what)[0]) is None
    assert outcome(drive([workload(0, status={"phase": "Done"})], what)[0]) == "succeeded"
    state, _ = drive([workload(0, "Doomed")], what)
    assert (outcome(state), reason(state)) == ("failed", "fail_on")


def test_a_workload_that_ended_without_what_was_waited_for_fails_at_once_and_says_so() -> None:
    what = rules(until=parse("condition=Trained"))
    state, _ = drive([workload(0), pod(1, ended(1, 1), phase="Failed"), workload(2, "Complete")], what)
    assert (outcome(state), reason(state)) == ("failed", "until")
    # A container that failed on the way is not to blame for it.
    cause = t.cast(t.Any, state.ending).cause
    assert (cause.object, cause.message) == ("Job/digits", "it ended well, but condition=Trained never held.")


def test_ready_without_a_probe_is_said_to_prove_little() -> None:
    up = {"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "availableReplicas": 1}
    spec = {"replicas": 1, "template": {"spec": {"containers": [{"name": "main"}]}}}
    row = KINDS["apps/v1", "Deployment"]
    state, _ = drive([workload(0, kind="Deployment", spec=spec, status=up)], rules(kind=row))
    said = "ready after 3 s (no container has a readiness probe: they run, but nothing checks that they serve)"
    assert t.cast(t.Any, state.ending).describe("3 s") == said


def ray_service(after: float, app: str) -> changes.Change:
    """A RayService that was changed, with its one application in this state."""
    ready = {"type": "Ready", "status": "True", "reason": "NonZeroServeEndpoints"}
    active = {"rayClusterName": "digits-4mq2w", "applicationStatuses": {"llm": {"status": app}}}
    status = {"observedGeneration": 2, "conditions": [ready], "activeServiceStatus": active}
    metadata = {"name": "digits", "generation": 2, "creationTimestamp": "2026-11-21T09:00:00Z"}
    return workload(after, kind="RayService", metadata=metadata, status=status)


def test_the_first_status_after_a_change_is_of_the_previous_application() -> None:
    what = rules(kind=KINDS["ray.io/v1", "RayService"])
    stale, deploys, runs = ray_service(0, "RUNNING"), ray_service(2, "DEPLOYING"), ray_service(60, "RUNNING")
    state, _ = drive([stale, *ticks(BEGIN, 1), deploys, *ticks(BEGIN + 2, 50)], what)
    assert outcome(state) is None
    assert outcome(drive([runs, *ticks(BEGIN + 60, 4)], what, state)[0]) is None
    assert outcome(drive([runs, *ticks(BEGIN + 60, 5)], what, state)[0]) == "ready"


# Blame


def test_the_container_that_failed_first_is_blamed() -> None:
    found = [
        pod(9, ended(1, 8), name="digits-launcher", phase="Failed"),
        pod(9, ended(3, 5), name="digits-worker-1", phase="Failed"),
        pod(9, ended(143, 9), name="digits-worker-0", phase="Failed"),
    ]
    state, _ = drive([workload(0), *found, workload(10, "Failed")], rules())
    assert t.cast(t.Any, state.ending).cause.object == "Pod/digits-worker-1"


@pytest.mark.parametrize("reverse", [False, True])
def test_of_simultaneous_terminations_the_killed_one_is_a_consequence(reverse: bool) -> None:
    found = [
        pod(9, ended(137, 5), name="digits-a", phase="Failed"),
        pod(9, ended(2, 5), name="digits-b", phase="Failed"),
    ]
    state, _ = drive([workload(0), *(reversed(found) if reverse else found), workload(10, "Failed")], rules())
    assert t.cast(t.Any, state.ending).cause.object == "Pod/digits-b"


def test_a_deadline_is_named_rather_than_the_pods_it_killed() -> None:
    recording = load("job-deadline")
    state, _ = drive(recording.changes, recording.rules())
    assert reason(state) == "DeadlineExceeded"
