# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The table of instance types against what moto has, from which tools/instance_types.py writes it."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import typing as t
from pathlib import Path

import moto
import pytest

from ansible_collections.mlops.eks.plugins.module_utils._aws.demand import capacity
from ansible_collections.mlops.eks.plugins.module_utils._aws.instance_types import InstanceType, _table, instance_type

ROOT = Path(__file__).resolve().parents[5]
MOTO = Path(moto.__file__).parent / "ec2/resources/instance_types.json.gz"


def test_the_table_is_up_to_date() -> None:
    command = [sys.executable, str(ROOT / "tools/instance_types.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("m7i.large", {"vcpus": 2, "memory_mib": 8192}),
        (
            "p5.48xlarge",
            {"vcpus": 192, "memory_mib": 2097152, "gpus": 8, "gpu_mib": 81920, "efa": 32, "disks": 8, "disk_gb": 3800},
        ),
        (
            "trn1.32xlarge",
            {
                "vcpus": 128,
                "memory_mib": 524288,
                "neuron_devices": 16,
                "neuron_cores": 2,
                "efa": 8,
                "disks": 4,
                "disk_gb": 1900,
            },
        ),
        ("g6f.large", {"vcpus": 2, "memory_mib": 8192, "gpus": 1, "gpu_mib": 2861, "disks": 1, "disk_gb": 100}),
    ],
)
def test_a_type_is_as_aws_describes_it(name: str, expected: dict[str, int]) -> None:
    assert instance_type(name) == InstanceType(**expected)


def test_the_table_has_what_preflight_would_compute() -> None:
    """Every type of the table, by the reader of EC2's own answer."""
    facts: dict[str, t.Any] = json.loads(gzip.decompress(MOTO.read_bytes()))
    assert len(_table()) > 600
    for name, found in _table().items():
        own = {
            "cpu": found.vcpus,
            "memory": found.memory_mib * 2**20,
            "nvidia.com/gpu": found.gpus,
            "aws.amazon.com/neuron": found.neuron_devices,
            "aws.amazon.com/neuroncore": found.neuron_devices * found.neuron_cores,
            "vpc.amazonaws.com/efa": found.efa,
        }
        theirs = capacity(facts[name])
        if "f." in name:
            # A part of a GPU, which EC2 counts as none.
            theirs["nvidia.com/gpu"] = 1
        assert {key: amount for key, amount in own.items() if amount} == theirs, name


@pytest.mark.parametrize("name", ["", "p5", "nosuch.large", "m7i.nosuch"])
def test_an_unknown_type_is_not_known(name: str) -> None:
    assert instance_type(name) is None
