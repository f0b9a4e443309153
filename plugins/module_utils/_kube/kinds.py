# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The workload kinds: one row each, with what its status means. A new kind costs a row and a test beside the others.

Source: the table of terminal conditions in docs/architecture.md, read in each operator's source at the pinned versions.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document
from ansible_collections.mlops.eks.plugins.module_utils._kube.expressions import Expression, condition, is_true

State = t.Literal["pending", "running", "suspended", "succeeded", "ready", "failed"]


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What a workload's status says. `final` means nothing further will change on its own.

    A `reason` without `final` is a failure that the operator may still take back.
    """

    state: State
    reason: str = ""
    message: str = ""

    @property
    def final(self) -> bool:
        """Whether the step can end on this."""
        return self.state in ("succeeded", "ready", "failed")


PENDING = Verdict(state="pending")
RUNNING = Verdict(state="running")


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One row: how to find a workload's pods, which of them speaks for it, and what its status means.

    `between` is the kind of what stands between the workload and its pods, named `<workload>-<suffix>`.
    """

    api_version: str
    kind: str
    plural: str
    serves: bool
    judge: Callable[[Document], Verdict]
    selector: Callable[[Document], str]
    role: Callable[[Document], str]
    leader: Callable[[Document], str | None] = lambda _: None
    between: str = ""

    def leads(self, entry: Document, pod: Document) -> bool:
        """Return whether this pod's log is the log of workload `entry`; without a leader every pod's is."""
        leader = self.leader(entry)
        return leader is None or self.role(pod) == leader


def _label(pod: Document, key: str) -> str:
    return str((pod["metadata"].get("labels") or {}).get(key, ""))


def _by_name(key: str) -> Callable[[Document], str]:
    return lambda entry: f"{key}={entry['metadata']['name']}"


def _by_match_labels(entry: Document) -> str:
    return ",".join(f"{key}={value}" for key, value in sorted(entry["spec"]["selector"]["matchLabels"].items()))


def _plain_role(pod: Document) -> str:
    return _label(pod, "batch.kubernetes.io/job-completion-index") or "pod"


def _replica_role(pod: Document) -> str:
    role = _label(pod, "training.kubeflow.org/replica-type") or "worker"
    return f"{role}-{_label(pod, 'training.kubeflow.org/replica-index')}".rstrip("-")


def _first_replica(entry: Document) -> str:
    # An elastic job has no master: its first worker is rank 0.
    return "master-0" if "Master" in entry["spec"].get("pytorchReplicaSpecs", {}) else "worker-0"


def _mpi_role(pod: Document) -> str:
    role = _label(pod, "training.kubeflow.org/job-role") or "pod"
    index = _label(pod, "training.kubeflow.org/replica-index")
    return f"{role}-{index}" if index and role == "worker" else role


def _failed(entry: Document, kind: str = "Failed") -> Verdict:
    found = condition(entry, kind) or {}
    return Verdict(state="failed", reason=str(found.get("reason", "")), message=str(found.get("message", "")))


def _job(entry: Document) -> Verdict:
    # FailureTarget and SuccessCriteriaMet are interim: pods are still ending.
    if is_true(entry, "Complete"):
        return Verdict(state="succeeded")
    if is_true(entry, "Failed"):
        return _failed(entry)
    if is_true(entry, "Suspended"):
        return Verdict(state="suspended")
    return RUNNING if (entry.get("status") or {}).get("ready") else PENDING


def _training(entry: Document) -> Verdict:
    """Kubeflow v1 jobs. Restarting is not failure: the operator is trying again."""
    if is_true(entry, "Succeeded"):
        return Verdict(state="succeeded")
    if is_true(entry, "Failed"):
        return _failed(entry)
    if is_true(entry, "Suspended"):
        return Verdict(state="suspended")
    return RUNNING if is_true(entry, "Running") else PENDING


def _mpi(entry: Document) -> Verdict:
    # Failed without completionTime (MPIJobEvicted) may still be followed by Succeeded, mpi-operator#647.
    if is_true(entry, "Failed") and not (entry.get("status") or {}).get("completionTime"):
        return replace(_failed(entry), state="running")
    return _training(entry)


def _deployment(entry: Document) -> Verdict:
    status, spec = entry.get("status") or {}, entry["spec"]
    if spec.get("paused"):
        return Verdict(state="suspended")
    if status.get("observedGeneration", 0) < entry["metadata"].get("generation", 0):
        return PENDING
    progressing = condition(entry, "Progressing") or {}
    if progressing.get("reason") == "ProgressDeadlineExceeded":
        return _failed(entry, "Progressing")
    wanted = spec.get("replicas", 1)
    counts = [status.get(key, 0) for key in ("updatedReplicas", "availableReplicas", "replicas")]
    # Pods of the old version answer until they are gone; they are not in the other counts.
    if counts == [wanted] * 3 and not status.get("terminatingReplicas"):
        return Verdict(state="ready")
    return RUNNING if status.get("readyReplicas") else PENDING


_TRAINING_LABEL = "training.kubeflow.org/job-name"

KINDS: Mapping[tuple[str, str], Kind] = {
    (row.api_version, row.kind): row
    for row in (
        Kind(
            api_version="batch/v1",
            kind="Job",
            plural="jobs",
            serves=False,
            judge=_job,
            selector=_by_name("batch.kubernetes.io/job-name"),
            role=_plain_role,
        ),
        Kind(
            api_version="kubeflow.org/v2beta1",
            kind="MPIJob",
            plural="mpijobs",
            serves=False,
            judge=_mpi,
            selector=_by_name(_TRAINING_LABEL),
            role=_mpi_role,
            leader=lambda _: "launcher",
            between="Job",
        ),
        Kind(
            api_version="kubeflow.org/v1",
            kind="PyTorchJob",
            plural="pytorchjobs",
            serves=False,
            judge=_training,
            selector=_by_name(_TRAINING_LABEL),
            role=_replica_role,
            leader=_first_replica,
        ),
        Kind(
            api_version="apps/v1",
            kind="Deployment",
            plural="deployments",
            serves=True,
            judge=_deployment,
            selector=_by_match_labels,
            role=_plain_role,
            between="ReplicaSet",
        ),
    )
}


def judge(kind: Kind, entry: Document, *, until: Expression | None, fail_on: tuple[Expression, ...]) -> Verdict:
    """Return what `entry` says: `fail_on` first, then `until` when given, else the kind's own row."""
    for expression in fail_on:
        if expression.holds(entry):
            return Verdict(state="failed", reason="fail_on", message=f"{expression.text} holds")
    own = kind.judge(entry)
    if until is None or own.state == "failed":
        return own
    if until.holds(entry):
        return Verdict(state="ready" if kind.serves else "succeeded", reason="until")
    return RUNNING if own.final else own


def unknown(api_version: str, kind: str, plural: str) -> Kind:
    """Return the row of a kind that has none: only `until` and `fail_on` decide it; pods by the release's label."""
    return Kind(
        api_version=api_version,
        kind=kind,
        plural=plural,
        serves=False,
        judge=lambda _: PENDING,
        selector=lambda entry: f"app.kubernetes.io/instance={entry['metadata']['name']}",
        role=_plain_role,
    )
