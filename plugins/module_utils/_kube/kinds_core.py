# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Kubernetes' own workloads.

Source: Kubernetes v1.35 pkg/controller/job/job_controller.go, pkg/controller/deployment/progress.go.
"""

from __future__ import annotations

import re

from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document
from ansible_collections.mlops.eks.plugins.module_utils._kube.expressions import condition
from ansible_collections.mlops.eks.plugins.module_utils._kube.kind import (
    PENDING,
    READY,
    RUNNING,
    SUSPENDED,
    Kind,
    Verdict,
    behind,
    by_conditions,
    by_match_labels,
    by_name,
    failed,
    name,
    plain_role,
    status,
)


def _deployment(entry: Document) -> Verdict:
    if entry["spec"].get("paused"):
        return SUSPENDED
    if behind(entry):
        return PENDING
    progressing = condition(entry, "Progressing") or {}
    if progressing.get("reason") == "ProgressDeadlineExceeded":
        return failed(entry, "Progressing")
    seen, wanted = status(entry), entry["spec"].get("replicas", 1)
    counts = [seen.get(key, 0) for key in ("updatedReplicas", "availableReplicas", "replicas")]
    # Pods of the old version answer until they are gone; they are not in the other counts.
    if counts == [wanted] * 3 and not seen.get("terminatingReplicas"):
        return READY
    return RUNNING if seen.get("readyReplicas") else PENDING


ROWS = (
    Kind(
        api_version="batch/v1",
        kind="Job",
        plural="jobs",
        serves=False,
        # FailureTarget and SuccessCriteriaMet are interim: pods are still ending.
        judge=by_conditions(succeeded="Complete", running=lambda entry: bool(status(entry).get("ready"))),
        selector=by_name("batch.kubernetes.io/job-name"),
        role=plain_role,
    ),
    Kind(
        api_version="apps/v1",
        kind="Deployment",
        plural="deployments",
        serves=True,
        judge=_deployment,
        selector=by_match_labels,
        role=plain_role,
        between=lambda entry: {"ReplicaSet": rf"{re.escape(name(entry))}-[a-z0-9]+"},
    ),
)
