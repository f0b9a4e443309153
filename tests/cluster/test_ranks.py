# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""A rank of an MPIJob that fails: its pod goes on, Kubernetes sees the launcher fail, and the result names the rank."""

from __future__ import annotations

import re

import pytest
from samples import Json
from space import Space

pytestmark = pytest.mark.cluster

_SMALL = {"requests": {"cpu": "10m", "memory": "32Mi"}}
# Rank 3 runs in the second worker; the others would go on for long.
_RANKS = "[ $OMPI_COMM_WORLD_RANK = 3 ] || exec sleep 600; echo rank 3 found no data >&2; {end}"
_NAMING = re.compile(r"Process name:|process rank")
_TRIES = 5


def _values(end: str) -> Json:
    return {
        "image": "localhost/mlops-eks/digits:0.1.0",
        "pvc": [],
        "resources": {"nnodes": 2, "nproc_per_node": 2, **_SMALL},
        "launcher": {"resources": _SMALL},
        "mpirun": {"args": ["--allow-run-as-root", "--bind-to none", "--map-by slot"]},
        "train": {"command": [_RANKS.format(end=end)]},
    }


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ("exit 5", "mpirun says that rank 3 was the first to fail, with exit code 5."),
        (
            "kill -KILL $$",
            "mpirun says that rank 3 on mpijob-run-worker-1 was the first to fail, by signal 9 (Killed).",
        ),
    ],
)
def test_a_rank_that_fails_is_named(space: Space, end: str, said: str) -> None:
    step: Json = {"release": "run", "chart": "training/mpijob-distributed", "values": _values(end)}
    # Open MPI 4.1 now and then ends before it has written the half of its last message that names the rank.
    for _ in range(_TRIES):
        shown = space.task("helm_step", 2, **step, timeout=600)
        cause = space.record("run")["cause"]
        if any(_NAMING.search(line) for line in cause["log_tail"]):
            break
    assert cause["message"].endswith(said)
    assert (cause["role"], cause["category"]) == ("launcher", "program")
    assert said in " ".join(shown.split())
    assert "rank 3 found no data" in cause["log_tail"]
