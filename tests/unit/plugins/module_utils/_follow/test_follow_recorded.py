"""The reducer on what real clusters said: tests/fixtures/changes, recorded by tests/record_changes.py."""

from __future__ import annotations

import json
import typing as t

import pytest
from fakes.replay import NAMES, SHORT, Recording, drive, last, load, ticks

from ansible_collections.mlops.eks.plugins.module_utils._follow import changes
from ansible_collections.mlops.eks.plugins.module_utils._follow.outcome import settle
from ansible_collections.mlops.eks.plugins.module_utils._follow.state import Ending, State
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.table import judge

# Scenario: outcome, reason, container, words of the message; with short grace periods, a minute after the last change.
EXPECTED: dict[str, tuple[str, str, str, str]] = {
    "job-succeeds": ("succeeded", "", "", ""),
    "job-restarts-once": ("succeeded", "", "", ""),
    "job-secret-late": ("succeeded", "", "", ""),
    "job-suspended": ("succeeded", "", "", ""),
    "job-exits-3": ("failed", "Error", "main", "exit code 3"),
    "job-second-pod": ("failed", "Error", "main", "exit code 4"),
    "job-init-fails": ("failed", "InitContainerFailed", "fetch", "exit code 9"),
    "job-image-missing": ("failed", "RegistryUnavailable", "main", "none/none:1"),
    "job-image-never": ("failed", "ErrImageNeverPull", "main", "localhost/none:1"),
    "job-image-malformed": ("failed", "InvalidImageName", "main", "NOT//an image"),
    "job-secret-missing": ("failed", "CreateContainerConfigError", "main", 'secret "no-such-secret" not found'),
    "job-mount-missing": ("failed", "VolumeSourceMissing", "", 'secret "no-such-secret" not found'),
    "job-claim-missing": ("failed", "VolumeClaim", "", 'persistentvolumeclaim "no-such-claim" not found'),
    "job-unschedulable": ("failed", "Unschedulable", "", "Insufficient cpu"),
    "job-oom": ("failed", "OOMKilled", "main", "its limit of 32Mi"),
    "job-crash-loop": ("failed", "CrashLoop", "main", "exit code 1"),
    "job-command-missing": ("failed", "StartError", "main", "/no/such/program"),
    "job-deadline": ("failed", "DeadlineExceeded", "", "longer than specified deadline"),
    "job-deleted": ("lost", "Deleted", "", "deleted while it ran"),
    "job-runs": ("timed_out", "Timeout", "", "1 running"),
    "mpi-succeeds": ("succeeded", "", "", ""),
    "mpi-exits-3": ("failed", "Error", "main", "exit code 3"),
    "mpi-worker-oom": ("failed", "OOMKilled", "main", "its limit of 32Mi"),
    "mpi-invalid": ("failed", "ValidationError", "", "replicas: Invalid value: 2"),
    "mpi-evicted": ("succeeded", "", "", ""),
    "pytorch-succeeds": ("succeeded", "", "", ""),
    "pytorch-worker-fails": ("failed", "Error", "pytorch", "exit code 3"),
    # One worker succeeds, the other one has not ended.
    "pytorch-elastic": ("succeeded", "", "", ""),
    "pytorch-restarts": ("succeeded", "", "", ""),
    "deployment-ready": ("ready", "", "", ""),
    "deployment-upgraded": ("ready", "", "", ""),
    "deployment-image-missing": ("failed", "RegistryUnavailable", "main", "none/none:1"),
    "deployment-crash-loop": ("failed", "CrashLoop", "main", "exit code 7"),
    "deployment-exits-0": ("failed", "CrashLoop", "main", "exit code 0"),
    # What Kubernetes says of a server without a readiness probe, until minReadySeconds is set.
    "deployment-flashes": ("ready", "", "", ""),
    "deployment-never-ready": ("failed", "ReadinessProbeFailed", "main", "has timed out progressing"),
    "deployment-oom": ("ready", "", "", ""),
    "jobset-succeeds": ("succeeded", "", "", ""),
    "jobset-worker-fails": ("failed", "Error", "main", "exit code 3"),
    # The operator starts all pods again after the driver failed.
    "jobset-restarts": ("succeeded", "", "", ""),
    "train-succeeds": ("succeeded", "", "", ""),
    "train-node-fails": ("failed", "Error", "node", "exit code 3"),
    "tf-succeeds": ("succeeded", "", "", ""),
    "tf-fails": ("failed", "Error", "tensorflow", "exit code 3"),
    "xgboost-succeeds": ("succeeded", "", "", ""),
    "xgboost-fails": ("failed", "Error", "xgboost", "exit code 3"),
    "paddle-succeeds": ("succeeded", "", "", ""),
    "paddle-fails": ("failed", "Error", "paddle", "exit code 3"),
    "jax-succeeds": ("succeeded", "", "", ""),
    "jax-fails": ("failed", "Error", "jax", "exit code 3"),
    "statefulset-ready": ("ready", "", "", ""),
    "statefulset-crash-loop": ("failed", "CrashLoop", "main", "exit code 7"),
    "lws-ready": ("ready", "", "", ""),
    # Its operator makes all pods of the group anew when one container is started again.
    "lws-worker-crashes": ("failed", "CrashLoop", "main", "exit code 7"),
    "rayjob-succeeds": ("succeeded", "", "", ""),
    # Its submitter ends well: only the RayJob says how the program ended.
    "rayjob-fails": ("failed", "AppFailed", "", "Job entrypoint command failed with exit code 3"),
    "rayjob-invalid": ("failed", "ValidationFailed", "", "cannot have TTLSecondsAfterFinished"),
    "rayservice-ready": ("ready", "", "", ""),
    "rayservice-fails": ("failed", "DEPLOY_FAILED", "", "module 'hello' has no attribute 'no_such_app'"),
    "rayservice-invalid": ("failed", "ValidationFailed", "", "headService.metadata.name should not be set"),
}
BAD = [name for name, row in EXPECTED.items() if row[0] not in ("succeeded", "ready")]


def end(recording: Recording, found: t.Iterable[changes.Change]) -> tuple[State, list[str]]:
    rules = recording.rules(grace=SHORT, timeout=last(recording) - recording.started + 55)
    state, said = drive(found, rules)
    after, more_said = drive(ticks(last(recording), 60, every=5), rules, state)
    return after, said + more_said


def ending(state: State) -> Ending:
    assert state.ending is not None
    return state.ending


def test_every_recording_has_an_expectation() -> None:
    assert sorted(EXPECTED) == NAMES


@pytest.mark.parametrize("name", EXPECTED)
def test_outcome_and_cause(name: str) -> None:
    outcome, reason, container, words = EXPECTED[name]
    recording = load(name)
    state, _ = end(recording, recording.changes)
    found = ending(state)
    assert found.outcome == outcome
    if reason:
        assert found.cause is not None
        assert (found.cause.reason, found.cause.container) == (reason, container)
        assert words in found.cause.message
        assert found.cause.remedy.endswith(".")
    else:
        assert found.cause is None


@pytest.mark.parametrize("name", BAD)
def test_a_cause_is_one_line_that_names_the_object(name: str) -> None:
    recording = load(name)
    found = ending(end(recording, recording.changes)[0]).cause
    assert found is not None
    kind, _, subject = found.object.partition("/")
    assert kind in ("Pod", recording.kind.kind)
    assert subject.startswith(recording.name)
    assert "\n" not in str(found)


@pytest.mark.parametrize("name", EXPECTED)
def test_nothing_changes_after_the_ending(name: str) -> None:
    recording = load(name)
    state, _ = end(recording, recording.changes)
    again, said = drive(
        [*recording.changes, changes.LockLost(at=last(recording) + 99, holder="x")], recording.rules(), state
    )
    assert again is state
    assert said == []


def test_phases_of_an_mpi_job_are_those_of_its_launcher() -> None:
    recording = load("mpi-succeeds")
    state, _ = end(recording, recording.changes)
    assert list(state.phases) == ["queued", "pulling", "running", "finishing"]
    assert list(state.phases.values()) == sorted(state.phases.values())
    launcher = next(
        change.at
        for change in recording.changes
        if isinstance(change, changes.PodSeen)
        and "launcher" in change.entry["metadata"]["name"]
        and change.entry["status"]["phase"] == "Running"
    )
    assert state.phases["running"] == launcher


def test_a_phase_that_did_not_happen_is_absent() -> None:
    recording = load("job-unschedulable")
    state, _ = end(recording, recording.changes)
    assert list(state.phases) == ["queued", "finishing"]


def test_lines_tell_the_pods_and_the_warnings_once() -> None:
    recording = load("job-secret-missing")
    state, said = end(recording, recording.changes)
    assert "Job job-secret-missing: pods 1 pending" in said
    assert "Job job-secret-missing: pods 1 pending (CreateContainerConfigError)" in said
    assert any(line.startswith("Pod/job-secret-missing-") and ": Failed: " in line for line in said)
    assert len(said) == len(set(said))
    assert len(state.warnings) >= 1


def test_a_repeated_event_is_said_once() -> None:
    recording = load("deployment-never-ready")
    _, said = drive(recording.changes, recording.rules())
    assert sum("Readiness probe failed" in line for line in said) == 1


# The traps of the kinds table, on the recordings that hold them.


def test_mpi_job_evicted_without_completion_time_is_not_final() -> None:
    recording = load("mpi-evicted")
    doubtful = [
        change.entry
        for change in recording.changes
        if isinstance(change, changes.WorkloadSeen) and "MPIJobEvicted" in str(change.entry["status"])
    ]
    assert not any(entry["status"].get("completionTime") for entry in doubtful[:-1])
    verdict = judge(recording.kind, doubtful[0], until=None, fail_on=())
    assert (verdict.state, verdict.reason, verdict.final) == ("running", "MPIJobEvicted", False)
    assert ending(drive(recording.changes, recording.rules())[0]).outcome == "succeeded"


def test_mpi_job_evicted_for_good_fails_after_a_grace() -> None:
    recording = load("mpi-evicted")
    rules = recording.rules(grace=SHORT)
    state, _ = drive(recording.until(6), rules)
    assert state.verdict.reason == "MPIJobEvicted"
    before, _ = drive(ticks(recording.started + 6, 20), rules, state)
    assert before.ending is None
    after, _ = drive(ticks(recording.started + 26, 20), rules, before)
    found = ending(after)
    assert (found.outcome, t.cast(t.Any, found.cause).reason) == ("failed", "MPIJobEvicted")


def test_restarting_is_not_failure() -> None:
    recording = load("pytorch-restarts")
    running = next(
        change
        for change in recording.changes
        if isinstance(change, changes.WorkloadSeen) and "PyTorchJobRunning" in str(change.entry["status"])
    )
    # The operator stores it for a moment only; not every watch sees it.
    text = (
        json.dumps(running.entry)
        .replace("PyTorchJobRunning", "PyTorchJobRestarting")
        .replace('"Running"', '"Restarting"')
    )
    entry = json.loads(text)
    assert any(one["type"] == "Restarting" and one["status"] == "True" for one in entry["status"]["conditions"])
    assert drive([changes.WorkloadSeen(at=running.at, entry=entry)], recording.rules())[0].ending is None


def test_a_pod_that_comes_again_under_its_old_name_is_alive() -> None:
    recording = load("pytorch-restarts")
    gone = next(change for change in recording.changes if isinstance(change, changes.PodGone))
    name = gone.entry["metadata"]["name"]
    index = recording.changes.index(gone)
    before, _ = drive(recording.changes[: index + 1], recording.rules())
    assert name not in before.live
    after, _ = drive(recording.changes[index + 1 : index + 8], recording.rules(), before)
    assert name in after.live


def test_interim_conditions_of_a_job_do_not_end_it() -> None:
    for name, interim in (("job-exits-3", "FailureTarget"), ("job-succeeds", "SuccessCriteriaMet")):
        recording = load(name)
        seen = [
            change
            for change in recording.changes
            if isinstance(change, changes.WorkloadSeen)
            and [one["type"] for one in change.entry["status"].get("conditions", [])] == [interim]
        ]
        assert seen, f"{name} never says {interim} alone"
        assert drive(seen, recording.rules())[0].ending is None


def test_a_deployment_is_not_ready_for_a_generation_it_has_not_observed() -> None:
    recording = load("deployment-upgraded")
    stale = [
        change
        for change in recording.changes
        if isinstance(change, changes.WorkloadSeen)
        and change.entry["metadata"]["generation"] == 2
        and change.entry["status"]["observedGeneration"] == 1
    ]
    assert stale
    assert stale[0].entry["status"]["availableReplicas"] == 1
    assert drive(stale, recording.rules())[0].ending is None


def test_an_upgrade_is_ready_when_only_new_pods_are_left() -> None:
    recording = load("deployment-upgraded")
    first = next(
        index
        for index, change in enumerate(recording.changes)
        if isinstance(change, changes.WorkloadSeen) and change.entry["metadata"]["generation"] == 2
    )
    state, _ = drive(recording.changes[first:], recording.rules())
    found = t.cast(t.Any, state.workload)["status"]
    assert ending(state).outcome == "ready"
    assert (found["replicas"], found["updatedReplicas"], found["availableReplicas"]) == (1, 1, 1)


def test_settle_finds_the_container_whose_end_was_seen_after_the_workloads() -> None:
    recording = load("job-exits-3")
    only = [change for change in recording.changes if isinstance(change, changes.WorkloadSeen)]
    pods = [change.entry for change in recording.changes if isinstance(change, changes.PodSeen)]
    state, _ = drive(only, recording.rules())
    assert t.cast(t.Any, ending(state).cause).reason == "BackoffLimitExceeded"
    cause = t.cast(t.Any, ending(settle(state, pods[-1:], recording.rules())).cause)
    assert (cause.container, cause.message) == ("main", "it ended with exit code 3.")
