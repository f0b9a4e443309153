# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Address ranges that must not overlap, and an existing VPC."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network
from itertools import combinations

from ansible_collections.mlops.eks.plugins.module_utils._aws.facts import Context
from ansible_collections.mlops.eks.plugins.module_utils._aws.finding import Finding, fail, ok, warn
from ansible_collections.mlops.eks.plugins.module_utils._aws.ownership import tags_of
from ansible_collections.mlops.eks.plugins.module_utils._aws.session import Reply
from ansible_collections.mlops.eks.plugins.module_utils._aws.stack import TAG, Existing


def ranges(context: Context) -> Iterator[Finding]:
    """Check that the ranges of VPC, subnets and services are valid and do not conflict."""
    stack, name = context.stack, "address ranges"
    service = [stack.service_cidr] if stack.service_cidr else []
    cidrs = [*service] if stack.existing else [stack.cidr, *stack.subnet_cidrs, *service]
    wrong = [cidr for cidr in cidrs if _network(cidr) is None]
    if wrong:
        yield fail(name, f"{', '.join(wrong)}: no IPv4 range", "Write one like 192.168.0.0/16, with all host bits 0.")
        return
    bad = [] if stack.existing else list(_misfits(stack.cidr, stack.subnet_cidrs))
    around = _vpc_cidrs(context) if stack.existing else [stack.cidr]
    bad += [f"services {one} and VPC {other} overlap" for one in service for other in around if _overlap(one, other)]
    if bad:
        yield fail(name, "; ".join(bad), "Choose ranges that do not overlap, subnets inside the VPC.")
    elif cidrs:
        yield ok(name, ", ".join(cidrs))


def _network(cidr: str) -> IPv4Network | None:
    try:
        return IPv4Network(cidr)
    except ValueError:
        return None


def _overlap(one: str, other: str) -> bool:
    return IPv4Network(one).overlaps(IPv4Network(other))


def _misfits(vpc: str, subnets: tuple[str, ...]) -> Iterator[str]:
    for subnet in subnets:
        if not IPv4Network(subnet).subnet_of(IPv4Network(vpc)):
            yield f"subnet {subnet} is not inside the VPC's {vpc}"
    for one, other in combinations(subnets, 2):
        if _overlap(one, other):
            yield f"subnets {one} and {other} overlap"


def _vpc_cidrs(context: Context) -> list[str]:
    existing = context.stack.existing
    vpcs = [vpc for vpc in context.facts.vpcs() if existing and vpc["VpcId"] == existing.vpc]
    return [cidr for vpc in vpcs for cidr in _cidrs(vpc)]


def _cidrs(vpc: Reply) -> list[str]:
    return [entry["CidrBlock"] for entry in vpc.get("CidrBlockAssociationSet") or [vpc]]


def neighbours(context: Context) -> Iterator[Finding]:
    """List the other VPCs of the region that cannot be peered with the new one."""
    stack = context.stack
    if stack.existing or _network(stack.cidr) is None:
        return
    others = [vpc for vpc in context.facts.vpcs() if tags_of(vpc).get(TAG) != stack.name]
    near = [vpc["VpcId"] for vpc in others if any(_overlap(cidr, stack.cidr) for cidr in _cidrs(vpc))]
    if near:
        remedy = "They cannot be peered with this one; if they must be, choose another network.cidr."
        yield warn("other VPCs", f"{stack.cidr} overlaps with {', '.join(near)}", remedy)
    else:
        yield ok("other VPCs", f"{len(others)} in the region, none overlaps with {stack.cidr}")


def existing(context: Context) -> Iterator[Finding]:
    """Check that the existing VPC is in the region, with its subnets in their zones."""
    wanted = context.stack.existing
    if wanted is None:
        return
    name = f"VPC {wanted.vpc}"
    if all(vpc["VpcId"] != wanted.vpc for vpc in context.facts.vpcs()):
        yield fail(name, f"it is not in {context.aws.region}", "Name one of `aws ec2 describe-vpcs`.")
        return
    asked = [{"Name": "vpc-id", "Values": [wanted.vpc]}]
    found = {
        entry["SubnetId"]: entry for entry in context.aws.pages("ec2", "describe_subnets", "Subnets", Filters=asked)
    }
    bad = list(_wrong_subnets(wanted, found))
    if bad:
        yield fail(name, "; ".join(bad), "Correct network.existing.")
    else:
        free = min(found[subnet]["AvailableIpAddressCount"] for subnet in wanted.private.values())
        yield ok(name, f"its subnets are there; {free} addresses are free in the fullest private one")


def _wrong_subnets(wanted: Existing, found: dict[str, Reply]) -> Iterator[str]:
    for zone, subnet in (*wanted.private.items(), *wanted.public.items()):
        if subnet not in found:
            yield f"{subnet} is no subnet of it"
        elif found[subnet]["AvailabilityZone"] != zone:
            yield f"{subnet} is in {found[subnet]['AvailabilityZone']}, not in {zone}"
