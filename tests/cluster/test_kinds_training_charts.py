# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Training charts run by their real operators: every rank takes part, and an elastic job outlives one."""

from __future__ import annotations

import re
import typing as t
from collections.abc import Callable

import pytest
from driven import LONG, run_step
from plays import until
from samples import Json
from space import Space

pytestmark = [pytest.mark.cluster, pytest.mark.operators]

TORCH = "localhost/mlops-eks/digits-torch:0.1.0"
SMALL = {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "1Gi"}}
# Each rank adds its number to those of the others.
_SUM = """cat >/tmp/sum.py <<'END'
import torch, torch.distributed as ranks
ranks.init_process_group("gloo")
total = torch.tensor(ranks.get_rank() + 1)
ranks.all_reduce(total)
print(f"rank {ranks.get_rank()} of {ranks.get_world_size()} has the sum {total.item()}", flush=True)
END"""
# Trains for a number of rounds that all ranks count together, and goes on from the last one.
_ROUNDS = """cat >/tmp/rounds.py <<'END'
import pathlib, time, torch, torch.distributed as ranks
ranks.init_process_group("gloo")
saved = pathlib.Path("/efs/round")
first = torch.tensor(int(saved.read_text()) if saved.exists() else 0)
ranks.broadcast(first, 0)
for number in range(int(first) + 1, 61):
    ranks.all_reduce(torch.ones(1))
    if ranks.get_rank() == 0:
        saved.with_suffix(".new").write_text(str(number))
        saved.with_suffix(".new").replace(saved)
        print(f"round {number} by {ranks.get_world_size()}", flush=True)
    time.sleep(0.5)
END"""


def recipe(program: str, command: str, **values: t.Any) -> Json:
    """Return a recipe of two pods that runs `command` after `program` was written."""
    given = {"image": TORCH, "pvc": [], "inline_script": [program], "train": {"command": [command]}}
    return {**given, **values, "resources": {"nnodes": 2, "nproc_per_node": 1, **SMALL}}


@pytest.mark.parametrize("chart", ["pytorchjob-distributed", "trainjob", "jobset"])
def test_all_ranks_take_part(chart: str, space: Space, proven: Callable[..., None]) -> None:
    name = f"training/{chart}"
    values = recipe(_SUM, "python3 -m torch.distributed.run /tmp/sum.py")
    assert "changed=1" in run_step(space, name, values)
    assert space.record("run")["outcome"] == "succeeded"
    text = "\n".join(path.read_text(encoding="utf-8") for path in space.evidence("run").rglob("*.log"))
    assert {f"rank {rank} of 2 has the sum 3" for rank in (0, 1)} <= set(re.findall(r"rank \d of .*", text))
    assert space.releases() == []
    proven(name, "executed")


@pytest.mark.parametrize("chart", ["pytorchjob-distributed", "trainjob", "jobset"])
def test_a_rank_that_fails_fails_the_step(chart: str, space: Space) -> None:
    values = recipe("true", 'if [ "$PET_NODE_RANK" = 1 ]; then echo no luck; exit 7; fi; sleep 30')
    assert "no luck" in run_step(space, f"training/{chart}", values, rc=2)
    record = space.record("run")
    assert record["outcome"] == "failed"
    assert "exit code 7" in record["cause"]["message"]


def test_an_elastic_job_outlives_a_worker(space: Space, proven: Callable[..., None]) -> None:
    name = "training/pytorchjob-elastic"
    shared = space.share("pv-efs")
    values = recipe(
        _ROUNDS,
        "python3 -m torch.distributed.run --max_restarts 5 /tmp/rounds.py",
        pvc=[{"name": "pv-efs", "mount_path": "/efs"}],
        elastic_policy={"min_replicas": 1, "max_replicas": 2},
    )
    task = space.start_task("helm_step", release="run", chart=name, values=values, timeout=LONG - 60)
    until(lambda: (shared / "round").exists() and int((shared / "round").read_text()) >= 5, "it trains", seconds=LONG)
    space.kubectl("delete", "pod", "pytorchjob-run-worker-1", "--grace-period=0", "--force")
    shown = task.end(0, seconds=LONG)
    assert space.record("run")["outcome"] == "succeeded"
    rounds = [int(number) for number in re.findall(r"round (\d+) by \d", shown)]
    assert rounds[-1] == 60
    # No round is lost, and few are done twice.
    assert set(rounds) == set(range(1, 61))
    assert len(rounds) <= 70
    proven(name, "executed")
