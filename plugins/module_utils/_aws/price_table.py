# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Fallback for the Pricing API: list prices of us-east-1 in USD, each table with date and source.

This is a Python file because Ansible copies only Python files of `module_utils` to another machine. An item that is
not in a table has no known price.
"""

from __future__ import annotations

import typing as t
from datetime import date


class Table(t.NamedTuple):
    """Prices by key of `prices.py`: per hour, or per GiB and month of storage."""

    of: date
    source: str
    prices: dict[tuple[str, ...], float]


REGION = "us-east-1"
TABLES = (
    Table(
        date(2026, 9, 25),
        "AWS Price List Bulk API: AmazonEKS of 2026-09-18, AmazonVPC of 2026-09-17, AmazonEC2 of 2026-09-24",
        {
            ("control plane",): 0.10,
            # In addition to the control plane.
            ("extended support",): 0.50,
            ("NAT gateway",): 0.045,
            ("VPC endpoint",): 0.01,
            ("gp3",): 0.08,
        },
    ),
    Table(
        date(2026, 5, 1),
        "aws.amazon.com/efs/pricing and aws.amazon.com/fsx/lustre/pricing, as quoted in 2026",
        {
            ("EFS",): 0.30,
            ("Lustre", "SCRATCH_2", ""): 0.140,
            ("Lustre", "PERSISTENT_2", "125"): 0.145,
        },
    ),
    # On-demand prices from Karpenter's own fallback table.
    Table(
        date(2026, 1, 19),
        "karpenter-provider-aws, pkg/providers/pricing/zz_generated.pricing_aws.go",
        {
            ("instance", name): price
            for name, price in {
                "c5n.18xlarge": 3.888,
                "c6i.xlarge": 0.17,
                "c7i.4xlarge": 0.714,
                "dl1.24xlarge": 13.10904,
                "g4dn.xlarge": 0.526,
                "g4dn.2xlarge": 0.752,
                "g4dn.4xlarge": 1.204,
                "g4dn.8xlarge": 2.176,
                "g4dn.12xlarge": 3.912,
                "g4dn.16xlarge": 4.352,
                "g4dn.metal": 7.824,
                "g5.xlarge": 1.006,
                "g5.2xlarge": 1.212,
                "g5.4xlarge": 1.624,
                "g5.8xlarge": 2.448,
                "g5.12xlarge": 5.672,
                "g5.16xlarge": 4.096,
                "g5.24xlarge": 8.144,
                "g5.48xlarge": 16.288,
                "g6.xlarge": 0.8048,
                "g6.2xlarge": 0.9776,
                "g6.4xlarge": 1.3232,
                "g6.8xlarge": 2.0144,
                "g6.12xlarge": 4.6016,
                "g6.16xlarge": 3.3968,
                "g6.24xlarge": 6.6752,
                "g6.48xlarge": 13.3504,
                "g6e.xlarge": 1.861,
                "g6e.2xlarge": 2.24208,
                "g6e.4xlarge": 3.00424,
                "g6e.8xlarge": 4.52856,
                "g6e.12xlarge": 10.49264,
                "g6e.16xlarge": 7.57719,
                "g6e.24xlarge": 15.06559,
                "g6e.48xlarge": 30.13118,
                "inf1.xlarge": 0.228,
                "inf1.2xlarge": 0.362,
                "inf1.6xlarge": 1.18,
                "inf1.24xlarge": 4.721,
                "inf2.xlarge": 0.7582,
                "inf2.8xlarge": 1.96786,
                "inf2.24xlarge": 6.49063,
                "inf2.48xlarge": 12.98127,
                "m5.large": 0.096,
                "m5.xlarge": 0.192,
                "m5.2xlarge": 0.384,
                "m5.4xlarge": 0.768,
                "m6i.xlarge": 0.192,
                "m6i.2xlarge": 0.384,
                "m7a.xlarge": 0.23184,
                "m7a.2xlarge": 0.46368,
                "m7g.xlarge": 0.1632,
                "m7g.2xlarge": 0.3264,
                "m7i.large": 0.1008,
                "m7i.xlarge": 0.2016,
                "m7i.2xlarge": 0.4032,
                "m7i.4xlarge": 0.8064,
                "p3.2xlarge": 3.06,
                "p3.8xlarge": 12.24,
                "p3.16xlarge": 24.48,
                "p3dn.24xlarge": 31.212,
                "p4d.24xlarge": 21.957642,
                "p4de.24xlarge": 27.44705,
                "p5.4xlarge": 6.88,
                "p5.48xlarge": 55.04,
                "p5en.48xlarge": 63.296,
                "p6-b200.48xlarge": 113.9328,
                "trn1.2xlarge": 1.34375,
                "trn1.32xlarge": 21.5,
                "trn1n.32xlarge": 24.78,
            }.items()
        },
    ),
)
