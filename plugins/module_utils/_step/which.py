# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Which run a task is about, and where it is when it is not where it was looked for."""

from __future__ import annotations

import typing as t
from collections.abc import Mapping

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import ClusterError
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Kube
from ansible_collections.mlops.eks.plugins.module_utils._kube.paths import collection
from ansible_collections.mlops.eks.plugins.module_utils._recipe.pipeline import locate, read
from ansible_collections.mlops.eks.plugins.module_utils._step.ledger import LABEL

Params = Mapping[str, t.Any]
_SHOWN = 5


def of_pipeline(params: Params) -> Params:
    """Return the parameters with the release and the namespace of `pipeline`, where the task gives none.

    Raises:
        InvalidInputError: there is no such pipeline, or it is broken.
    """
    if not params["pipeline"]:
        return params
    pipeline = read(locate(params["pipeline"]))
    return {
        **params,
        "release": params["release"] or pipeline.name,
        "namespace": params["namespace"] or pipeline.namespace,
    }


def selector(release: str | None) -> dict[str, str]:
    """Return what selects the ledgers of a run, or of all runs."""
    return {"labelSelector": f"{LABEL}=true" + (f",mlops.eks/release={release}" if release else "")}


def elsewhere(kube: Kube, release: str | None) -> str:
    """Return in which other namespaces the run, or any run, is; empty when there is none, or it may not be known."""
    try:
        found = kube.request("GET", collection("v1", "configmaps", None), params=selector(release))
    except ClusterError:
        return ""
    names = sorted({one["metadata"]["namespace"] for one in found.get("items") or ()} - {kube.namespace})
    if not names:
        return ""
    shown = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
    subject = f"run {release} is" if release else "there are runs"
    return f" But {subject} in {shown}: say which by namespace (playbooks: -e kube_namespace={names[0]})."
