# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Refuse what no node of the instance types that a recipe names can give."""

from __future__ import annotations

import typing as t
from collections.abc import Iterator

from ansible_collections.mlops.eks.plugins.module_utils._aws.instance_table import OF
from ansible_collections.mlops.eks.plugins.module_utils._aws.instance_types import instance_type
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._recipe.layers import Layers, Values
from ansible_collections.mlops.eks.plugins.module_utils._recipe.source import KeyPath

_EFA, _NEURON = "vpc.amazonaws.com/efa", "aws.amazon.com/neuron"
# The key that says how many processes a pod starts, one for each accelerator.
_PROCESSES = "nproc_per_node"


def check_node_types(values: Values, where: Layers, chart: str) -> None:
    """Check every `resources` in the values that names a `node_type`, unless the table does not know the type.

    Raises:
        InvalidInputError: file, line and key of the first request that no node can give.
    """
    for path, resources in _resources(values, ()):
        for key, problem in _problems(resources):
            full = (*path, *key)
            raise InvalidInputError(
                f"{where.at(full)}: {'.'.join(map(str, full))}: {problem} [EC2 data of {OF}; chart {chart}]"
            )


def _problems(resources: Values) -> Iterator[tuple[KeyPath, str]]:
    named = resources["node_type"]
    names = [str(one) for one in named] if isinstance(named, list) else [str(named)]
    known = [found for found in map(instance_type, names) if found]
    if len(known) < len(names):
        return
    types = " or ".join(names)
    key, interfaces = _asked(resources, _EFA)
    most = max(found.efa for found in known)
    if interfaces > most:
        has = f"has {most}" if most else "has no EFA"
        yield key, f"asks for {interfaces}, but {types} {has}. Choose another node_type, or ask for less."
    key, devices = _asked(resources, _NEURON)
    # Physical cores, of which a logical one takes one or more.
    cores = devices * max(found.neuron_cores for found in known)
    processes = _number(resources.get(_PROCESSES))
    if processes > cores > 0:
        found = f"the {devices} Neuron devices asked for have {cores} cores on {types}"
        yield (_PROCESSES,), f"asks for {processes}, but {found}. Lower it, or ask for more devices."


def _asked(resources: Values, name: str) -> tuple[KeyPath, int]:
    """Return the key and the number of devices that a pod asks for."""
    for group in ("limits", "requests"):
        asked = resources.get(group)
        if isinstance(asked, dict) and name in asked:
            return (group, name), _number(asked[name])
    return (), 0


def _number(value: t.Any) -> int:
    return int(value) if str(value).isdecimal() else 0


def _resources(value: t.Any, path: KeyPath) -> Iterator[tuple[KeyPath, Values]]:
    """Yield each mapping `resources` with a `node_type`, at any depth."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in entries:
        if key == "resources" and isinstance(inner, dict) and inner.get("node_type"):
            yield (*path, key), inner
        yield from _resources(inner, (*path, key))
