# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Pods of an earlier step that must be gone before the next one is installed."""

from __future__ import annotations

from collections.abc import Callable

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import Clock
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document, Kube
from ansible_collections.mlops.eks.plugins.module_utils._kube.paths import collection
from ansible_collections.mlops.eks.plugins.module_utils._step.plan import Plan

# Seconds that they may take to go away.
_PATIENCE = 300.0


def await_remnants(kube: Kube, plan: Plan, *, clock: Clock, say: Callable[[str], None]) -> None:
    """Wait until pods of an earlier step are gone: an MPIJob's workers have the same names again."""
    path = collection("v1", "pods", kube.namespace)
    # From the API server's cache: what is in the way has been there for seconds; the newest list would have to wait.
    selector = {"labelSelector": plan.kind.selector(plan.workload), "resourceVersion": "0"}
    deadline, told = clock.now() + _PATIENCE, False
    while clock.now() < deadline:
        left = [pod for pod in (kube.get(path, selector) or {}).get("items") or [] if _blocks(pod)]
        if not left:
            return
        if not told:
            names = ", ".join(pod["metadata"]["name"] for pod in left[:4])
            say(f"waiting for {len(left)} pods of an earlier step to go away ({names})")
            told = True
        clock.sleep(0.2)


def _blocks(pod: Document) -> bool:
    """Return whether a pod is still in the way: one that has ended and is owned by nobody is not."""
    return bool(pod["metadata"].get("deletionTimestamp") or pod["metadata"].get("ownerReferences"))
