# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Series of measurements, their medians, and how they stand against their targets."""

from __future__ import annotations

import statistics
import typing as t
from dataclasses import dataclass

Summary = dict[str, float | int]


@dataclass(frozen=True, kw_only=True)
class Target:
    """What a median is to reach: at most, or at least, `value`."""

    value: float
    at_least: bool = False

    def met(self, median: float) -> bool:
        """Return whether `median` reaches the target."""
        return median >= self.value if self.at_least else median <= self.value

    def __str__(self) -> str:
        return f"{'≥' if self.at_least else '≤'} {self.value:g}"


# The figures of issue 3, point 10, and issue 4, point 10, in the order they are printed.
TARGETS: dict[str, Target | None] = {
    "pipeline_vs_bash": Target(value=1.10),
    "pipeline_vs_kubernetes_core": Target(value=0.6),
    "terminal_to_return_s": Target(value=0.3),
    "wait_cpu_s_per_min": Target(value=0.3),
    "wait_requests_per_min": Target(value=8),
    "wait_rss_mb": None,
    "log_lines_per_s": Target(value=20_000, at_least=True),
    "scale_rss_mb": Target(value=200),
    "scale_lag_s": Target(value=1),
    "scale_hosts_pss_mb": Target(value=2500),
    "scale_hosts_cpu_percent": Target(value=50),
}


def summary(values: t.Sequence[float]) -> Summary:
    """Return median, min, max and n, to four significant digits."""
    return {
        "median": _short(statistics.median(values)),
        "min": _short(min(values)),
        "max": _short(max(values)),
        "n": len(values),
    }


def _short(value: float) -> float:
    return float(f"{value:.4g}")


def table(rows: t.Sequence[tuple[str, t.Sequence[float]]]) -> list[str]:
    """Return one aligned line per series: name, median, min, max, n, target, and whether it is met."""
    cells = [["", "median", "min", "max", "n", "target", ""]]
    for name, values in rows:
        found, target = summary(values), TARGETS.get(name)
        verdict = "" if target is None else "met" if target.met(float(found["median"])) else "MISSED"
        numbers = [f"{found[key]:,g}" for key in ("median", "min", "max", "n")]
        cells.append([name, *numbers, str(target) if target else "", verdict])
    widths = [max(len(line[index]) for line in cells) for index in range(len(cells[0]))]
    return [
        "  ".join([line[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(line[1:], widths[1:], strict=True)]).rstrip()
        for line in cells
    ]
