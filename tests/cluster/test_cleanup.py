# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""A real API server lets go of what stands for something outside; AWS's controllers are played by the test."""

from __future__ import annotations

import shlex
import subprocess

import pytest
from controllers import (
    BALANCER,
    CLASS,
    NODE,
    Controllers,
    budget,
    ingress,
    karpenter_kinds,
    karpenters,
    kube_of,
    let_go,
    server,
    service,
    volume,
)
from plays import kubectl_binary, until
from samples import Json
from space import Space

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import ClusterError
from ansible_collections.mlops.eks.plugins.module_utils._teardown.cleanup import cleanup

# All of a cluster is cleaned, so it is one that no other test uses at the same time.
pytestmark = pytest.mark.cluster


def clean(space: Space, *, timeout: float = 300.0, check: bool = False) -> tuple[Json, list[str]]:
    said: list[str] = []
    return cleanup(kube_of(space), timeout=timeout, check=check, say=said.append), said


def test_everything_outside_goes_in_order_and_what_is_kept_stays(second_space: Space) -> None:
    space = second_space
    service(space, "web")
    ingress(space, "site", to="web")
    volume(space, "data")
    volume(space, "kept", policy="Retain")
    volume(space, "by-hand", dynamic=False)
    server(space, "db", claim="data")
    server(space, "lonely")
    budget(space, "lonely")
    with karpenter_kinds(space):
        karpenters(space, "nodepools.karpenter.sh", "gpu", NODE)
        karpenters(space, "nodeclaims.karpenter.sh", "gpu-1", NODE, **{"karpenter.sh/nodepool": "gpu"})
        karpenters(space, "ec2nodeclasses.karpenter.k8s.aws", "default", CLASS)
        karpenters(space, "nodepools.karpenter.sh", "auto", NODE, **{"app.kubernetes.io/managed-by": "eks"})
        karpenters(space, "nodeclaims.karpenter.sh", "auto-1", NODE, **{"karpenter.sh/nodepool": "auto"})
        until(lambda: _guarded(space), "the pods run and the budget guards one")
        where = space.namespace
        first = [
            f"Ingress {where}/site", f"Service {where}/web", f"StatefulSet {where}/db",
            f"PersistentVolumeClaim {where}/data",
        ]  # fmt: skip
        then = [f"PodDisruptionBudget {where}/lonely", "NodePool gpu", "NodeClaim gpu-1", "EC2NodeClass default"]

        planned, told = clean(space, check=True)
        assert planned == {"changed": True, "deleted": first + then}
        assert told == [f"would delete {target}" for target in first + then]
        assert (space.names("services"), space.names("ingresses")) == (["web"], ["site"])

        with Controllers(space) as controllers:
            result, _ = clean(space)
        assert result == planned
        assert controllers.gone.index("nodeclaims") > controllers.gone.index("persistentvolumes")
        assert controllers.gone.index("ec2nodeclasses") > controllers.gone.index("nodeclaims")
        assert space.names("nodeclaims.karpenter.sh") == ["auto-1"]
        assert space.names("persistentvolumeclaims") == ["by-hand", "kept"]
        assert clean(space)[0] == {"changed": False, "deleted": []}
    volumes = [f"{where}-{name}" for name in ("kept", "by-hand")]
    let_go(kube_of(space), f"/api/v1/persistentvolumes/{volumes[0]}")
    space.kubectl("delete", "persistentvolumes", *volumes, "--wait=false")


def _guarded(space: Space) -> bool:
    running = [pod for pod in space.get("pods") if pod["status"]["phase"] == "Running"]
    (found,) = space.get("poddisruptionbudgets")
    return len(running) == 2 and found.get("status", {}).get("currentHealthy") == 1


def test_a_controller_that_does_not_run_is_named_with_what_to_do(second_space: Space) -> None:
    space = second_space
    service(space, "web")
    with pytest.raises(ClusterError) as refused:
        clean(space, timeout=2.0)
    said = str(refused.value)
    assert said.startswith(
        f"after 2 s Service {space.namespace}/web waits for the load balancer controller (finalizers: {BALANCER}). "
        "See that it runs, then run this again."
    )
    # It is leaving already, so nothing is done a second time.
    lines: list[str] = []
    with pytest.raises(ClusterError):
        cleanup(kube_of(space), timeout=0.1, check=False, say=lines.append)
    assert not [line for line in lines if line.startswith("deleting")]
    # What it tells to do helps.
    _, _, command = said.partition(" up (")
    words = shlex.split(command.partition(") and remove")[0])
    assert words[0] == "kubectl"
    subprocess.run([kubectl_binary(), "--kubeconfig", space.kubeconfig, *words[1:]], check=True, capture_output=True)
    until(lambda: space.names("services") == [], "the service goes")
    assert clean(space)[0] == {"changed": False, "deleted": []}
