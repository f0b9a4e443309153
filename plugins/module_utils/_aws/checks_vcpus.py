# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""vCPU quotas by class of instance types, compared with the first and the most nodes of a play's stacks."""

from __future__ import annotations

import math
import re
import typing as t
from collections import Counter
from collections.abc import Iterator

from ansible_collections.mlops.eks.plugins.module_utils._aws.checks_quotas import listed, quota_limit, request
from ansible_collections.mlops.eks.plugins.module_utils._aws.demand import peaks, vcpus
from ansible_collections.mlops.eks.plugins.module_utils._aws.facts import Context
from ansible_collections.mlops.eks.plugins.module_utils._aws.finding import Finding, fail, ok, warn
from ansible_collections.mlops.eks.plugins.module_utils._aws.ownership import maker, tags_of


class Class(t.NamedTuple):
    """Instance types that share a vCPU quota: their leading letters, and the quota codes of on-demand and of spot.

    An empty code: AWS documents no such quota.
    """

    name: str
    letters: frozenset[str]
    on_demand: str
    spot: str = ""


# Source: Amazon EC2 user guide, "On-Demand Instance quotas" and "Spot Instance quotas"; its links name the codes.
CLASSES = (
    Class("standard", frozenset((*"acdhimrtz", "im", "is")), "L-1216C47A", "L-34B43A08"),
    Class("G and VT", frozenset(("g", "gr", "vt")), "L-DB2E81BA", "L-3819A6DF"),
    Class("P", frozenset("p"), "L-417A185B", "L-7212CCBC"),
    Class("Trn", frozenset(("trn",)), "L-2C3B7624", "L-6B0D517C"),
    Class("Inf", frozenset(("inf",)), "L-1945791B", "L-B5D1601B"),
    Class("DL", frozenset(("dl",)), "L-6E869C2A", "L-85EED4F7"),
    Class("F", frozenset("f"), "L-74FC7D96", "L-88CF9481"),
    Class("X", frozenset("x"), "L-7295265B", "L-E3A00192"),
    Class("HPC", frozenset(("hpc",)), "L-F7808C92"),
    Class("High Memory", frozenset("u"), "L-43DA4232"),
)
# P5 spot has its own quota, "All P5 Spot Instance Requests"; P6 spot has none.
_SPOT_OF_P = {"p5": "L-C4BD4855", "p6": ""}


class Share(t.NamedTuple):
    """A vCPU quota. An empty code: AWS documents no such quota."""

    code: str
    name: str


def share(kind: str, market: str) -> Share | None:
    """Return the quota that limits instances of a type, or `None`."""
    if market == "capacity_block":
        return None
    letters = t.cast(re.Match[str], re.match(r"[a-z]*", kind))[0]
    found = next((entry for entry in CLASSES if letters in entry.letters), Class("", frozenset(), ""))
    spot = market == "spot"
    code = _SPOT_OF_P.get(kind[:2], found.spot) if spot else found.on_demand
    return Share(code, f"{found.name if code else kind} vCPUs {'of spot' if spot else 'on demand'}")


class Need(t.NamedTuple):
    """vCPUs needed at once (first nodes, and nodes of a pipeline's step), and at most."""

    first: int
    most: int


def vcpu_quotas(context: Context) -> Iterator[Finding]:
    """Check, for each class of instance types, that its vCPU quota holds the first and the most nodes."""
    used = _used(context)
    theirs = {other.stack.name: _wanted(other) for other in context.others}
    for quota, mine in sorted(_wanted(context).items()):
        name = f"quota of {quota.name}"
        if not quota.code:
            yield warn(name, "AWS documents none", "See in Service Quotas, Amazon EC2, whether the account has one.")
            continue
        limit = quota_limit(context.aws, "ec2", quota.code)
        sharing = {other: needs[quota] for other, needs in theirs.items() if needs.get(quota, Need(0, 0)).most}
        first, most = (sum(numbers) for numbers in zip(mine, *sharing.values(), strict=True))
        found = f"{limit:g}, {used[quota]} in use by others, {mine.first} needed at once, {mine.most} at most"
        found += f"; with {listed([*sharing])} {first} and {most}" if sharing else ""
        free = limit - used[quota]
        if most <= free:
            yield ok(name, found)
        else:
            level = fail if first > free else warn
            yield level(name, found, request(context, "ec2", quota.code, math.ceil(used[quota] + most)))


def _wanted(context: Context) -> dict[Share, Need]:
    """Return what one stack needs of each quota."""
    types, peak = context.facts.types(), peaks(context)
    nodes: dict[tuple[str, str], tuple[int, int]] = {}
    for group in context.stack.groups:
        # A reservation counts from the time it was created. Of several types the largest may start.
        kinds = [kind for kind in group.types if kind in types]
        if kinds and group.market != "reserved":
            key = (max(kinds, key=lambda kind: vcpus(types[kind])), group.market)
            first, most = nodes.get(key, (0, 0))
            nodes[key] = (first + group.first, most + group.most)
    for kind, needed in peak.items():
        key = next((key for key in nodes if key[0] == kind), (kind, "on_demand"))
        if kind in types and not _is_reserved(context, kind):
            first, most = nodes.get(key, (0, 0))
            nodes[key] = (max(first, needed.nodes), max(most, needed.nodes))
    total: dict[Share, Need] = {}
    for (kind, market), (first, most) in nodes.items():
        if quota := share(kind, market):
            before, size = total.get(quota, Need(0, 0)), vcpus(types[kind])
            total[quota] = Need(before.first + first * size, before.most + most * size)
    return total


def _is_reserved(context: Context, kind: str) -> bool:
    return any(kind in group.types and group.reservation is not None for group in context.stack.groups)


def _used(context: Context) -> Counter[Share]:
    """Return vCPUs in use by quota: instances outside the play's clusters, and unused reservations."""
    clusters = [one.stack.name for one in (context, *context.others)]
    states = [{"Name": "instance-state-name", "Values": ["pending", "running"]}]
    found = context.aws.pages("ec2", "describe_instances", "Reservations", Filters=states)
    count: Counter[tuple[str, str]] = Counter()
    for instance in (entry for batch in found for entry in batch["Instances"]):
        tags = tags_of(instance)
        if all(maker(tags, cluster) is None for cluster in clusters):
            market = str(instance.get("InstanceLifecycle", "on_demand")).replace("capacity-block", "capacity_block")
            count[instance["InstanceType"], market] += 1
    for entry in context.facts.reservations().values():
        if entry.get("State") == "active" and entry.get("ReservationType") != "capacity-block":
            count[entry["InstanceType"], "on_demand"] += entry.get("AvailableInstanceCount", 0)
    types = context.facts.describe_types({kind for kind, _ in count})
    used: Counter[Share] = Counter()
    for (kind, market), number in count.items():
        if (quota := share(kind, market)) and kind in types:
            used[quota] += number * vcpus(types[kind])
    return used
