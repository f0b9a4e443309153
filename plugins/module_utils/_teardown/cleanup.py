# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Deletes objects in an order that lets the cluster's controllers remove what they created outside of it."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Iterable

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import Clock, human
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import AbsentError, ClusterError
from ansible_collections.mlops.eks.plugins.module_utils._core.waiting import Waiting
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Kube
from ansible_collections.mlops.eks.plugins.module_utils._teardown import external
from ansible_collections.mlops.eks.plugins.module_utils._teardown.external import Object, list_objects

Say = Callable[[str], None]
_SHOWN = 3


def cleanup(kube: Kube, *, timeout: float, check: bool, say: Say, clock: Clock | None = None) -> dict[str, t.Any]:
    """Delete load balancers, dynamic volumes with their users, and Karpenter's nodes, and wait until they are gone.

    Raises:
        ClusterError: objects remain after `timeout` seconds; the message says what they wait for.
    """
    run = _Cleanup(kube, say, clock or Clock(), timeout)
    # Controllers may run on Karpenter's nodes, so nodes go last.
    phases = (run.balancers_and_volumes, run.nodes)
    deleted: list[str] = []
    for phase in phases:
        found, awaited = phase()
        targets = [target for target in found if not target.deleting]
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
        """Return what to delete, and a function that lists what is left."""
        kube = self.kube
        kinds = (external.INGRESSES, external.GATEWAYS, external.SERVICES)
        balancers = [entry for kind in kinds for entry in list_objects(kube, kind)]
        claims = external.claims_of(kube, list_objects(kube, external.VOLUMES))
        # Users before claims: a pod keeps its claim, and a StatefulSet would create it again.
        targets: list[Object] = [*balancers, *external.users_of(kube, claims), *claims]
        return targets, lambda: [
            entry for kind in (*kinds, external.CLAIMS, external.VOLUMES) for entry in self._left(kind, claims)
        ]

    def _left(self, kind: external.Kind, claims: list[Object]) -> list[Object]:
        found = list_objects(self.kube, kind)
        if kind is external.CLAIMS:
            wanted = {claim.ref.path for claim in claims}
            return [entry for entry in found if entry.ref.path in wanted]
        return found

    def nodes(self) -> tuple[list[Object], Callable[[], list[Object]]]:
        """Return Karpenter's objects, without those of EKS Auto Mode, which stay."""
        kube = self.kube
        staying = {pool.ref.name for pool in list_objects(kube, external.NODE_POOLS._replace(chosen=external.of_eks))}

        def left() -> list[Object]:
            nodes = [one for one in list_objects(kube, external.NODE_CLAIMS) if _pool(one) not in staying]
            return [*list_objects(kube, external.NODE_POOLS), *nodes, *list_objects(kube, external.NODE_CLASSES)]

        found = left()
        # Evicted pods start nowhere else, so a budget would keep the last pod and its node for ever.
        draining = any(entry.of is external.NODE_CLAIMS for entry in found)
        budgets = list_objects(kube, external.BUDGETS) if draining else []
        return [*budgets, *found], left

    def delete(self, target: Object) -> None:
        """Delete one object and, in the background, what it owns."""
        self.say(f"deleting {target}")
        try:
            self.kube.request("DELETE", target.ref.path, params={"propagationPolicy": "Background"})
        except AbsentError:
            # It is gone already.
            return

    def wait(self, awaited: Callable[[], list[Object]]) -> None:
        """Wait until nothing is left."""
        waiting = Waiting(self.say, self.clock, self.timeout, slowest=5.0)
        while left := awaited():
            if waiting.over:
                remedy = f"See that it runs, then run this again.{_give_up(left)}"
                raise ClusterError(
                    f"after {human(self.timeout)} {_waits(left)}. {remedy}",
                    left=[entry.waits_for() for entry in left],
                )
            waiting.pause(_waits(left))


def _pool(node: Object) -> str:
    return str((node.document["metadata"].get("labels") or {}).get("karpenter.sh/nodepool", ""))


def _waits(left: Iterable[Object]) -> str:
    lines = [entry.waits_for() for entry in left]
    more = f"; and {len(lines) - _SHOWN} more" if len(lines) > _SHOWN else ""
    return "; ".join(lines[:_SHOWN]) + more


def _give_up(left: Iterable[Object]) -> str:
    """Return how to give up the first deleted object that remains."""
    stuck = next((entry for entry in left if entry.deleting), None)
    if stuck is None:
        return ""
    return (
        f" If it never will again, give {stuck} up ({stuck.give_up_command()}) and remove what stands behind it in AWS:"
        " eks_leftovers finds it, teardown.yml with -e teardown_without_api=true removes it."
    )
