# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""The API objects and events that Karpenter and the AWS Node Termination Handler write, without either of them.

Source: aws/karpenter-provider-aws pkg/controllers/interruption/events/events.go; kubernetes-sigs/karpenter
pkg/apis/v1/nodeclaim_status.go, pkg/controllers/nodeclaim/lifecycle/{launch,events}.go and
pkg/controllers/provisioning/scheduling/events.go; aws/aws-node-termination-handler pkg/observability/k8s-events.go.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime

from samples import Json
from space import Space

NO_SUBNET = "no subnets found for nodeclass gpu"
NO_CAPACITY = "creating instance, insufficient capacity, with fleet error(s), InsufficientInstanceCapacity"
NO_POOL = 'incompatible with nodepool "default", daemonset overhead={"pods":"2"}, did not tolerate gpu=true:NoSchedule'
_KIND = "nodeclaims.karpenter.sh"


def _definition(kind: str) -> Json:
    """Return the definition of a kind of Karpenter, without a schema."""
    plural = f"{kind.lower()}s"
    names = {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"}
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    version = {"name": "v1", "served": True, "storage": True, "subresources": {"status": {}}, "schema": schema}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.karpenter.sh"},
        "spec": {"group": "karpenter.sh", "scope": "Cluster", "names": names, "versions": [version]},
    }


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@contextlib.contextmanager
def claims(space: Space) -> Iterator[None]:
    """Define NodeClaims in the API server; delete all of them and their events afterwards."""
    try:
        space.apply(_definition("NodeClaim"))
        space.await_kind(_KIND)
        yield
    finally:
        space.kubectl("delete", "crd", _KIND, "--ignore-not-found", "--wait=false")
        _forget(space)


@contextlib.contextmanager
def pools(space: Space, *wanted: Json) -> Iterator[None]:
    """Define NodePools in the API server and create these; delete them afterwards."""
    definition = _definition("NodePool")
    name = definition["metadata"]["name"]
    try:
        space.apply(definition)
        space.await_kind(name)
        for one in wanted:
            space.apply({"apiVersion": "karpenter.sh/v1", "kind": "NodePool", **one})
        yield
    finally:
        space.kubectl("delete", "crd", name, "--ignore-not-found")


def launch_failed(space: Space, device: str) -> str:
    """Write a NodeClaim with `device` that fails to launch because of a missing subnet; return its name in messages."""
    labels = {"node.kubernetes.io/instance-type": "p5.48xlarge", "karpenter.sh/capacity-type": "on-demand"}
    claim = {"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim"}
    claim |= {"metadata": {"name": space.namespace, "labels": labels}}
    space.apply({**claim, "spec": {"resources": {"requests": {device: "1"}}}})
    conditions = [
        {"type": "Launched", "status": "Unknown", "reason": "LaunchFailed", "message": NO_SUBNET},
        {
            "type": "Registered",
            "status": "Unknown",
            "reason": "AwaitingReconciliation",
            "message": "object is awaiting",
        },
    ]
    status = {"status": {"conditions": [{**one, "lastTransitionTime": _now()} for one in conditions]}}
    where = (_KIND, space.namespace, "--subresource=status", "--type=merge")
    space.kubectl("patch", *where, "-p", json.dumps(status))
    return f"{space.namespace} (p5.48xlarge, on-demand)"


def no_capacity(space: Space) -> str:
    """Write the event that EC2 has no instance for a node, which Karpenter then drops; return the message."""
    about = {"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "name": "default-7xk2q", "uid": space.namespace}
    said = f"NodeClaim default-7xk2q event: {NO_CAPACITY}"
    _say(space, about, "InsufficientCapacityError", said, namespace="default")
    return f"InsufficientCapacityError: {said}"


def no_pool(space: Space, pod: Json) -> None:
    """Write the event that no node pool creates a node for a pod."""
    _say(space, _about(pod), "FailedScheduling", f"Failed to schedule pod, {NO_POOL}", namespace=space.namespace)


def interrupted(space: Space, pod: Json) -> None:
    """Write the event that the spot instance of a pod is interrupted."""
    said = "Spot interruption warning was triggered"
    _say(space, _about(pod), "SpotInterrupted", said, namespace=space.namespace)


@contextlib.contextmanager
def noticed(space: Space, node: str) -> Iterator[None]:
    """Write the Node Termination Handler's event of a spot interruption, and delete it at the end of the block."""
    try:
        about = {"apiVersion": "v1", "kind": "Node", "name": node}
        _say(space, about, "SpotInterruption", "Spot Interruption event received", namespace="default")
        yield
    finally:
        _forget(space)


def _forget(space: Space) -> None:
    """Delete the events about cluster-scoped objects, because other tests see them too."""
    space.kubectl("delete", "events", "--namespace", "default", "-l", f"of={space.namespace}")


def _about(pod: Json) -> Json:
    about = {key: pod["metadata"][key] for key in ("name", "namespace", "uid")}
    return {"apiVersion": "v1", "kind": "Pod", **about}


def _say(space: Space, about: Json, reason: str, message: str, *, namespace: str) -> None:
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"generateName": f"{space.namespace}-", "namespace": namespace, "labels": {"of": space.namespace}},
        "involvedObject": about,
        "type": "Warning",
        "reason": reason,
        "message": message,
        "source": {"component": "test"},
        "firstTimestamp": _now(),
        "lastTimestamp": _now(),
        "count": 1,
    }
    space.kubectl("create", "--namespace", namespace, "-f", "-", stdin=json.dumps(event))
