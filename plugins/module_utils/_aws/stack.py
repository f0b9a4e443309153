# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""What the stack `terraform/stacks/cluster` creates in AWS, read from its variables.

Defaults are those of the Terraform modules; a contract test compares them.
"""

from __future__ import annotations

import typing as t
from collections.abc import Mapping
from dataclasses import dataclass

from ansible_collections.mlops.eks.plugins.module_utils._aws.shape import check
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError

Given = Mapping[str, t.Any]

# The ownership tag: every resource of a stack has it, with the cluster's name as value.
TAG = "mlops.eks/cluster"
DEFAULTS: dict[str, dict[str, t.Any]] = {
    "network": {"cidr": "192.168.0.0/16", "nat_gateways": "single"},
    "cluster": {"kubernetes_version": "1.35", "support_type": "standard"},
    "system-node-group": {
        "instance_types": ["m7i.xlarge", "m7a.xlarge", "m6i.xlarge"],
        "capacity_type": "on_demand",
        "size": {"min": 2, "max": 8},
        "volume": {"size": 200},
    },
    "accelerator-node-group": {
        "capacity": {"type": "on_demand"},
        "size": {"min": 0, "max": 32},
        "volume": {"size": 200},
    },
    "fsx": {"deployment_type": "SCRATCH_2", "storage_capacity": 1200},
}
_LOWEST_THROUGHPUT = {"PERSISTENT_1": 50, "PERSISTENT_2": 125}


@dataclass(frozen=True, kw_only=True)
class NodeGroup:
    """Nodes of one kind.

    `types` are in the order of preference; `market` is on_demand, spot, reserved or capacity_block. The group starts
    with `first` nodes; an autoscaler keeps it between `least` and `most`, else the three are equal. `volume` in GiB.
    """

    name: str
    types: tuple[str, ...]
    zones: tuple[str, ...]
    market: str
    first: int
    least: int
    most: int
    volume: int
    reservation: str | None = None
    reservation_group: str | None = None
    efa: bool = False
    efa_interfaces: int | None = None
    placement_group: bool = False


@dataclass(frozen=True, kw_only=True)
class Lustre:
    """One FSx for Lustre file system: `capacity` in GiB, `throughput` in MB/s for each TiB, `uris` of S3 by name."""

    name: str
    deployment: str
    capacity: int
    throughput: int | None
    uris: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class Existing:
    """An existing VPC, and its subnets by zone."""

    vpc: str
    private: dict[str, str]
    public: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class Stack:
    """One cluster with its network, nodes, storage and identities."""

    name: str
    version: str
    support: str
    zones: tuple[str, ...]
    cidr: str
    subnet_cidrs: tuple[str, ...]
    service_cidr: str | None
    nat_gateways: int
    existing: Existing | None
    interface_endpoints: tuple[str, ...]
    groups: tuple[NodeGroup, ...]
    karpenter: bool
    auto_mode: bool
    efs: bool
    lustre: tuple[Lustre, ...]
    # Bucket names by the pod identity that uses them.
    buckets: dict[str, tuple[str, ...]]
    repositories: tuple[str, ...]
    logs: bool


def read(variables: Given) -> Stack:
    """Return the stack that the variables describe.

    Raises:
        InvalidInputError: a variable is unknown, missing or has the wrong type.
    """
    check(variables)
    if not variables.get("name"):
        raise InvalidInputError("variables.name: the cluster has no name. Give it one.")
    network, control = _part(variables, "network"), _part(variables, "control_plane")
    existing = _existing(_part(network, "existing"))
    zones = tuple(existing.private if existing else network.get("availability_zones") or ())
    if not zones:
        raise InvalidInputError("variables.network: neither availability_zones nor existing is given. Give one.")
    auto = bool(_part(variables, "auto_mode").get("enabled"))
    return Stack(
        name=variables["name"],
        version=str(_of(variables, "cluster", "kubernetes_version")),
        support=_of(control, "cluster", "support_type"),
        zones=zones,
        cidr=_of(network, "network", "cidr"),
        subnet_cidrs=(*(network.get("private_cidrs") or ()), *(network.get("public_cidrs") or ())),
        service_cidr=control.get("service_cidr"),
        nat_gateways=0 if existing else _nat_gateways(_of(network, "network", "nat_gateways"), zones),
        existing=existing,
        interface_endpoints=tuple(_part(variables, "vpc_endpoints").get("interface") or ()),
        groups=() if auto else _groups(variables, zones),
        karpenter=not auto and _part(variables, "karpenter").get("enabled") is not False,
        auto_mode=auto,
        efs=_part(variables, "efs").get("enabled") is not False,
        lustre=tuple(_lustre(name, given or {}) for name, given in _part(variables, "fsx").items()),
        buckets={name: tuple(given.get("buckets") or ()) for name, given in _part(variables, "pod_identities").items()},
        repositories=tuple(_part(variables, "ecr").get("repositories") or ()),
        logs=_part(control, "logs").get("types") != [],
    )


def _part(given: Given, key: str) -> Given:
    return given.get(key) or {}


def _of(given: Given, module: str, key: str) -> t.Any:
    """Return the given value of `key`, else the module's default. A mapping is merged into its defaults."""
    default, value = DEFAULTS[module][key], given.get(key)
    if isinstance(default, dict):
        return {**default, **{name: entry for name, entry in (value or {}).items() if entry is not None}}
    return default if value is None else value


def _nat_gateways(wanted: str, zones: tuple[str, ...]) -> int:
    return {"single": 1, "per_zone": len(zones)}.get(wanted, 0)


def _existing(given: Given) -> Existing | None:
    if not given:
        return None
    return Existing(
        vpc=given.get("vpc_id") or "",
        private=dict(given.get("private_subnets") or {}),
        public=dict(given.get("public_subnets") or {}),
    )


def _groups(variables: Given, zones: tuple[str, ...]) -> tuple[NodeGroup, ...]:
    given, module = _part(variables, "system_node_group"), "system-node-group"
    scaled = (variables.get("autoscaler") or "none") != "none"
    system = NodeGroup(
        name="system",
        types=tuple(_of(given, module, "instance_types")),
        zones=zones,
        market=_of(given, module, "capacity_type"),
        **_sizes(given, module, scaled=scaled, lowest=1),
    )
    groups = _part(variables, "accelerator_node_groups").items()
    return (system, *(_accelerators(name, given or {}, zones, scaled=scaled) for name, given in groups))


def _accelerators(name: str, given: Given, zones: tuple[str, ...], *, scaled: bool) -> NodeGroup:
    module, efa = "accelerator-node-group", _part(given, "efa")
    capacity = _of(given, module, "capacity")
    if not given.get("instance_type"):
        raise InvalidInputError(f"variables.accelerator_node_groups.{name}: it has no instance_type. Name one.")
    return NodeGroup(
        name=name,
        types=(given["instance_type"],),
        zones=(given["availability_zone"],) if given.get("availability_zone") else zones,
        market=capacity["type"],
        reservation=capacity.get("reservation_id"),
        reservation_group=capacity.get("reservation_group"),
        efa=bool(efa.get("enabled")),
        efa_interfaces=efa.get("interfaces"),
        placement_group=bool(given.get("placement_group")),
        **_sizes(given, module, scaled=scaled),
    )


def _sizes(given: Given, module: str, *, scaled: bool, lowest: int = 0) -> dict[str, t.Any]:
    """Return the sizes of a node group: as given if `scaled` by an autoscaler, else all equal to the desired size."""
    size = _of(given, module, "size")
    first = int(size.get("desired", max(size["min"], lowest)))
    return {
        "least": int(size["min"]) if scaled else first,
        "most": int(size["max"]) if scaled else first,
        "first": first,
        "volume": int(_of(given, module, "volume")["size"]),
    }


def _lustre(name: str, given: Given) -> Lustre:
    deployment = _of(given, "fsx", "deployment_type")
    associations = _part(given, "associations").items()
    return Lustre(
        name=name,
        deployment=deployment,
        capacity=int(_of(given, "fsx", "storage_capacity")),
        throughput=given.get("throughput_per_unit") or _LOWEST_THROUGHPUT.get(deployment),
        uris={entry: str((association or {}).get("s3_uri") or "") for entry, association in associations},
    )
