"""What each kind's status means: reference/kubernetes.md 3.4, one row of cases per row of the table."""

from __future__ import annotations

import typing as t

import pytest
from fakes.replay import load

from ansible_collections.mlops.eks.plugins.module_utils._kube.expressions import parse
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds import KINDS, Kind, judge, unknown
from ansible_collections.mlops.eks.plugins.module_utils._step.changes import PodSeen, WorkloadSeen

Document = dict[str, t.Any]
JOB, MPI = KINDS["batch/v1", "Job"], KINDS["kubeflow.org/v2beta1", "MPIJob"]
PYTORCH, SERVER = KINDS["kubeflow.org/v1", "PyTorchJob"], KINDS["apps/v1", "Deployment"]


def job(*conditions: str, **status: t.Any) -> Document:
    found = [{"type": one, "status": "True", "reason": f"Why{one}", "message": "m"} for one in conditions]
    return {"metadata": {"name": "x"}, "spec": {}, "status": {"conditions": found, **status}}


def server(generation: int = 1, paused: bool = False, wanted: int = 2, **status: t.Any) -> Document:
    return {
        "metadata": {"name": "x", "generation": generation},
        "spec": {"replicas": wanted, "paused": paused, "selector": {"matchLabels": {"b": "2", "a": "1"}}},
        "status": status,
    }


UP = {"observedGeneration": 1, "replicas": 2, "updatedReplicas": 2, "availableReplicas": 2, "readyReplicas": 2}
OVERDUE = {"conditions": [{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}]}

CASES: tuple[tuple[Kind, Document, str], ...] = (
    (JOB, {"metadata": {}, "spec": {}}, "pending"),
    (JOB, job(), "pending"),
    (JOB, job(active=1), "pending"),
    (JOB, job(active=1, ready=1), "running"),
    (JOB, job("Suspended"), "suspended"),
    (JOB, job("SuccessCriteriaMet", ready=1), "running"),
    (JOB, job("FailureTarget", ready=1), "running"),
    (JOB, job("SuccessCriteriaMet", "Complete"), "succeeded"),
    (JOB, job("FailureTarget", "Failed"), "failed"),
    (MPI, job("Created"), "pending"),
    (MPI, job("Created", "Running"), "running"),
    (MPI, job("Suspended"), "suspended"),
    (MPI, job("Failed"), "running"),
    (MPI, job("Failed", "Running"), "running"),
    (MPI, job("Failed", completionTime="2026-11-21T09:00:00Z"), "failed"),
    (MPI, job("Succeeded", completionTime="2026-11-21T09:00:00Z"), "succeeded"),
    (PYTORCH, job("Created"), "pending"),
    (PYTORCH, job("Created", "Running"), "running"),
    (PYTORCH, job("Created", "Restarting"), "pending"),
    (PYTORCH, job("Suspended"), "suspended"),
    (PYTORCH, job("Failed"), "failed"),
    (PYTORCH, job("Succeeded"), "succeeded"),
    (SERVER, server(), "pending"),
    (SERVER, server(**UP), "ready"),
    (SERVER, server(generation=2, **UP), "pending"),
    (SERVER, server(paused=True, **UP), "suspended"),
    (SERVER, server(**{**UP, "updatedReplicas": 1}), "running"),
    (SERVER, server(**{**UP, "replicas": 3}), "running"),
    (SERVER, server(**{**UP, "availableReplicas": 1, "readyReplicas": 0}), "pending"),
    (SERVER, server(**UP, **OVERDUE), "failed"),
    (SERVER, server(generation=2, **UP, **OVERDUE), "pending"),
    (SERVER, server(wanted=0, observedGeneration=1), "ready"),
)


@pytest.mark.parametrize(("kind", "entry", "state"), CASES, ids=lambda value: value if isinstance(value, str) else None)
def test_verdict(kind: Kind, entry: Document, state: str) -> None:
    verdict = judge(kind, entry, until=None, fail_on=())
    assert verdict.state == state
    assert verdict.final is (state in ("succeeded", "ready", "failed"))


def test_every_row_has_cases() -> None:
    assert {(kind.api_version, kind.kind) for kind, _, _ in CASES} == set(KINDS)


def test_a_failure_says_why() -> None:
    verdict = judge(JOB, job("Failed"), until=None, fail_on=())
    assert (verdict.reason, verdict.message) == ("WhyFailed", "m")


def test_a_condition_that_is_false_says_nothing() -> None:
    entry = job()
    entry["status"]["conditions"] = [{"type": "Complete", "status": "False"}, {"type": "Failed", "status": "Unknown"}]
    assert judge(JOB, entry, until=None, fail_on=()).state == "pending"


def test_until_replaces_the_kinds_own_success_but_not_its_failure() -> None:
    until = parse("condition=Trained")
    assert judge(JOB, job("Complete"), until=until, fail_on=()).state == "running"
    assert judge(JOB, job("Trained"), until=until, fail_on=()).state == "succeeded"
    assert judge(JOB, job("Trained", "Failed"), until=until, fail_on=()).state == "failed"
    assert (
        judge(SERVER, server(conditions=[{"type": "Trained", "status": "True"}]), until=until, fail_on=()).state
        == "ready"
    )


def test_an_unknown_kind_is_decided_by_expressions_alone() -> None:
    row = unknown("example.com/v1", "Thing", "things")
    entry = job("Ready", "Complete", "Failed")
    assert judge(row, entry, until=None, fail_on=()).state == "pending"
    assert judge(row, entry, until=parse("condition=Ready"), fail_on=()).state == "succeeded"
    assert judge(row, entry, until=parse("condition=Ready"), fail_on=(parse("condition=Failed"),)).state == "failed"


@pytest.mark.parametrize(
    ("name", "leaders", "roles"),
    [
        ("job-succeeds", {"pod"}, {"pod"}),
        ("mpi-succeeds", {"launcher"}, {"launcher", "worker-0", "worker-1"}),
        ("pytorch-succeeds", {"master-0"}, {"master-0", "worker-0"}),
        ("deployment-ready", {"pod"}, {"pod"}),
    ],
)
def test_roles_and_leaders_of_real_pods(name: str, leaders: set[str], roles: set[str]) -> None:
    recording = load(name)
    entry = next(change.entry for change in recording.changes if isinstance(change, WorkloadSeen))
    pods = [change.entry for change in recording.changes if isinstance(change, PodSeen)]
    kind = recording.kind
    assert {kind.role(pod) for pod in pods} == roles
    assert {kind.role(pod) for pod in pods if kind.leads(entry, pod)} == leaders


@pytest.mark.parametrize("name", ["job-succeeds", "mpi-succeeds", "pytorch-succeeds", "deployment-ready"])
def test_the_selector_matches_real_pods(name: str) -> None:
    recording = load(name)
    entry = next(change.entry for change in recording.changes if isinstance(change, WorkloadSeen))
    wanted = dict(part.split("=") for part in recording.kind.selector(entry).split(","))
    pods = [change.entry for change in recording.changes if isinstance(change, PodSeen)]
    assert pods
    for pod in pods:
        assert wanted.items() <= pod["metadata"]["labels"].items()


def test_an_elastic_job_is_led_by_its_first_worker() -> None:
    entry = {"spec": {"pytorchReplicaSpecs": {"Worker": {}}}}
    labels = {"training.kubeflow.org/replica-type": "worker", "training.kubeflow.org/replica-index": "0"}
    assert PYTORCH.leads(entry, {"metadata": {"labels": labels}})
    assert not PYTORCH.leads(entry, {"metadata": {"labels": {**labels, "training.kubeflow.org/replica-index": "1"}}})


def test_a_server_is_selected_by_all_its_labels() -> None:
    assert SERVER.selector(server()) == "a=1,b=2"
