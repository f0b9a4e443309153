# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The variables of the stack as Terraform declares them, to find misspelt ones.

Terraform silently drops an unknown attribute, and only warns of an unknown variable. A contract test compares the
names with `terraform/stacks/cluster`. Terraform validates the values.
"""

from __future__ import annotations

import typing as t
from collections.abc import Iterator, Mapping

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._core.nearest import did_you_mean

TEXT, NUMBER, FLAG = "a text", "a number", "true or false"
TEXTS: list[t.Any] = [TEXT]
# A mapping whose keys the user chooses.
ANY = "*"
_TYPES: dict[str, tuple[type, ...]] = {TEXT: (str,), NUMBER: (int, float), FLAG: (bool,)}

_SIZE = {"min": NUMBER, "max": NUMBER, "desired": NUMBER}
_UPDATE = {"max_unavailable": NUMBER, "max_unavailable_percentage": NUMBER}
_VOLUME = {"size": NUMBER, "iops": NUMBER, "throughput": NUMBER, "kms_key_arn": TEXT}
_TAINTS = [{"key": TEXT, "value": TEXT, "effect": TEXT}]
_NODES = {
    "release_version": TEXT,
    "labels": {ANY: TEXT},
    "key_pair": TEXT,
    "size": _SIZE,
    "update_config": _UPDATE,
    "volume": _VOLUME,
    "taints": _TAINTS,
}
_SYSTEM_NODES = {
    **_NODES,
    "ami_type": TEXT,
    "instance_types": TEXTS,
    "capacity_type": TEXT,
    "metadata_hop_limit": NUMBER,
}
_ACCELERATOR_NODES = {
    **_NODES,
    "instance_type": TEXT,
    "availability_zone": TEXT,
    "os": TEXT,
    "placement_group": FLAG,
    "instance_store": TEXT,
    "capacity": {"type": TEXT, "reservation_id": TEXT, "reservation_group": TEXT},
    "efa": {"enabled": FLAG, "interfaces": NUMBER, "efa_only": FLAG},
}
_LUSTRE = {
    "availability_zone": TEXT,
    "deployment_type": TEXT,
    "storage_capacity": NUMBER,
    "throughput_per_unit": NUMBER,
    "efa": FLAG,
    "compression": FLAG,
    "lustre_version": TEXT,
    "backup_days": NUMBER,
    "kms_key_arn": TEXT,
    "associations": {
        ANY: {
            "s3_uri": TEXT,
            "path": TEXT,
            "import": TEXTS,
            "export": TEXTS,
            "import_metadata": FLAG,
            "chunk_size": NUMBER,
        }
    },
}
_STATEMENT = {"actions": TEXTS, "resources": TEXTS, "conditions": {ANY: {ANY: TEXTS}}}
STACK: dict[str, t.Any] = {
    "name": TEXT,
    "region": TEXT,
    "tags": {ANY: TEXT},
    "kubernetes_version": TEXT,
    "network": {
        "availability_zones": TEXTS,
        "cidr": TEXT,
        "private_cidrs": TEXTS,
        "public_cidrs": TEXTS,
        "nat_gateways": TEXT,
        "existing": {"vpc_id": TEXT, "private_subnets": {ANY: TEXT}, "public_subnets": {ANY: TEXT}},
    },
    "vpc_endpoints": {"gateway": TEXTS, "interface": TEXTS},
    "endpoint": {"private": FLAG, "public": FLAG, "public_cidrs": TEXTS},
    "control_plane": {
        "support_type": TEXT,
        "service_cidr": TEXT,
        "kms_key_arn": TEXT,
        "creator_is_admin": FLAG,
        "oidc_provider": FLAG,
        "zonal_shift": FLAG,
        "logs": {"types": TEXTS, "retention_days": NUMBER},
    },
    "access": {ANY: {"principal_arn": TEXT, "type": TEXT, "kubernetes_groups": TEXTS, "policies": {ANY: TEXTS}}},
    "autoscaler": TEXT,
    "auto_mode": {"enabled": FLAG, "node_pools": TEXTS},
    "addons": {ANY: {"version": TEXT, "configuration": TEXT, "identities": {ANY: TEXT}}},
    "system_node_group": _SYSTEM_NODES,
    "accelerator_node_groups": {ANY: _ACCELERATOR_NODES},
    "karpenter": {"enabled": FLAG, "namespace": TEXT, "service_account": TEXT, "node_policy_arns": {ANY: TEXT}},
    "efs": {
        "enabled": FLAG,
        "performance_mode": TEXT,
        "infrequent_after_days": NUMBER,
        "backup": FLAG,
        "kms_key_arn": TEXT,
        "throughput": {"mode": TEXT, "mibps": NUMBER},
    },
    "fsx": {ANY: _LUSTRE},
    "ecr": {
        "repositories": TEXTS,
        "immutable": FLAG,
        "keep_untagged_days": NUMBER,
        "keep_images": NUMBER,
        "force_delete": FLAG,
        "kms_key_arn": TEXT,
    },
    "pod_identities": {
        ANY: {
            "namespace": TEXT,
            "service_accounts": TEXTS,
            "buckets": TEXTS,
            "policy_arns": {ANY: TEXT},
            "statements": [_STATEMENT],
        }
    },
}


def check(variables: Mapping[str, t.Any]) -> None:
    """Refuse variables that the stack does not have, or that have the wrong type.

    Raises:
        InvalidInputError: each mistake with its key, what was found and the known keys or types.
    """
    if problems := list(_problems(variables, STACK, "variables")):
        raise InvalidInputError("; ".join(problems), problems=problems)


def _problems(value: t.Any, shape: t.Any, where: str) -> Iterator[str]:
    if value is None:
        return
    if isinstance(shape, dict):
        yield from _in_mapping(value, shape, where)
    elif isinstance(shape, list):
        if not isinstance(value, (list, tuple)):
            yield f"{where}: expected a list, found {value!r}"
            return
        for index, entry in enumerate(value):
            yield from _problems(entry, shape[0], f"{where}[{index}]")
    elif not isinstance(value, _TYPES[shape]) or (shape == NUMBER and isinstance(value, bool)):
        hint = "; put it in quotes" if shape == TEXT and isinstance(value, (int, float)) else ""
        yield f"{where}: expected {shape}, found {value!r}{hint}"


def _in_mapping(value: t.Any, shape: dict[str, t.Any], where: str) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield f"{where}: expected a mapping, found {value!r}"
        return
    for key, entry in value.items():
        if key not in shape and ANY not in shape:
            yield f"{where}.{key}: the stack has no such variable.{did_you_mean(str(key), shape)}"
        else:
            yield from _problems(entry, shape.get(key, shape.get(ANY)), f"{where}.{key}")
