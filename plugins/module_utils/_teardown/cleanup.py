# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Let a cluster's own controllers remove what they made outside of it, in an order in which they can."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Iterable

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import Clock, human
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import AbsentError, ClusterError
from ansible_collections.mlops.eks.plugins.module_utils._core.waiting import Waiting
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Kube
from ansible_collections.mlops.eks.plugins.module_utils._teardown import external
from ansible_collections.mlops.eks.plugins.module_utils._teardown.external import Object

Say = Callable[[str], None]
_SHOWN = 3


def cleanup(kube: Kube, *, timeout: float, check: bool, say: Say, clock: Clock | None = None) -> dict[str, t.Any]:
    """Delete load balancers, dynamically made volumes with what uses them, and Karpenter's nodes; see them go.

    Raises:
        ClusterError: something was still there after `timeout` seconds, with what keeps it.
    """
    run = _Cleanup(kube, say, clock or Clock(), timeout)
    # Controllers may run on Karpenter's nodes, so nodes go last.
    phases = (run.balancers_and_volumes, run.nodes)
    deleted: list[str] = []
    for phase in phases:
        found, awaited = phase()
        targets = [target for target in found if not target.leaving]
        deleted += [str(target) for target in targets]
        if check:
            for target in targets:
                say(f"would delete {target}")
            continue
        for target in targets:
            run.delete(target)
        run.wait(awaited)
    return {"changed": bool(deleted), "deleted": deleted}


class _Cleanup(t.NamedTuple):
    """One cluster's cleanup."""

    kube: Kube
    say: Say
    clock: Clock
    timeout: float

    def balancers_and_volumes(self) -> tuple[list[Object], Callable[[], list[Object]]]:
        """Return what to delete, and how to ask what is still there."""
        kube = self.kube
        kinds = (external.INGRESSES, external.GATEWAYS, external.SERVICES)
        balancers = [entry for kind in kinds for entry in external.every(kube, kind)]
        claims = external.claims_of(kube, external.every(kube, external.VOLUMES))
        # Before the claims: whoever uses one keeps it, and a StatefulSet would make it anew.
        targets: list[Object] = [*balancers, *external.users_of(kube, claims), *claims]
        return targets, lambda: [
            entry for kind in (*kinds, external.CLAIMS, external.VOLUMES) for entry in self._left(kind, claims)
        ]

    def _left(self, kind: external.Kind, claims: list[Object]) -> list[Object]:
        found = external.every(self.kube, kind)
        if kind is external.CLAIMS:
            wanted = {claim.ref.path for claim in claims}
            return [entry for entry in found if entry.ref.path in wanted]
        return found

    def nodes(self) -> tuple[list[Object], Callable[[], list[Object]]]:
        """Return what Karpenter works for; nodes of pools that stay, as those of EKS Auto Mode, stay too."""
        kube = self.kube
        staying = {pool.ref.name for pool in external.every(kube, external.NODE_POOLS._replace(chosen=external.of_eks))}

        def left() -> list[Object]:
            nodes = [one for one in external.every(kube, external.NODE_CLAIMS) if _pool(one) not in staying]
            return [*external.every(kube, external.NODE_POOLS), *nodes, *external.every(kube, external.NODE_CLASSES)]

        found = left()
        # What is evicted now comes up nowhere else, so a budget would keep the last pod, and its node, for ever.
        draining = any(entry.of is external.NODE_CLAIMS for entry in found)
        budgets = external.every(kube, external.BUDGETS) if draining else []
        return [*budgets, *found], left

    def delete(self, target: Object) -> None:
        """Delete one object and, in the background, what it owns."""
        self.say(f"deleting {target}")
        try:
            self.kube.request("DELETE", target.ref.path, params={"propagationPolicy": "Background"})
        except AbsentError:
            # Somebody else was faster.
            return

    def wait(self, awaited: Callable[[], list[Object]]) -> None:
        """Wait until nothing is left."""
        waiting = Waiting(self.say, self.clock, self.timeout, slowest=5.0)
        while left := awaited():
            if waiting.over:
                raise ClusterError(
                    f"after {human(self.timeout)} {_held(left)}. See that it runs, then run this again.{_forced(left)}",
                    left=[entry.held() for entry in left],
                )
            waiting.pause(_held(left))


def _pool(node: Object) -> str:
    return str((node.document["metadata"].get("labels") or {}).get("karpenter.sh/nodepool", ""))


def _held(left: Iterable[Object]) -> str:
    lines = [entry.held() for entry in left]
    more = f"; and {len(lines) - _SHOWN} more" if len(lines) > _SHOWN else ""
    return "; ".join(lines[:_SHOWN]) + more


def _forced(left: Iterable[Object]) -> str:
    """Return how to give up the first of what was deleted and does not go."""
    stuck = next((entry for entry in left if entry.leaving), None)
    if stuck is None:
        return ""
    return (
        f" If it never will again, give {stuck} up ({stuck.forced()}) and remove what stands behind it in AWS:"
        " eks_leftovers finds it, teardown.yml with -e teardown_without_api=true removes it."
    )
