"""The table of kinds as a whole: expressions over it, and its rows against real pods."""

from __future__ import annotations

import typing as t

import pytest
from fakes.replay import load

from ansible_collections.mlops.eks.plugins.module_utils._follow.changes import PodSeen, WorkloadSeen
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.expressions import parse
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.table import KINDS, Kind, Verdict, judge, unknown

Document = dict[str, t.Any]
JOB, SERVER = KINDS["batch/v1", "Job"], KINDS["apps/v1", "Deployment"]


def job(*conditions: str, **status: t.Any) -> Document:
    found = [{"type": one, "status": "True", "reason": f"Why{one}", "message": "m"} for one in conditions]
    return {"metadata": {"name": "x"}, "spec": {}, "status": {"conditions": found, **status}}


def server(generation: int = 1, paused: bool = False, wanted: int = 2, **status: t.Any) -> Document:
    return {
        "metadata": {"name": "x", "generation": generation},
        "spec": {"replicas": wanted, "paused": paused, "selector": {"matchLabels": {"b": "2", "a": "1"}}},
        "status": status,
    }


def test_a_failure_says_why() -> None:
    verdict = judge(JOB, job("Failed"), until=None, fail_on=())
    assert (verdict.reason, verdict.message) == ("WhyFailed", "m")


def test_until_replaces_the_kinds_own_success_but_not_its_failure() -> None:
    until = parse("condition=Trained")
    assert judge(JOB, job(ready=1), until=until, fail_on=()).state == "running"
    assert judge(JOB, job("Trained"), until=until, fail_on=()).state == "succeeded"
    assert judge(JOB, job("Trained", "Failed"), until=until, fail_on=()).state == "failed"
    assert (
        judge(SERVER, server(conditions=[{"type": "Trained", "status": "True"}]), until=until, fail_on=()).state
        == "ready"
    )


def test_a_workload_that_ended_without_what_is_waited_for_has_failed() -> None:
    verdict = judge(JOB, job("Complete"), until=parse("condition=Trained"), fail_on=())
    assert verdict == Verdict(state="failed", reason="until", message="it ended well, but condition=Trained never held")


def test_a_server_that_is_ready_may_still_become_what_is_waited_for() -> None:
    verdict = judge(SERVER, server(wanted=0, observedGeneration=1), until=parse("condition=Trained"), fail_on=())
    assert verdict.state == "running"


def test_an_unknown_kind_is_found_by_its_release() -> None:
    row, metadata = unknown("example.com/v1", "Thing", "things"), {"name": "x", "labels": {}}
    assert row.selectors({"metadata": metadata}) == ({"labelSelector": "app.kubernetes.io/instance=x"},)
    metadata["labels"] = {"app.kubernetes.io/instance": "run"}
    assert row.selectors({"metadata": metadata}) == ({"labelSelector": "app.kubernetes.io/instance=run"},)


def test_an_unknown_kind_is_decided_by_expressions_alone() -> None:
    row = unknown("example.com/v1", "Thing", "things")
    entry = job("Ready", "Complete", "Failed")
    assert judge(row, entry, until=None, fail_on=()).state == "pending"
    assert judge(row, entry, until=parse("condition=Ready"), fail_on=()).state == "succeeded"
    assert judge(row, entry, until=parse("condition=Ready"), fail_on=(parse("condition=Failed"),)).state == "failed"


# A recording, the role that leads, and all roles.
REAL = (
    ("job-succeeds", "pod", {"pod"}),
    ("mpi-succeeds", "launcher", {"launcher", "worker-0", "worker-1"}),
    ("pytorch-succeeds", "master-0", {"master-0", "worker-0"}),
    ("pytorch-elastic", "worker-0", {"worker-0", "worker-1"}),
    ("tf-succeeds", "chief-0", {"chief-0", "worker-0"}),
    ("xgboost-succeeds", "master-0", {"master-0", "worker-0"}),
    ("paddle-succeeds", "master-0", {"master-0", "worker-0"}),
    ("jax-succeeds", "worker-0", {"worker-0"}),
    ("jobset-succeeds", "driver-0", {"driver-0", "worker-0", "worker-1"}),
    ("train-succeeds", "node-0", {"node-0", "node-1"}),
    ("lws-ready", "leader-0", {"leader-0", "worker-0-1"}),
    ("deployment-ready", "pod", {"pod"}),
)


@pytest.mark.parametrize(("name", "leader", "roles"), REAL)
def test_roles_and_leader_of_real_pods(name: str, leader: str, roles: set[str]) -> None:
    kind, entry, pods = real(name)
    assert {kind.role(pod) for pod in pods} == roles
    assert {kind.role(pod) for pod in pods if kind.leads(entry, pod)} == {leader}


def test_every_replica_of_a_real_stateful_set_leads() -> None:
    kind, entry, pods = real("statefulset-ready")
    assert {kind.role(pod) for pod in pods if kind.leads(entry, pod)} == {"replica-0", "replica-1"}


@pytest.mark.parametrize("name", [*(name for name, _, _ in REAL), "statefulset-ready"])
def test_the_selector_matches_real_pods(name: str) -> None:
    kind, entry, pods = real(name)
    (selector,) = kind.selectors(entry)
    wanted = dict(part.split("=") for part in selector["labelSelector"].split(","))
    for pod in pods:
        assert wanted.items() <= pod["metadata"]["labels"].items()


def real(name: str) -> tuple[Kind, Document, list[Document]]:
    """The kind, the first sight of the workload, and the pods of a recording."""
    recording = load(name)
    entry = next(change.entry for change in recording.changes if isinstance(change, WorkloadSeen))
    pods = [change.entry for change in recording.changes if isinstance(change, PodSeen)]
    assert pods
    return recording.kind, entry, pods


def test_a_server_is_selected_by_all_its_labels() -> None:
    assert SERVER.selectors(server()) == ({"labelSelector": "a=1,b=2"},)
