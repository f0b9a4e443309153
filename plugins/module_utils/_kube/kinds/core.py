# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Kubernetes' own workloads.

Source: Kubernetes v1.35 pkg/controller/job/job_controller.go, pkg/controller/deployment/progress.go,
pkg/controller/statefulset/stateful_set_control.go, kubectl pkg/polymorphichelpers/rollout_status.go.
"""

from __future__ import annotations

import re

from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.expressions import condition, is_true
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.row import (
    NEVER_READY,
    PENDING,
    READY,
    RUNNING,
    SUCCEEDED,
    SUSPENDED,
    Kind,
    Verdict,
    by_conditions,
    by_match_labels,
    by_name,
    failed,
    is_stale,
    label,
    name,
    plain_role,
    ready,
    status,
)


def _deployment(entry: Document) -> Verdict:
    if entry["spec"].get("paused"):
        return SUSPENDED
    if is_stale(entry):
        return PENDING
    progressing = condition(entry, "Progressing") or {}
    if progressing.get("reason") == NEVER_READY:
        return failed(entry, "Progressing")
    seen, wanted = status(entry), entry["spec"].get("replicas", 1)
    counts = [seen.get(key, 0) for key in ("updatedReplicas", "availableReplicas", "replicas")]
    # Terminating pods of the old version still serve; the other counts do not include them.
    if counts == [wanted] * 3 and not seen.get("terminatingReplicas"):
        return ready(entry, entry["spec"].get("template") or {})
    return RUNNING if seen.get("readyReplicas") else PENDING


def _stateful_set(entry: Document) -> Verdict:
    """StatefulSets never fail by themselves; pods below `partition` stay at the old revision."""
    if is_stale(entry):
        return PENDING
    spec, seen = entry["spec"], status(entry)
    wanted, strategy = spec.get("replicas", 1), spec.get("updateStrategy") or {}
    partition = (strategy.get("rollingUpdate") or {}).get("partition") or 0
    due = 0 if strategy.get("type") == "OnDelete" else max(wanted - partition, 0)
    # Equal counts may include an old pod, so the revisions must be equal too.
    whole = bool(partition) or not due or seen.get("currentRevision") == seen.get("updateRevision")
    there = seen.get("replicas", 0) == wanted == seen.get("availableReplicas", 0)
    if there and whole and seen.get("updatedReplicas", 0) >= due:
        return ready(entry, spec.get("template") or {})
    return RUNNING if seen.get("readyReplicas") else PENDING


def _pod(entry: Document) -> Verdict:
    """A bare pod ends, unless its restart policy is Always (the default): then it can only become ready."""
    seen = status(entry)
    match seen.get("phase"):
        case "Succeeded":
            return SUCCEEDED
        case "Failed":
            reason, message = seen.get("reason") or "PodFailed", seen.get("message") or ""
            return Verdict(state="failed", reason=str(reason), message=str(message))
        case "Running":
            endless = entry["spec"].get("restartPolicy", "Always") == "Always"
            return READY if endless and is_true(entry, "Ready") else RUNNING
    return PENDING


def _index(pod: Document) -> str:
    return label(pod, "batch.kubernetes.io/job-completion-index")


def _ordinal(pod: Document) -> str:
    return f"replica-{label(pod, 'apps.kubernetes.io/pod-index') or name(pod).rpartition('-')[2]}"


_REPLICA_SET = re.compile(r'replica ?set "([^"]+)"', re.IGNORECASE)


def _of_newest_replica_set(entry: Document, pod: Document) -> bool:
    """Return whether a pod belongs to the newest replica set, which the condition Progressing names."""
    if is_stale(entry):
        return False
    named = _REPLICA_SET.search(str((condition(entry, "Progressing") or {}).get("message")))
    template = label(pod, "pod-template-hash")
    return named is None or not template or named[1].endswith(f"-{template}")


def _of_update_revision(entry: Document, pod: Document) -> bool:
    newest = status(entry).get("updateRevision")
    return not is_stale(entry) and (not newest or label(pod, "controller-revision-hash") == newest)


ROWS = (
    Kind(
        api_version="batch/v1",
        kind="Job",
        plural="jobs",
        serves=False,
        # FailureTarget and SuccessCriteriaMet come before the pods have ended.
        judge=by_conditions(succeeded="Complete", running=lambda entry: bool(status(entry).get("ready"))),
        selectors=by_name("batch.kubernetes.io/job-name"),
        role=lambda pod: f"rank-{_index(pod)}" if _index(pod) else "pod",
        leader=lambda entry: "rank-0" if entry["spec"].get("completionMode") == "Indexed" else None,
    ),
    Kind(
        api_version="apps/v1",
        kind="Deployment",
        plural="deployments",
        serves=True,
        judge=_deployment,
        selectors=by_match_labels,
        role=plain_role,
        intermediates=lambda entry: {"ReplicaSet": rf"{re.escape(name(entry))}-[a-z0-9]+"},
        is_current=_of_newest_replica_set,
    ),
    Kind(
        api_version="apps/v1",
        kind="StatefulSet",
        plural="statefulsets",
        serves=True,
        judge=_stateful_set,
        selectors=by_match_labels,
        role=_ordinal,
        is_current=_of_update_revision,
    ),
    Kind(
        api_version="v1",
        kind="Pod",
        plural="pods",
        serves=False,
        judge=_pod,
        selectors=lambda entry: ({"fieldSelector": f"metadata.name={name(entry)}"},),
        role=plain_role,
    ),
)
