# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Quotas on numbers of resources, compared with what the stacks of a play create."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ansible_collections.mlops.eks.plugins.module_utils._aws.facts import Context
from ansible_collections.mlops.eks.plugins.module_utils._aws.finding import Finding, fail, ok
from ansible_collections.mlops.eks.plugins.module_utils._aws.session import Aws
from ansible_collections.mlops.eks.plugins.module_utils._aws.stack import Stack

# Numbers by the scope of the quota: a zone, the VPC of a stack, or `""` for the whole region.
Counts = Counter[str]
_REGION = ""
# Most clusters that one line names.
_NAMED = 4


@dataclass(frozen=True, kw_only=True)
class Quota:
    """A quota on a number of resources: how many a stack creates, and how many exist."""

    service: str
    code: str
    name: str
    wanted: Callable[[Stack], Counts]
    used: Callable[[Context], Counts]


def _lustre_capacity(*deployments: str) -> tuple[Callable[[Stack], Counts], Callable[[Context], Counts]]:
    def wanted(stack: Stack) -> Counts:
        return _in_region(sum(entry.capacity for entry in stack.lustre if entry.deployment in deployments))

    def used(context: Context) -> Counts:
        return _in_region(
            sum(
                entry["StorageCapacity"]
                for entry in context.aws.pages("fsx", "describe_file_systems", "FileSystems")
                if entry.get("LustreConfiguration", {}).get("DeploymentType") in deployments
            )
        )

    return wanted, used


def _in_region(number: int) -> Counts:
    return Counter({_REGION: number})


def _nat_gateways(context: Context) -> Counts:
    states = [{"Name": "state", "Values": ["pending", "available"]}]
    gateways = context.aws.pages("ec2", "describe_nat_gateways", "NatGateways", Filters=states)
    subnets = context.aws.pages("ec2", "describe_subnets", "Subnets")
    zone_of = {entry["SubnetId"]: entry["AvailabilityZone"] for entry in subnets}
    return Counter(zone_of.get(entry["SubnetId"], "") for entry in gateways)


_scratch, _persistent = _lustre_capacity("SCRATCH_1", "SCRATCH_2"), _lustre_capacity("PERSISTENT_2")
# Source: AWS General Reference, "Service quotas" of each service; the codes are those of ListServiceQuotas.
QUOTAS = (
    Quota(
        service="vpc",
        code="L-F678F1CE",
        name="VPCs",
        wanted=lambda stack: _in_region(0 if stack.existing else 1),
        used=lambda context: _in_region(len(context.facts.vpcs())),
    ),
    Quota(
        service="ec2",
        code="L-0263D0A3",
        name="Elastic IPs",
        wanted=lambda stack: _in_region(stack.nat_gateways),
        used=lambda context: _in_region(len(context.aws.call("ec2", "describe_addresses")["Addresses"])),
    ),
    Quota(
        service="vpc",
        code="L-FE5A380F",
        name="NAT gateways a zone",
        wanted=lambda stack: Counter(stack.zones[: stack.nat_gateways]),
        used=_nat_gateways,
    ),
    Quota(
        service="vpc",
        code="L-29B6F2EB",
        name="interface endpoints a VPC",
        wanted=lambda stack: Counter({stack.name: 0 if stack.existing else len(stack.interface_endpoints)}),
        used=lambda _: Counter(),
    ),
    Quota(
        service="eks",
        code="L-1194D53C",
        name="EKS clusters",
        wanted=lambda _: _in_region(1),
        used=lambda context: _in_region(len(context.aws.pages("eks", "list_clusters", "clusters"))),
    ),
    Quota(service="fsx", code="L-AD2FC696", name="GiB of FSx scratch", wanted=_scratch[0], used=_scratch[1]),
    Quota(service="fsx", code="L-8F1B9C74", name="GiB of FSx PERSISTENT_2", wanted=_persistent[0], used=_persistent[1]),
)


def counted(context: Context, quota: Quota) -> Iterator[Finding]:
    """Check that the quota holds what this stack and the other stacks of the play create."""
    mine = +quota.wanted(context.stack)
    if not mine or context.facts.made(context.stack.name):
        return
    # What an existing stack created is counted as in use.
    missing = [other.stack for other in context.others if not context.facts.made(other.stack.name)]
    theirs = {stack.name: quota.wanted(stack) for stack in missing}
    limit, used = quota_limit(context.aws, quota.service, quota.code), quota.used(context)
    total = sum(theirs.values(), mine)
    place = max(mine, key=lambda place: used[place] + total[place])
    names = [name for name, wanted in theirs.items() if wanted[place]]
    name, found = f"quota of {quota.name}", f"{limit:g}, {used[place]} in use, the stack takes {mine[place]}"
    found += f"; with {listed(names)} {total[place]}" if names else ""
    if used[place] + total[place] <= limit:
        yield ok(name, found)
    else:
        yield fail(name, found, request(context, quota.service, quota.code, used[place] + total[place]))


def listed(names: Sequence[str]) -> str:
    """Return `a`, `a and b`, or `a, b, c and 4 more`."""
    shown = [*names] if len(names) <= _NAMED else [*names[: _NAMED - 1], f"{len(names) - _NAMED + 1} more"]
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))


def quota_limit(aws: Aws, service: str, code: str) -> float:
    """Return the account's value of the quota, else the AWS default."""
    asked = {"ServiceCode": service, "QuotaCode": code}
    found = aws.find("NoSuchResourceException", "service-quotas", "get_service_quota", **asked)
    if found is None:
        found = aws.call("service-quotas", "get_aws_default_service_quota", **asked)
    return float(found["Quota"]["Value"])


def request(context: Context, service: str, code: str, wanted: int) -> str:
    """Return the command that requests a quota of `wanted`."""
    profile = f" --profile {context.aws.profile}" if context.aws.profile else ""
    return (
        f"Ask for more ({code}): aws service-quotas request-service-quota-increase --service-code {service} "
        f"--quota-code {code} --desired-value {wanted} --region {context.aws.region}{profile}"
    )
