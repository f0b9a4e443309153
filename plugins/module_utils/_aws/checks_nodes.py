# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Nodes: zones that offer the instance types, EFA, reservations, and capacity for the pipelines."""

from __future__ import annotations

from collections.abc import Iterator

from ansible_collections.mlops.eks.plugins.module_utils._aws.demand import peaks
from ansible_collections.mlops.eks.plugins.module_utils._aws.facts import Context
from ansible_collections.mlops.eks.plugins.module_utils._aws.finding import Finding, fail, ok, warn
from ansible_collections.mlops.eks.plugins.module_utils._aws.session import Reply
from ansible_collections.mlops.eks.plugins.module_utils._aws.stack import NodeGroup


def offerings(context: Context) -> Iterator[Finding]:
    """Check, for each node group, that its zones offer its instance type."""
    for group in context.stack.groups:
        yield _offering(context, group)
    in_groups = {kind for group in context.stack.groups for kind in group.types}
    for kind in sorted({pods.node_type for step in context.steps for pods in step.pods} - in_groups):
        there = context.facts.offered()[kind] & set(context.stack.zones)
        name = f"offer of {kind}"
        if there:
            yield ok(name, f"offered in {', '.join(sorted(there))}, for the pipelines")
        else:
            yield fail(name, f"a pipeline asks for it, none of the zones offers it; {_where(context, kind)}", _OTHER)


_OTHER = "Choose one of those zones, or another type."


def _offering(context: Context, group: NodeGroup) -> Finding:
    offered, name = context.facts.offered(), f"offer of {group.name}"
    # A group with several types needs only one of them in a zone.
    lacking = [zone for zone in group.zones if not any(zone in offered[kind] for kind in group.types)]
    kinds = " or ".join(group.types)
    if not lacking:
        return ok(name, f"{kinds} in {', '.join(group.zones)}")
    elsewhere = "; ".join(_where(context, kind) for kind in group.types)
    found = f"{kinds} is not offered in {', '.join(lacking)}; {elsewhere}"
    if len(lacking) == len(group.zones):
        return fail(name, found, _OTHER)
    return warn(name, found, f"Its nodes will all be in {', '.join(z for z in group.zones if z not in lacking)}.")


def _where(context: Context, kind: str) -> str:
    zones = sorted(context.facts.offered()[kind])
    return f"{kind} is offered in {', '.join(zones)}" if zones else f"{kind} is not offered in {context.aws.region}"


def efa(context: Context) -> Iterator[Finding]:
    """Check that instance types support the EFA and placement settings of their groups."""
    types = context.facts.types()
    for group in context.stack.groups:
        entry = types.get(group.types[0])
        if entry is None:
            # `offerings` reports types that are not offered.
            continue
        if group.efa:
            yield _efa(group, entry)
        strategies = entry.get("PlacementGroupInfo", {}).get("SupportedStrategies", [])
        if group.placement_group and "cluster" not in strategies:
            found = f"{group.types[0]} cannot be in a cluster placement group"
            yield fail(f"placement of {group.name}", found, "Set placement_group to false, or choose another type.")


def _efa(group: NodeGroup, entry: Reply) -> Finding:
    name, kind, network = f"EFA of {group.name}", group.types[0], entry["NetworkInfo"]
    most = network.get("EfaInfo", {}).get("MaximumEfaInterfaces", 0)
    if not network.get("EfaSupported"):
        return fail(name, f"{kind} has no EFA", "Choose a type that has, or set efa.enabled to false.")
    wanted = group.efa_interfaces or most
    if wanted > most:
        return fail(name, f"{wanted} interfaces, but {kind} has {most}", f"Set efa.interfaces to {most} or less.")
    if len(group.zones) > 1:
        return fail(name, f"nodes in {', '.join(group.zones)}; EFA does not cross zones", "Set availability_zone.")
    return ok(name, f"{wanted} of {most} interfaces of {kind}")


def reservations(context: Context) -> Iterator[Finding]:
    """Check that reservations exist, match the type and zone of their group, and have not ended."""
    for group in context.stack.groups:
        name = f"reservation of {group.name}"
        if group.reservation_group:
            yield warn(name, f"{group.reservation_group} is not checked", "Check that its reservations match.")
        elif group.reservation:
            entry = context.facts.reservations().get(group.reservation)
            if entry is None:
                found = f"{group.reservation}: none of that ID in {context.aws.region}"
                yield fail(name, found, "See `aws ec2 describe-capacity-reservations`.")
            else:
                yield _reservation(context, name, group, entry)


def _reservation(context: Context, name: str, group: NodeGroup, entry: Reply) -> Finding:
    bad = list(_mismatches(context, group, entry))
    if bad:
        return fail(name, f"{group.reservation}: {'; '.join(bad)}", "Choose a reservation that fits the group.")
    free, total = entry.get("AvailableInstanceCount", 0), entry.get("TotalInstanceCount", 0)
    end = f", until {entry['EndDate']:%Y-%m-%d %H:%M} UTC" if entry.get("EndDate") else ""
    found = f"{group.reservation}: {free} of {total} {entry['InstanceType']} free{end}"
    if entry.get("State") == "scheduled":
        if group.first and entry["StartDate"] > context.now:
            late = f"{found}, from {entry['StartDate']:%Y-%m-%d %H:%M} UTC; the group starts with {group.first}"
            return fail(name, late, "No node can start before; set size.min and size.desired to 0 until then.")
        return warn(name, f"{found}, from {entry['StartDate']:%Y-%m-%d %H:%M} UTC", "Nodes can start only then.")
    if free < group.first and not context.facts.made(context.stack.name):
        return fail(name, f"{found}; the group starts with {group.first}", "Lower size.desired or size.min.")
    if total < group.most:
        return warn(name, f"{found}; the group may grow to {group.most}", "More than reserved cannot start.")
    return ok(name, found)


def _mismatches(context: Context, group: NodeGroup, entry: Reply) -> Iterator[str]:
    block = entry.get("ReservationType") == "capacity-block"
    if block != (group.market == "capacity_block"):
        what = "a Capacity Block" if block else "no Capacity Block"
        yield f"it is {what}, the group's capacity.type is {group.market}"
    if entry["InstanceType"] != group.types[0]:
        yield f"it is for {entry['InstanceType']}, the group asks for {group.types[0]}"
    if entry["AvailabilityZone"] not in group.zones:
        yield f"it is in {entry['AvailabilityZone']}, the group in {', '.join(group.zones)}"
    if entry.get("State") not in ("active", "scheduled"):
        yield f"it is {entry.get('State')}"
    elif entry.get("EndDate") and entry["EndDate"] <= context.now:
        yield f"it ended on {entry['EndDate']:%Y-%m-%d}"


def pools(context: Context) -> Iterator[Finding]:
    """Check that the cluster can have the nodes that the pipelines need."""
    stack = context.stack
    elastic = stack.karpenter or stack.auto_mode
    for kind, peak in sorted(peaks(context).items()):
        name, room = f"room for {kind}", sum(_room(context, group) for group in stack.groups if kind in group.types)
        found = f"{peak.step} needs {peak.nodes}, node groups have room for {room}"
        if peak.nodes <= room:
            yield ok(name, found)
        elif elastic:
            yield ok(name, f"{found}; the rest is Karpenter's, by a NodePool that allows {kind}")
        else:
            yield fail(name, found, _MORE)


_MORE = "Raise size.desired of a group of that type, or size.max where an autoscaler scales it, or enable Karpenter."


def _room(context: Context, group: NodeGroup) -> int:
    """Return how many nodes of a group can start: its maximum, limited by its reservation."""
    reserved = context.facts.reservations().get(group.reservation) if group.reservation else None
    return min(group.most, reserved.get("TotalInstanceCount", 0)) if reserved else group.most
