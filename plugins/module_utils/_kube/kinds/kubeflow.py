# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Kubeflow's jobs: MPIJob of the MPI operator, the jobs of the training operator, and TrainJob of the Trainer.

Source: mpi-operator v0.8.0 pkg/controller/mpi_job_controller_status.go, training-operator v1.9.4
pkg/apis/kubeflow.org/v1, trainer v2.3.0 pkg/controller/trainjob_controller.go and
pkg/runtime/framework/plugins/jobset/jobset.go.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.expressions import is_true
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.row import (
    Kind,
    Verdict,
    by_conditions,
    by_name,
    failed,
    label,
    name,
    status,
)
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.sets import JOBSET_NAME, any_ready, jobset_role

_JOB_NAME = "training.kubeflow.org/job-name"
# The replicated jobs of the Trainer's own runtimes, used until the status names those of the TrainJob.
_TRAIN_PARTS = ("node", "launcher", "dataset-initializer", "model-initializer")

# The condition Restarting is not a failure.
_training = by_conditions(succeeded="Succeeded", running=lambda entry: is_true(entry, "Running"))


def _mpi(entry: Document) -> Verdict:
    # Failed without completionTime (MPIJobEvicted) may still be followed by Succeeded, mpi-operator#647.
    if is_true(entry, "Failed") and not status(entry).get("completionTime"):
        return replace(failed(entry), state="running")
    return _training(entry)


def _mpi_role(pod: Document) -> str:
    role = label(pod, "training.kubeflow.org/job-role") or "pod"
    index = label(pod, "training.kubeflow.org/replica-index")
    return f"{role}-{index}" if index and role == "worker" else role


def _replica_role(pod: Document) -> str:
    role = label(pod, "training.kubeflow.org/replica-type") or "worker"
    return f"{role}-{label(pod, 'training.kubeflow.org/replica-index')}".rstrip("-")


def _first_replica(entry: Document) -> str:
    roles: Document = next((specs for key, specs in entry["spec"].items() if key.endswith("ReplicaSpecs")), {})
    # An elastic job has no master: its first worker is rank 0.
    return next((f"{role.lower()}-0" for role in ("Chief", "Master") if role in roles), "worker-0")


def _replicated(framework: str) -> Kind:
    return Kind(
        api_version="kubeflow.org/v1",
        kind=f"{framework}Job",
        plural=f"{framework.lower()}jobs",
        serves=False,
        judge=_training,
        selectors=by_name(_JOB_NAME),
        role=_replica_role,
        leader=_first_replica,
    )


def _parts(entry: Document) -> tuple[str, ...]:
    """Return the replicated jobs of a TrainJob, which depend on its runtime, from its status."""
    return tuple(str(part["name"]) for part in status(entry).get("jobsStatus") or ())


def _train_leader(entry: Document) -> str:
    # MPI runtimes have a launcher.
    return "launcher-0" if "launcher" in _parts(entry) else "node-0"


def _train_between(entry: Document) -> Mapping[str, str]:
    # The Trainer creates a JobSet with the TrainJob's name.
    own, parts = re.escape(name(entry)), "|".join(map(re.escape, _parts(entry) or _TRAIN_PARTS))
    return {"JobSet": own, "Job": rf"{own}-(?:{parts})-\d+"}


ROWS = (
    Kind(
        api_version="kubeflow.org/v2beta1",
        kind="MPIJob",
        plural="mpijobs",
        serves=False,
        judge=_mpi,
        selectors=by_name(_JOB_NAME),
        role=_mpi_role,
        leader=lambda _: "launcher",
        fixed_ranks=True,
        intermediates=lambda entry: {"Job": f"{re.escape(name(entry))}-launcher"},
        # The operator watches the launcher only, not the workers.
        replaces_failed_pods=False,
    ),
    *map(_replicated, ("PyTorch", "TF", "XGBoost", "Paddle", "JAX")),
    Kind(
        api_version="trainer.kubeflow.org/v1alpha1",
        kind="TrainJob",
        plural="trainjobs",
        serves=False,
        # There is no condition Running. Complete is the JobSet's condition Completed.
        judge=by_conditions(succeeded="Complete", running=lambda entry: any_ready(entry, "jobsStatus")),
        selectors=by_name(JOBSET_NAME),
        role=jobset_role,
        leader=_train_leader,
        intermediates=_train_between,
    ),
)
