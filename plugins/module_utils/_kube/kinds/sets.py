# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""JobSet, a set of Jobs that run to completion together, and LeaderWorkerSet, groups of pods that serve together.

Source: jobset v0.12.0 api/jobset/v1alpha2/jobset_types.go and pkg/controllers/jobset_controller.go, lws v0.9.0
api/leaderworkerset/v1/leaderworkerset_types.go and pkg/controllers/leaderworkerset_controller.go.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.expressions import is_true
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.row import (
    PENDING,
    RUNNING,
    SUCCEEDED,
    Kind,
    Verdict,
    by_conditions,
    by_name,
    failed,
    is_stale,
    label,
    name,
    ready,
    status,
)

JOBSET_NAME = "jobset.sigs.k8s.io/jobset-name"
_LWS = "leaderworkerset.sigs.k8s.io"


def any_ready(entry: Document, key: str) -> bool:
    """Return whether a replicated job in the status list `key` has all its pods ready."""
    return any(part.get("ready") for part in status(entry).get(key) or ())


def jobset_role(pod: Document) -> str:
    """Return `node-2`, or with several replicas of the job, `node-1-2`: job index, then rank in the job."""
    several = label(pod, "jobset.sigs.k8s.io/replicatedjob-replicas") not in ("", "1")
    parts = (
        label(pod, "jobset.sigs.k8s.io/replicatedjob-name") or "pod",
        label(pod, "jobset.sigs.k8s.io/job-index") if several else "",
        label(pod, "batch.kubernetes.io/job-completion-index"),
    )
    return "-".join(part for part in parts if part)


_by_conditions = by_conditions(succeeded="Completed", running=lambda entry: any_ready(entry, "replicatedJobsStatus"))


def _jobset(entry: Document) -> Verdict:
    # A restart (condition RestartingJobSet) is not a failure; terminalState is set with the last condition.
    match status(entry).get("terminalState"):
        case "Completed":
            return SUCCEEDED
        case "Failed":
            return failed(entry)
    return _by_conditions(entry)


def _leader(entry: Document) -> str | None:
    """Return the role of the coordinator, else of the first pod of the jobs that decide the success."""
    spec = entry["spec"]
    jobs = {job["name"]: job for job in spec.get("replicatedJobs") or ()}
    if not jobs:
        return None
    chosen = spec.get("coordinator") or {}
    targets = (spec.get("successPolicy") or {}).get("targetReplicatedJobs") or list(jobs)
    job = jobs.get(chosen.get("replicatedJob", targets[0])) or jobs[next(iter(jobs))]
    several = int(job.get("replicas", 1)) > 1
    indices = (chosen.get("jobIndex", 0), chosen.get("podIndex", 0)) if several else (chosen.get("podIndex", 0),)
    return "-".join((job["name"], *map(str, indices)))


def _between(entry: Document) -> Mapping[str, str]:
    jobs = "|".join(re.escape(job["name"]) for job in entry["spec"].get("replicatedJobs") or ())
    return {"Job": rf"{re.escape(name(entry))}-(?:{jobs})-\d+"}


def _lws(entry: Document) -> Verdict:
    """LeaderWorkerSets never fail by themselves. Available, Progressing and UpdateInProgress exclude each other."""
    if is_stale(entry):
        return PENDING
    spec, seen = entry["spec"], status(entry)
    wanted = spec.get("replicas", 1)
    rolling = (spec.get("rolloutStrategy") or {}).get("rollingUpdateConfiguration") or {}
    # Groups that burst during a rolling update count as ready too.
    enough = seen.get("readyReplicas", 0) >= wanted == seen.get("replicas", 0)
    updated = seen.get("updatedReplicas", 0) >= wanted - (rolling.get("partition") or 0)
    if is_true(entry, "Available") and not is_true(entry, "UpdateInProgress") and enough and updated:
        groups = spec.get("leaderWorkerTemplate") or {}
        return ready(entry, groups.get("leaderTemplate") or groups.get("workerTemplate") or {})
    return RUNNING if seen.get("readyReplicas") else PENDING


def _lws_role(pod: Document) -> str:
    group, index = label(pod, f"{_LWS}/group-index"), label(pod, f"{_LWS}/worker-index")
    return f"leader-{group}" if index == "0" else f"worker-{group}-{index}"


ROWS = (
    Kind(
        api_version="jobset.x-k8s.io/v1alpha2",
        kind="JobSet",
        plural="jobsets",
        serves=False,
        judge=_jobset,
        selectors=by_name(JOBSET_NAME),
        role=jobset_role,
        leader=_leader,
        intermediates=_between,
    ),
    Kind(
        api_version="leaderworkerset.x-k8s.io/v1",
        kind="LeaderWorkerSet",
        plural="leaderworkersets",
        serves=True,
        judge=_lws,
        selectors=by_name(f"{_LWS}/name"),
        role=_lws_role,
        leader=lambda _: "leader-0",
        # One StatefulSet of the leaders, and one of the workers for each group.
        intermediates=lambda entry: {"StatefulSet": rf"{re.escape(name(entry))}(?:-\d+)?"},
    ),
)
