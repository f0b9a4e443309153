# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Leftovers of a cluster in EC2. Source: Amazon EC2 API reference, the Describe actions of each kind."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Iterator

from ansible_collections.mlops.eks.plugins.module_utils._aws.leftover import Found, Kind, everything
from ansible_collections.mlops.eks.plugins.module_utils._aws.ownership import tag_keys, tags_of
from ansible_collections.mlops.eks.plugins.module_utils._aws.session import Aws, Reply

# EC2 lists removed resources for about an hour.
_GONE = {"terminated", "deleted"}
Entries = Callable[[list[Reply]], list[Reply]]


def _same(entries: list[Reply]) -> list[Reply]:
    return entries


def _instances(reservations: list[Reply]) -> list[Reply]:
    return [instance for reservation in reservations for instance in reservation["Instances"]]


def _free(interfaces: list[Reply]) -> list[Reply]:
    """Return the network interfaces that are not attached. Attached ones are removed with their instance or service."""
    return [interface for interface in interfaces if interface["Status"] == "available"]


def _kind(
    name: str,
    described: tuple[str, str],
    removed: tuple[str, str],
    *,
    identifier: str | None = None,
    state: str = "State",
    blocking: bool = False,
    entries: Entries = _same,
) -> Kind:
    """Return a kind that is `described` by (operation, key) and `removed` by (operation, argument).

    `identifier` is the entry's field for the argument, where its name differs.
    """
    (operation, key), (remove, argument) = described, removed
    own = identifier or argument

    def find(aws: Aws, cluster: str) -> Iterator[Found]:
        ours = [{"Name": "tag-key", "Values": tag_keys(cluster)}]
        for entry in entries(everything(aws, "ec2", operation, key, Filters=ours)):
            condition = _condition(entry.get(state))
            if condition.lower() not in _GONE:
                yield Found(entry[own], tags_of(entry), condition)

    return Kind(name=name, service="ec2", operation=remove, argument=argument, find=find, blocking=blocking)


def _condition(state: t.Any) -> str:
    return str(state["Name"] if isinstance(state, dict) else state or "")


# In the order in which they can be removed.
EC2 = (
    _kind(
        "EC2 instance",
        ("describe_instances", "Reservations"),
        ("terminate_instances", "InstanceIds"),
        identifier="InstanceId",
        entries=_instances,
        blocking=True,
    ),
    _kind(
        "network interface",
        ("describe_network_interfaces", "NetworkInterfaces"),
        ("delete_network_interface", "NetworkInterfaceId"),
        state="Status",
        entries=_free,
        blocking=True,
    ),
    _kind("EBS volume", ("describe_volumes", "Volumes"), ("delete_volume", "VolumeId")),
    _kind("EBS snapshot", ("describe_snapshots", "Snapshots"), ("delete_snapshot", "SnapshotId")),
    _kind(
        "launch template",
        ("describe_launch_templates", "LaunchTemplates"),
        ("delete_launch_template", "LaunchTemplateId"),
    ),
    _kind(
        "placement group",
        ("describe_placement_groups", "PlacementGroups"),
        ("delete_placement_group", "GroupName"),
    ),
    _kind(
        "VPC endpoint",
        ("describe_vpc_endpoints", "VpcEndpoints"),
        ("delete_vpc_endpoints", "VpcEndpointIds"),
        identifier="VpcEndpointId",
    ),
    _kind("NAT gateway", ("describe_nat_gateways", "NatGateways"), ("delete_nat_gateway", "NatGatewayId")),
    _kind("elastic IP", ("describe_addresses", "Addresses"), ("release_address", "AllocationId")),
    _kind(
        "security group",
        ("describe_security_groups", "SecurityGroups"),
        ("delete_security_group", "GroupId"),
        blocking=True,
    ),
    _kind("subnet", ("describe_subnets", "Subnets"), ("delete_subnet", "SubnetId")),
    _kind("route table", ("describe_route_tables", "RouteTables"), ("delete_route_table", "RouteTableId")),
    _kind("VPC", ("describe_vpcs", "Vpcs"), ("delete_vpc", "VpcId")),
)
