"""Which quota of vCPUs an instance type counts for."""

from __future__ import annotations

import pytest

from ansible_collections.mlops.eks.plugins.module_utils._aws.checks_vcpus import Share, share


@pytest.mark.parametrize(
    ("kind", "market", "quota"),
    [
        ("m7i.xlarge", "on_demand", Share("L-1216C47A", "standard vCPUs on demand")),
        ("g6e.xlarge", "spot", Share("L-3819A6DF", "G and VT vCPUs of spot")),
        ("p4d.24xlarge", "spot", Share("L-7212CCBC", "P vCPUs of spot")),
        ("p5en.48xlarge", "spot", Share("L-C4BD4855", "P vCPUs of spot")),
        ("p6-b200.48xlarge", "on_demand", Share("L-417A185B", "P vCPUs on demand")),
        ("p6-b200.48xlarge", "spot", Share("", "p6-b200.48xlarge vCPUs of spot")),
        ("p6-b200.48xlarge", "capacity_block", None),
        ("hpc7a.96xlarge", "on_demand", Share("L-F7808C92", "HPC vCPUs on demand")),
        ("hpc7a.96xlarge", "spot", Share("", "hpc7a.96xlarge vCPUs of spot")),
        ("u7i-12tb.224xlarge", "on_demand", Share("L-43DA4232", "High Memory vCPUs on demand")),
        ("trn2.48xlarge", "spot", Share("L-6B0D517C", "Trn vCPUs of spot")),
        ("zz9.large", "on_demand", Share("", "zz9.large vCPUs on demand")),
    ],
)
def test_a_type_counts_for_the_quota_of_its_class(kind: str, market: str, quota: Share | None) -> None:
    assert share(kind, market) == quota
