# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""KubeRay's RayJob, RayService and RayCluster.

Source: kuberay ray-operator v1.6.2 apis/ray/v1 and controllers/ray/{rayjob,rayservice,raycluster}_controller.go.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.expressions import is_true
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.row import (
    PENDING,
    READY,
    RUNNING,
    SUCCEEDED,
    SUSPENDED,
    Kind,
    Selector,
    Verdict,
    by_name,
    failed,
    failed_unless_changed,
    is_changed,
    is_stale,
    label,
    labelled,
    name,
    status,
)

_CLUSTER, _JOB_NAME = "ray.io/cluster", "batch.kubernetes.io/job-name"
# The first status after a change has the old applications: the operator reads them before it sends the new config, and
# again after two seconds (ServiceDefaultRequeueDuration).
_APPLICATION_SECONDS = 5.0
# jobDeploymentStatus of a RayJob that is not final. A retry is decided before the status is stored.
_NOT_FINAL: Mapping[str, Verdict] = {
    "Running": RUNNING,
    "Suspending": SUSPENDED,
    "Suspended": SUSPENDED,
}


def _summary(message: str) -> str:
    """Return Ray's message on one line: without repeated logs, and with the last line of a traceback only."""
    text = message.partition(", last available logs")[0].partition("Traceback (most recent call last)")[0]
    line = " ".join(text.split())
    if "Traceback (most recent call last)" not in message:
        return line
    return f"{line.rstrip(':')}: {message.strip().splitlines()[-1].strip()}"


def _ray_job(entry: Document) -> Verdict:
    seen = status(entry)
    deployed, job = str(seen.get("jobDeploymentStatus") or ""), str(seen.get("jobStatus") or "")
    reason, message = str(seen.get("reason") or ""), _summary(seen.get("message") or "")
    if deployed == "Complete":
        # Complete includes STOPPED: the Ray job was cancelled.
        text = f"its Ray job is {job or 'in no state'}. {message}".strip()
        return SUCCEEDED if job == "SUCCEEDED" else Verdict(state="failed", reason=job.title(), message=text)
    if deployed in ("Failed", "ValidationFailed"):
        return Verdict(state="failed", reason=reason or deployed, message=message)
    # jobStatus may be FAILED while the operator retries.
    return _NOT_FINAL.get(deployed, PENDING)


def _ray_service(entry: Document) -> Verdict:
    ready = failed(entry, "Ready")
    # The operator ignores later changes of the spec.
    if ready.reason == "InitializingTimeout":
        return ready
    # The operator does not update observedGeneration for an invalid spec.
    if ready.reason == "ValidationFailed":
        return failed_unless_changed(entry, ready.reason, ready.message)
    if is_true(entry, "Suspended") or is_true(entry, "Suspending"):
        return SUSPENDED
    return PENDING if is_stale(entry) else _serving(entry)


def _serving(entry: Document) -> Verdict:
    """Judge by the Serve applications of the newest cluster: Ready also counts endpoints of the old cluster."""
    seen = status(entry)
    new, old = seen.get("pendingServiceStatus") or {}, seen.get("activeServiceStatus") or {}
    upgrades = bool(new.get("rayClusterName")) or is_true(entry, "UpgradeInProgress")
    apps: Mapping[str, Document] = (new if upgrades else old).get("applicationStatuses") or {}
    for app, found in sorted(apps.items()):
        message = f"Serve application {app}: {_summary(found.get('message') or 'no message')}"
        # Serve replaces unhealthy replicas, but repeats a failed deployment only after a change.
        if found.get("status") == "UNHEALTHY":
            return Verdict(state="running", reason="UNHEALTHY", message=message)
        if found.get("status") == "DEPLOY_FAILED":
            return failed_unless_changed(entry, "DEPLOY_FAILED", message)
    up = is_true(entry, "Ready")
    settled = not upgrades and not is_true(entry, "RollbackInProgress")
    if up and settled and all(found.get("status") == "RUNNING" for found in apps.values()):
        return replace(READY, settle_seconds=_APPLICATION_SECONDS) if is_changed(entry) else READY
    return RUNNING if up else PENDING


def _ray_cluster(entry: Document) -> Verdict:
    """Judge by the replica counts: RayClusterProvisioned stays True, and `state` stays ready."""
    seen = status(entry)
    if is_true(entry, "RayClusterSuspending") or is_true(entry, "RayClusterSuspended"):
        return SUSPENDED
    # The operator retries to create pods; then the condition is removed.
    if is_true(entry, "ReplicaFailure"):
        found = failed(entry, "ReplicaFailure")
        return Verdict(state="pending", reason=found.reason, message=found.message)
    up = is_true(entry, "RayClusterProvisioned") and is_true(entry, "HeadPodReady") and not is_stale(entry)
    if up and seen.get("readyWorkerReplicas", 0) >= seen.get("desiredWorkerReplicas", 0):
        return READY
    return RUNNING if is_true(entry, "HeadPodReady") else PENDING


def _role(pod: Document) -> str:
    if label(pod, _JOB_NAME):
        return "submitter"
    if label(pod, "ray.io/node-type") != "worker":
        return label(pod, "ray.io/node-type") or "pod"
    parts = (label(pod, f"ray.io/{key}") for key in ("group", "worker-group-replica-index", "replica-host-index"))
    return "-".join(part for part in parts if part) or "worker"


def _clusters(entry: Document) -> tuple[str, ...]:
    """Return the RayClusters of this workload that its status names."""
    seen = status(entry)
    services = (seen.get(f"{one}ServiceStatus") or {} for one in ("active", "pending"))
    # A cluster chosen by `clusterSelector` is shared with others.
    own = [] if entry["spec"].get("clusterSelector") else [seen.get("rayClusterName")]
    found = (*own, *(service.get("rayClusterName") for service in services))
    return tuple(cluster for cluster in found if cluster)


def _cluster_pods(entry: Document) -> tuple[Selector, ...]:
    return tuple(labelled({_CLUSTER: cluster}) for cluster in _clusters(entry))


def _of_newest_cluster(entry: Document, pod: Document) -> bool:
    # The pending cluster comes last.
    return not is_stale(entry) and label(pod, _CLUSTER) in _clusters(entry)[-1:]


def _between(entry: Document) -> Mapping[str, str]:
    # The cluster is named after the workload and five random letters.
    return {"RayCluster": rf"{re.escape(name(entry))}-[a-z0-9]{{5}}", "Job": re.escape(name(entry))}


def _job_leader(entry: Document) -> str:
    return "submitter" if entry["spec"].get("submissionMode", "K8sJobMode") == "K8sJobMode" else "head"


ROWS = (
    Kind(
        api_version="ray.io/v1",
        kind="RayJob",
        plural="rayjobs",
        serves=False,
        judge=_ray_job,
        selectors=lambda entry: (labelled({_JOB_NAME: name(entry)}), *_cluster_pods(entry)),
        role=_role,
        leader=_job_leader,
        intermediates=_between,
    ),
    Kind(
        api_version="ray.io/v1",
        kind="RayService",
        plural="rayservices",
        serves=True,
        judge=_ray_service,
        selectors=_cluster_pods,
        role=_role,
        leader=lambda _: "head",
        intermediates=_between,
        is_current=_of_newest_cluster,
    ),
    Kind(
        api_version="ray.io/v1",
        kind="RayCluster",
        plural="rayclusters",
        serves=True,
        judge=_ray_cluster,
        selectors=by_name(_CLUSTER),
        role=_role,
        leader=lambda _: "head",
    ),
)
