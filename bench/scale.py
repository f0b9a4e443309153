# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""How much one controller can follow: a thousand workers of one job, and two hundred clusters at once."""

from __future__ import annotations

import hosts as many_hosts
import thousand
from setting import Setting


def run(setting: Setting, workers: int, hosts: int) -> dict[str, list[float]]:
    """Return the series of both; with 0 of either, those of the other."""
    series: dict[str, list[float]] = {}
    if workers:
        series |= thousand.run(setting, workers)
    if hosts:
        series |= many_hosts.run(setting, hosts)
    return series
