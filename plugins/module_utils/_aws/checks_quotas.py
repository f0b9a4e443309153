# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Quotas against what the stack takes of them: a table of those that count things, and vCPUs by class of types."""

from __future__ import annotations

import math
import re
import typing as t
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ansible_collections.mlops.eks.plugins.module_utils._aws.demand import peaks, vcpus
from ansible_collections.mlops.eks.plugins.module_utils._aws.facts import Context
from ansible_collections.mlops.eks.plugins.module_utils._aws.finding import Finding, fail, ok, warn
from ansible_collections.mlops.eks.plugins.module_utils._aws.ownership import maker, tags_of
from ansible_collections.mlops.eks.plugins.module_utils._aws.session import Aws
from ansible_collections.mlops.eks.plugins.module_utils._aws.stack import Stack


@dataclass(frozen=True, kw_only=True)
class Quota:
    """A quota that counts things: how many the stack makes, and how many there are."""

    service: str
    code: str
    name: str
    wanted: Callable[[Stack], int]
    used: Callable[[Context], int]


def _lustre_capacity(*deployments: str) -> tuple[Callable[[Stack], int], Callable[[Context], int]]:
    def wanted(stack: Stack) -> int:
        return sum(entry.capacity for entry in stack.lustre if entry.deployment in deployments)

    def used(context: Context) -> int:
        return sum(
            entry["StorageCapacity"]
            for entry in context.aws.pages("fsx", "describe_file_systems", "FileSystems")
            if entry.get("LustreConfiguration", {}).get("DeploymentType") in deployments
        )

    return wanted, used


def _nat_gateways(context: Context) -> int:
    """Return the NAT gateways of the zone that has most of them, as the quota is one a zone."""
    states = [{"Name": "state", "Values": ["pending", "available"]}]
    gateways = context.aws.pages("ec2", "describe_nat_gateways", "NatGateways", Filters=states)
    subnets = context.aws.pages("ec2", "describe_subnets", "Subnets")
    zone_of = {entry["SubnetId"]: entry["AvailabilityZone"] for entry in subnets}
    return max(Counter(zone_of.get(entry["SubnetId"]) for entry in gateways).values(), default=0)


def _count(service: str, operation: str, key: str) -> Callable[[Context], int]:
    return lambda context: len(context.aws.pages(service, operation, key))


_scratch, _persistent = _lustre_capacity("SCRATCH_1", "SCRATCH_2"), _lustre_capacity("PERSISTENT_2")
# Source: AWS General Reference, "Service quotas" of each service; the codes are those of ListServiceQuotas.
QUOTAS = (
    Quota(
        service="vpc",
        code="L-F678F1CE",
        name="VPCs",
        wanted=lambda stack: 0 if stack.existing else 1,
        used=lambda context: len(context.facts.vpcs()),
    ),
    Quota(
        service="ec2",
        code="L-0263D0A3",
        name="Elastic IPs",
        wanted=lambda stack: stack.nat_gateways,
        used=lambda context: len(context.aws.call("ec2", "describe_addresses")["Addresses"]),
    ),
    Quota(
        service="vpc",
        code="L-FE5A380F",
        name="NAT gateways a zone",
        wanted=lambda stack: min(1, stack.nat_gateways),
        used=_nat_gateways,
    ),
    Quota(
        service="vpc",
        code="L-29B6F2EB",
        name="interface endpoints a VPC",
        wanted=lambda stack: 0 if stack.existing else len(stack.interface_endpoints),
        used=lambda _: 0,
    ),
    Quota(
        service="eks",
        code="L-1194D53C",
        name="EKS clusters",
        wanted=lambda _: 1,
        used=_count("eks", "list_clusters", "clusters"),
    ),
    Quota(service="fsx", code="L-AD2FC696", name="GiB of FSx scratch", wanted=_scratch[0], used=_scratch[1]),
    Quota(service="fsx", code="L-8F1B9C74", name="GiB of FSx PERSISTENT_2", wanted=_persistent[0], used=_persistent[1]),
)


def counted(context: Context, quota: Quota) -> Iterator[Finding]:
    """Tell whether what the stack makes of one thing fits into its quota."""
    wanted = quota.wanted(context.stack)
    if wanted == 0 or context.facts.made(context.stack.name):
        return
    limit, used = _limit(context.aws, quota.service, quota.code), quota.used(context)
    name, found = f"quota of {quota.name}", f"{limit:g}, {used} in use, the stack takes {wanted}"
    if used + wanted <= limit:
        yield ok(name, found)
    else:
        yield fail(name, found, _request(context, quota.service, quota.code, used + wanted))


def _limit(aws: Aws, service: str, code: str) -> float:
    """Return the quota's value: the account's own, else AWS's default, which an account starts with."""
    asked = {"ServiceCode": service, "QuotaCode": code}
    found = aws.find("NoSuchResourceException", "service-quotas", "get_service_quota", **asked)
    if found is None:
        found = aws.call("service-quotas", "get_aws_default_service_quota", **asked)
    return float(found["Quota"]["Value"])


def _request(context: Context, service: str, code: str, wanted: int) -> str:
    profile = f" --profile {context.aws.profile}" if context.aws.profile else ""
    return (
        f"Ask for more ({code}): aws service-quotas request-service-quota-increase --service-code {service} "
        f"--quota-code {code} --desired-value {wanted} --region {context.aws.region}{profile}"
    )


class Class(t.NamedTuple):
    """Instance types that share a quota of vCPUs: their leading letters, and the codes on demand and of spot."""

    name: str
    letters: frozenset[str]
    on_demand: str
    spot: str


# Source: Amazon EC2 user guide, "Amazon EC2 On-Demand Instance quotas" and "Spot Instance quotas".
CLASSES = (
    Class("standard", frozenset((*"acdhimrtz", "im", "is")), "L-1216C47A", "L-34B43A08"),
    Class("G and VT", frozenset(("g", "gr", "vt")), "L-DB2E81BA", "L-3819A6DF"),
    Class("P", frozenset("p"), "L-417A185B", "L-7212CCBC"),
    Class("Trn", frozenset(("trn",)), "L-2C3B7624", "L-6B0D517C"),
    Class("Inf", frozenset(("inf",)), "L-1945791B", "L-B5D1601B"),
    Class("DL", frozenset(("dl",)), "L-6E869C2A", "L-85EED4F7"),
    Class("F", frozenset("f"), "L-74FC7D96", "L-88CF9481"),
    Class("X", frozenset("x"), "L-7295265B", "L-E3A00192"),
)
# Spot of P5 has a quota of its own; P6 is in none that AWS documents.
_SPOT_OF_P = {"p5": "L-C4BD4855", "p6": ""}


class Share(t.NamedTuple):
    """Instances that count for one quota of vCPUs."""

    code: str
    name: str


def share(kind: str, market: str) -> Share | None:
    """Return the quota that instances of a type count for; `None` when there is none, or none is known."""
    letters = t.cast(re.Match[str], re.match(r"[a-z]*", kind))[0]
    found = next((entry for entry in CLASSES if letters in entry.letters), None)
    if found is None or market == "capacity_block":
        return None
    if market != "spot":
        return Share(found.on_demand, f"{found.name} vCPUs on demand")
    code = _SPOT_OF_P.get(kind[:2], found.spot)
    return Share(code, f"{found.name} vCPUs of spot") if code else None


def vcpu_quotas(context: Context) -> Iterator[Finding]:
    """Tell, for each class of instance types, whether its quota of vCPUs holds the nodes at the start and at most."""
    used = _used(context)
    for quota, (first, most) in sorted(_wanted(context).items()):
        limit, name = _limit(context.aws, "ec2", quota.code), f"quota of {quota.name}"
        free = limit - used[quota]
        found = f"{limit:g}, {used[quota]} in use by others, {first} needed at once, {most} at most"
        if most <= free:
            yield ok(name, found)
        else:
            level = fail if first > free else warn
            yield level(name, found, _request(context, "ec2", quota.code, math.ceil(used[quota] + most)))


def _wanted(context: Context) -> dict[Share, tuple[int, int]]:
    """Return vCPUs at once (first nodes, and what a step of a pipeline needs) and at most, by quota."""
    types, peak = context.facts.types(), peaks(context)
    nodes: dict[tuple[str, str], tuple[int, int]] = {}
    for group in context.stack.groups:
        # Reserved capacity counts since it was reserved. Of several types the largest is what may come.
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
    total: dict[Share, tuple[int, int]] = {}
    for (kind, market), (first, most) in nodes.items():
        if quota := share(kind, market):
            before = total.get(quota, (0, 0))
            total[quota] = (before[0] + first * vcpus(types[kind]), before[1] + most * vcpus(types[kind]))
    return total


def _is_reserved(context: Context, kind: str) -> bool:
    return any(kind in group.types and group.reservation is not None for group in context.stack.groups)


def _used(context: Context) -> Counter[Share]:
    """Return vCPUs in use by quota: running instances but the cluster's own, and capacity that is reserved and free."""
    states = [{"Name": "instance-state-name", "Values": ["pending", "running"]}]
    found = context.aws.pages("ec2", "describe_instances", "Reservations", Filters=states)
    count: Counter[tuple[str, str]] = Counter()
    for instance in (entry for batch in found for entry in batch["Instances"]):
        if maker(tags_of(instance), context.stack.name) is None:
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
