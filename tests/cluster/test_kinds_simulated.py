# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""A workload on KWOK's simulated nodes."""

from __future__ import annotations

import pytest
from recorded_workloads import job, pod
from space import Space

pytestmark = [pytest.mark.cluster, pytest.mark.operators]


def test_a_job_on_a_simulated_node(space: Space) -> None:
    """What KWOK runs has no log; its end is as good as any other."""
    label = {"mlops.eks/simulated": space.namespace}
    taint = {"key": "kwok.x-k8s.io/node", "value": "fake", "effect": "NoSchedule"}
    space.apply(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": f"kwok-{space.namespace}",
                "labels": label,
                "annotations": {"kwok.x-k8s.io/node": "fake"},
            },
            "spec": {"taints": [taint]},
            "status": {"allocatable": {"cpu": "64", "memory": "256Gi", "pods": "110"}},
        }
    )
    try:
        toleration = {"key": "kwok.x-k8s.io/node", "operator": "Exists"}
        space.apply(job("far", pod("exit 1", pod_more={"nodeSelector": label, "tolerations": [toleration]})))
        space.task("workload_wait", kind="Job", name="far", timeout=120)
        record = space.record("far")
        assert record["outcome"] == "succeeded"
        assert record["pods"][0]["node"] == f"kwok-{space.namespace}"
    finally:
        space.kubectl("delete", "node", f"kwok-{space.namespace}", "--wait=false")
