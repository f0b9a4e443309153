# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The monthly cost of the stack, with the fewest and with the most nodes."""

from __future__ import annotations

import typing as t
from collections.abc import Iterator
from dataclasses import dataclass

from ansible_collections.mlops.eks.plugins.module_utils._aws.checks_version import extended
from ansible_collections.mlops.eks.plugins.module_utils._aws.facts import Context
from ansible_collections.mlops.eks.plugins.module_utils._aws.finding import Finding, ok, warn
from ansible_collections.mlops.eks.plugins.module_utils._aws.prices import Key, Price, Prices
from ansible_collections.mlops.eks.plugins.module_utils._aws.stack import NodeGroup, Stack
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import AwsError, DeniedError

HOURS = 730
NOT_COUNTED = "traffic, logs, backups, keys, requests, taxes, and nodes that Karpenter or Auto Mode add"


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line of the estimate: the least and most units, and the price of a unit per hour or per month."""

    item: str
    unit: t.Literal["hour", "GiB-month"]
    least: float
    most: float
    price: Price | None

    def monthly(self, units: float) -> float | None:
        """Return the cost of `units` in USD a month, or `None` when the price is unknown."""
        if self.price is None:
            return None
        return units * self.price.amount * (HOURS if self.unit == "hour" else 1)

    def to_result(self) -> dict[str, t.Any]:
        """Return plain data for Ansible."""
        low, high = self.monthly(self.least), self.monthly(self.most)
        return {
            "item": self.item,
            "unit": self.unit,
            "unit_price": self.price and self.price.amount,
            "quantity_min": self.least,
            "quantity_max": self.most,
            "monthly_min": None if low is None else round(low, 2),
            "monthly_max": None if high is None else round(high, 2),
            "source": self.price and self.price.source,
        }


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """The lines of the estimate, and the errors met while fetching prices."""

    lines: tuple[Line, ...]
    troubles: tuple[AwsError, ...]

    def total(self, *, most: bool) -> float:
        """Return the sum of the lines that have a price, in USD a month."""
        return sum(line.monthly(line.most if most else line.least) or 0.0 for line in self.lines)

    def to_result(self) -> dict[str, t.Any]:
        """Return plain data for Ansible."""
        return {
            "currency": "USD",
            "hours_per_month": HOURS,
            "lines": [line.to_result() for line in self.lines],
            "monthly_min": round(self.total(most=False), 2),
            "monthly_max": round(self.total(most=True), 2),
            "not_counted": NOT_COUNTED,
        }

    def finding(self) -> Finding:
        """Return the estimate as one line of the table of checks."""
        found = f"USD {self.total(most=False):,.0f} to {self.total(most=True):,.0f} a month, without {NOT_COUNTED}"
        unknown = [line.item for line in self.lines if line.price is None]
        remedies = [f"No price is known of {', '.join(unknown)}; they are not in the sum."] if unknown else []
        for trouble in self.troubles:
            denied = isinstance(trouble, DeniedError)
            remedies.append(
                f"For today's prices allow the IAM action {trouble.details['action']}."
                if denied
                else f"AWS did not return its prices: {trouble}"
            )
        return warn("cost", found, " ".join(remedies)) if remedies else ok("cost", found)


def estimate(context: Context) -> Estimate:
    """Return the estimate. Prices that AWS does not return come from a dated table."""
    prices = Prices(context.aws)
    return Estimate(lines=tuple(_lines(context, prices)), troubles=tuple(prices.troubles.values()))


def _lines(context: Context, prices: Prices) -> Iterator[Line]:
    stack = context.stack
    fixed: list[tuple[str, Key, int]] = [
        ("control plane", ("control plane",), 1),
        ("extended support", ("extended support",), int(extended(context))),
        ("NAT gateways", ("NAT gateway",), stack.nat_gateways),
        ("VPC endpoints", ("VPC endpoint",), len(stack.interface_endpoints) * len(stack.zones)),
    ]
    for item, key, number in fixed:
        if number:
            yield Line(item=item, unit="hour", least=number, most=number, price=prices.of(key))
    for group in stack.groups:
        yield _nodes(context, group, prices)
    yield from _storage(stack, prices)


def _nodes(context: Context, group: NodeGroup, prices: Prices) -> Line:
    kind = group.types[0]
    if group.market == "capacity_block":
        price: Price | None = Price(amount=0.0, source="Capacity Block, paid in advance")
    elif group.market == "spot":
        price = prices.spot(kind, group.zones, context.now)
    else:
        price = prices.of(("instance", kind))
    return Line(item=f"nodes {group.name} ({kind})", unit="hour", least=group.least, most=group.most, price=price)


def _storage(stack: Stack, prices: Prices) -> Iterator[Line]:
    least, most = (sum(group.volume * getattr(group, size) for group in stack.groups) for size in ("least", "most"))
    if most:
        yield Line(item="volumes of nodes", unit="GiB-month", least=least, most=most, price=prices.of(("gp3",)))
    if stack.efs:
        # The stored amount is unknown; the line shows the price of a GiB.
        yield Line(item="EFS, by use", unit="GiB-month", least=0, most=0, price=prices.of(("EFS",)))
    for entry in stack.lustre:
        key = ("Lustre", entry.deployment, str(entry.throughput or ""))
        size = entry.capacity
        yield Line(item=f"FSx {entry.name}", unit="GiB-month", least=size, most=size, price=prices.of(key))
