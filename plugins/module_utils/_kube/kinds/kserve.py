# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""KServe's InferenceService.

Source: kserve v0.20.0 pkg/apis/serving/v1beta1/inference_service_status.go.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.expressions import is_true
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.row import (
    PENDING,
    READY,
    RUNNING,
    SUSPENDED,
    Kind,
    Verdict,
    by_name,
    failed_unless_changed,
    label,
    name,
    status,
)


def _inference_service(entry: Document) -> Verdict:
    """Judge by Ready and the model; `observedGeneration` is that of the predictor's Deployment, so it is ignored."""
    model = status(entry).get("modelStatus") or {}
    if is_true(entry, "Stopped"):
        return SUSPENDED
    transition, failure = model.get("transitionStatus"), model.get("lastFailureInfo") or {}
    reason, message = (
        str(failure.get("reason") or transition),
        str(failure.get("message") or f"its model is {transition}"),
    )
    if transition == "InvalidSpec":
        return failed_unless_changed(entry, reason, message)
    # A failed load is repeated when the container restarts.
    if transition == "BlockedByFailedLoad":
        return Verdict(state="pending", reason=reason, message=message)
    if is_true(entry, "Ready") and transition in (None, "", "UpToDate"):
        return READY
    return RUNNING if is_true(entry, "PredictorReady") else PENDING


def _between(entry: Document) -> Mapping[str, str]:
    part = rf"{re.escape(name(entry))}-(?:predictor|transformer|explainer)"
    return {"Deployment": part, "ReplicaSet": rf"{part}-[a-z0-9]+"}


ROWS = (
    Kind(
        api_version="serving.kserve.io/v1beta1",
        kind="InferenceService",
        plural="inferenceservices",
        serves=True,
        judge=_inference_service,
        selectors=by_name("serving.kserve.io/inferenceservice"),
        role=lambda pod: label(pod, "component") or "predictor",
        leader=lambda _: "predictor",
        intermediates=_between,
    ),
)
