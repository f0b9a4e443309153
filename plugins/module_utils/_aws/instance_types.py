# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""What a node of an EC2 instance type has, without a request; see `instance_table.py` for date and source."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from ansible_collections.mlops.eks.plugins.module_utils._aws.instance_table import TYPES


@dataclass(frozen=True, kw_only=True)
class InstanceType:
    """The hardware of an instance type. `neuron_cores` are those of one device, `gpu_mib` is the memory of one GPU."""

    vcpus: int
    memory_mib: int
    gpus: int = 0
    gpu_mib: int = 0
    neuron_devices: int = 0
    neuron_cores: int = 0
    efa: int = 0
    disks: int = 0
    disk_gb: int = 0


# The fields that a word of the table is about.
_FIELDS = {
    "gpu": ("gpus", "gpu_mib"),
    "neuron": ("neuron_devices", "neuron_cores"),
    "efa": ("efa",),
    "disk": ("disks", "disk_gb"),
}


def instance_type(name: str) -> InstanceType | None:
    """Return what a type such as `p5.48xlarge` has; `None` for one that the table does not know."""
    return _table().get(name)


@functools.cache
def _table() -> dict[str, InstanceType]:
    found = {}
    for paragraph in TYPES.replace("\n  ", " ").splitlines():
        family, _, sizes = paragraph.partition(": ")
        for text in sizes.split(", "):
            size, room, *more = text.split()
            vcpus, mib = map(int, room.split("/"))
            facts = {"vcpus": vcpus, "memory_mib": mib}
            for word, _, numbers in (one.partition("=") for one in more):
                facts |= zip(_FIELDS[word], map(int, numbers.split("x")), strict=True)
            found[f"{family}.{size}"] = InstanceType(**facts)
    return found
