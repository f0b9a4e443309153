# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""How many nodes of each instance type the pipelines request."""

from __future__ import annotations

import math
import typing as t

from ansible_collections.mlops.eks.plugins.module_utils._aws.facts import Context
from ansible_collections.mlops.eks.plugins.module_utils._aws.node_needs import Pods
from ansible_collections.mlops.eks.plugins.module_utils._aws.session import Reply


class Peak(t.NamedTuple):
    """The most nodes of a type that one step needs at once, and the name of that step."""

    nodes: int
    step: str


def peaks(context: Context) -> dict[str, Peak]:
    """Return the peak of each instance type over all steps of the pipelines. Only one step runs at a time."""
    found: dict[str, Peak] = {}
    facts = context.facts.types() if context.steps else {}
    for step in context.steps:
        for kind in {pods.node_type for pods in step.pods}:
            nodes = sum(_nodes(pods, facts.get(kind)) for pods in step.pods if pods.node_type == kind)
            if nodes > found.get(kind, Peak(0, "")).nodes:
                found[kind] = Peak(nodes, step.name)
    return found


def _nodes(pods: Pods, kind: Reply | None) -> int:
    """Return the number of nodes that these pods fill: one node a pod if the type is unknown."""
    if kind is None:
        return pods.count
    room = capacity(kind)
    fits = [room[name] // amount for name, amount in pods.resources.items() if amount > 0 and name in room]
    return math.ceil(pods.count / max(1, int(min(fits, default=1))))


def capacity(kind: Reply) -> dict[str, float]:
    """Return the resources of a node of an instance type by Kubernetes name, before the kubelet's reservation.

    Source: EC2 API reference, `InstanceTypeInfo`.
    """
    gpus = sum(entry.get("Count", 0) for entry in kind.get("GpuInfo", {}).get("Gpus", []))
    neurons = kind.get("NeuronInfo", {}).get("NeuronDevices", [])
    found = {
        "cpu": vcpus(kind),
        "memory": kind["MemoryInfo"]["SizeInMiB"] * 2**20,
        "nvidia.com/gpu": gpus,
        "aws.amazon.com/neuron": sum(entry.get("Count", 0) for entry in neurons),
        "aws.amazon.com/neuroncore": sum(
            entry.get("Count", 0) * entry.get("CoreInfo", {}).get("Count", 0) for entry in neurons
        ),
        "vpc.amazonaws.com/efa": kind["NetworkInfo"].get("EfaInfo", {}).get("MaximumEfaInterfaces", 0),
    }
    return {name: amount for name, amount in found.items() if amount}


def vcpus(kind: Reply) -> int:
    """Return the vCPUs that count for quotas."""
    return int(kind["VCpuInfo"]["DefaultVCpus"])
