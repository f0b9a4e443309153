# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""What a step or a controller before us left, and what must come to rest before the next step is installed."""

from __future__ import annotations

from collections.abc import Callable

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import Clock, human
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import ConflictError
from ansible_collections.mlops.eks.plugins.module_utils._helm.releases import Release
from ansible_collections.mlops.eks.plugins.module_utils._kube import listing
from ansible_collections.mlops.eks.plugins.module_utils._kube import pods as pod_view
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document, Kube
from ansible_collections.mlops.eks.plugins.module_utils._step.plan import Plan

# Seconds that pods of an earlier step may take to go away.
_PATIENCE = 300.0
_NAMED = 4
# Seconds that a Helm which outlived its controller gets to finish; without waiting, it needs a fraction of one.
_HELM = 5.0


def await_helm(look: Callable[[], list[Release]], *, clock: Clock, say: Callable[[str], None]) -> list[Release]:
    """Return the revisions that `look` returns, as soon as none of them is at work, or is taken for dead."""
    deadline, found = clock.now() + _HELM, look()
    if found and found[-1].pending:
        say(f"release {found[-1].name}: helm left it {found[-1].status}; waiting to see whether it is still at work")
    while found and found[-1].pending and clock.now() < deadline:
        clock.sleep(0.2)
        found = look()
    return found


def await_remnants(kube: Kube, plan: Plan, *, clock: Clock, say: Callable[[str], None]) -> None:
    """Wait until pods of an earlier step are gone: an MPIJob's workers have the same names again.

    Raises:
        ConflictError: they are still there after five minutes; the message names them and their nodes.
    """
    # From the API server's cache: what is in the way has been there for seconds; the newest list would have to wait.
    queries = [{**selector, "resourceVersion": "0"} for selector in plan.kind.selectors(plan.workload)]
    deadline, told = clock.now() + _PATIENCE, False
    while left := [pod for query in queries for pod in listing.pods(kube, query) if _blocks(pod)]:
        if clock.now() >= deadline:
            raise ConflictError(_stuck(left))
        if not told:
            names = ", ".join(pod["metadata"]["name"] for pod in left[:_NAMED])
            say(f"waiting for {len(left)} pods of an earlier step to go away ({names})")
            told = True
        clock.sleep(0.2)


def _blocks(pod: Document) -> bool:
    """Return whether a pod is still in the way: one that has ended and is owned by nobody is not."""
    return bool(pod["metadata"].get("deletionTimestamp") or pod["metadata"].get("ownerReferences"))


def _stuck(left: list[Document]) -> str:
    pods = ", ".join(f"{pod['metadata']['name']} on {pod_view.node(pod) or 'no node'}" for pod in left[:_NAMED])
    name = left[0]["metadata"]["name"]
    return (
        f"pods of an earlier step are still there after {human(_PATIENCE)}: {pods}. Look whether their nodes are gone; "
        f"'kubectl delete pod {name} --force' removes one whose node will not come back. "
        "Then run the same command again."
    )
