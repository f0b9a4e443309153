# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Nodes that KWOK simulates: pods on them run, but nothing runs in them, and they have no logs."""

from __future__ import annotations

import json
import secrets
import sys
import typing as t
from dataclasses import dataclass, field

from setting import Setting

_TAINT = "kwok.x-k8s.io/node"
TOLERATIONS = [{"key": _TAINT, "operator": "Exists", "effect": "NoSchedule"}]
_PODS = 1000


@dataclass(kw_only=True)
class Nodes:
    """So many of them for as long as the context lasts; `affinity` brings pods onto them."""

    setting: Setting
    count: int
    # Pods outlive their node for a while, and would take the room of another one of its name.
    name: str = field(default_factory=lambda: f"kwok-{secrets.token_hex(3)}")

    @property
    def label(self) -> dict[str, str]:
        """The label of these nodes and of no others."""
        return {"mlops.eks/bench": self.name}

    @property
    def affinity(self) -> dict[str, t.Any]:
        """Kubernetes' affinity for these nodes."""
        terms = [{"key": key, "operator": "In", "values": [value]} for key, value in self.label.items()]
        wanted = {"nodeSelectorTerms": [{"matchExpressions": terms}]}
        return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": wanted}}

    def __enter__(self) -> t.Self:
        found = self.setting.kubectl(
            "get", "deployments", "--all-namespaces", "-o", "jsonpath={.items[*].metadata.name}"
        )
        if "kwok-controller" not in found.split():
            sys.exit(
                "bench: the cluster has no KWOK. Install it, and what makes the jobs: "
                "cluster_addons_enabled: [mpi-operator, training-operator, kwok]."
            )
        items = [self._node(index) for index in range(self.count)]
        self.setting.kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
        return self

    def __exit__(self, *_: object) -> None:
        label = ",".join(f"{key}={value}" for key, value in self.label.items())
        self.setting.kubectl("delete", "nodes", "--selector", label, "--wait=false")

    def _node(self, index: int) -> dict[str, t.Any]:
        metadata = {
            "name": f"{self.name}-{index}",
            "labels": self.label,
            "annotations": {_TAINT: "fake"},
        }
        room = {"cpu": "1000", "memory": "8Ti", "pods": str(_PODS)}
        spec = {"taints": [{"key": _TAINT, "value": "fake", "effect": "NoSchedule"}]}
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": metadata,
            "spec": spec,
            "status": {"allocatable": room, "capacity": room},
        }
