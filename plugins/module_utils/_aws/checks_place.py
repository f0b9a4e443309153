# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Credentials, region and availability zones."""

from __future__ import annotations

from collections.abc import Iterator

from ansible_collections.mlops.eks.plugins.module_utils._aws.facts import Context
from ansible_collections.mlops.eks.plugins.module_utils._aws.finding import Finding, fail, ok
from ansible_collections.mlops.eks.plugins.module_utils._core.nearest import did_you_mean

# IDs of the zones in which EKS has no control plane. A zone ID is the same in every account.
# Source: Amazon EKS user guide, "Amazon EKS networking requirements for VPC and subnets".
_WITHOUT_EKS = {"use1-az3", "usw1-az2", "cac1-az3"}


def credentials(context: Context) -> Iterator[Finding]:
    """Report the identity that AWS sees."""
    identity = context.aws.identity()
    yield ok("credentials", f"{identity['Arn']} in account {identity['Account']}")


def region(context: Context) -> Iterator[Finding]:
    """Check that the region exists, and that it is enabled for the account."""
    aws, name = context.aws, "region"
    regions = aws.call("ec2", "describe_regions", region=aws.home, AllRegions=True)["Regions"]
    states = {entry["RegionName"]: entry.get("OptInStatus", "opt-in-not-required") for entry in regions}
    if aws.region not in states:
        yield fail(name, f"{aws.region}: there is no such region", did_you_mean(aws.region, states).strip())
    elif states[aws.region] == "not-opted-in":
        enable = f"aws account enable-region --region-name {aws.region}"
        yield fail(name, f"{aws.region} is not enabled for this account", f"Enable it (minutes to hours): {enable}")
    else:
        yield ok(name, aws.region)


def zones(context: Context) -> Iterator[Finding]:
    """Check that the zones are in the region, are available and support EKS."""
    stack, name, there = context.stack, "zones", context.facts.zones()
    usable = sorted(zone for zone, entry in there.items() if entry.get("ZoneId") not in _WITHOUT_EKS)
    choose = f"Choose from {', '.join(usable)}."
    asked = [*stack.zones, *(zone for group in stack.groups for zone in group.zones if zone not in stack.zones)]
    bad = []
    for zone in dict.fromkeys(asked):
        entry = there.get(zone)
        if entry is None:
            bad.append(f"{zone} is no zone of {context.aws.region}")
        elif entry.get("ZoneId") in _WITHOUT_EKS:
            bad.append(f"{zone} ({entry['ZoneId']}) has no EKS")
        elif entry.get("State", "available") != "available":
            bad.append(f"{zone} is {entry['State']}")
        elif zone not in stack.zones:
            bad.append(f"{zone} is asked for by a node group, but the network has no subnet there")
    if len(set(stack.zones)) < 2:
        bad.append(f"only {', '.join(stack.zones)}, and EKS needs two zones")
    yield fail(name, "; ".join(bad), choose) if bad else ok(name, ", ".join(stack.zones))
