# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""The trainings under which nodes and components fail, and what must be true of their steps whatever happened."""

from __future__ import annotations

import typing as t
from collections.abc import Iterator
from dataclasses import dataclass

from plays import Play
from samples import IMAGE, Json, consecutive, shown_ticks, ticks
from space import Space

TICKS = 150
# Fills a node of two cores so far that no second such pod fits.
_LARGE = {"requests": {"cpu": "1200m", "memory": "64Mi"}}
_EVIDENCE = ("step.json", "values.yaml", "manifest.yaml", "workload.yaml", "pods.yaml", "events.yaml")


@dataclass(frozen=True, kw_only=True)
class Training:
    """One small training: `leader` and `member` are parts of the names of the pods that lead and that follow."""

    name: str
    chart: str
    recipe: Json
    leader: str
    member: str
    pods: int

    def start(self, space: Space, **waits: t.Any) -> Play:
        """Start the play that runs it."""
        step = {"name": "train", "chart": self.chart, "recipe": "train.yaml", "timeout": 600, **waits}
        return space.start("train", pipeline=space.pipeline_of("run", [step], {"train": self.recipe}))


_RANKS = (
    "import time; from mpi4py import MPI; world = MPI.COMM_WORLD\n"
    f"for i in range(1, {TICKS + 1}):\n"
    "    world.allreduce(i); time.sleep(0.2)\n"
    "    world.rank or print('tick', i, flush=True)"
)
MPI = Training(
    name="mpi",
    chart="training/mpijob-distributed",
    recipe={
        "image": "localhost/mlops-eks/digits:0.1.0",
        "pvc": [],
        "resources": {"nnodes": 2, "nproc_per_node": 1, **_LARGE},
        "launcher": {"resources": {"requests": {"cpu": "50m", "memory": "64Mi"}}},
        "inline_script": [f"cat >/tmp/ranks.py <<'END'\n{_RANKS}\nEND"],
        "train": {"command": ["python3 -m mpi4py /tmp/ranks.py"]},
    },
    leader="launcher",
    member="worker",
    pods=3,
)


def pytorch(*, pause: float) -> Training:
    """Return a PyTorchJob of a master and a worker that tick every `pause` seconds, without waiting for each other."""
    return Training(
        name="pytorch",
        chart="training/pytorchjob-distributed",
        recipe={
            "image": IMAGE,
            "pvc": [],
            "resources": {"nnodes": 2, **_LARGE},
            "train": {"command": [f"for i in $(seq 1 {TICKS}); do echo tick $i; sleep {pause}; done"]},
        },
        leader="master",
        member="worker",
        pods=2,
    )


def leader_ticks(space: Space, training: Training) -> list[int]:
    """Return the ticks in the archived logs of the leader's pods."""
    logs = sorted((space.evidence("train") / "logs").glob(f"*{training.leader}*.log"))
    return [tick for log in logs for tick in ticks(log.read_text(encoding="utf-8").splitlines())]


def undisturbed(space: Space, training: Training, play: Play) -> Iterator[str]:
    """Yield what differs from a run of which nothing was disturbed."""
    record = space.record("train")
    if record["outcome"] != "succeeded":
        yield f"the step ended {record['outcome']}: {record['cause']}"
    if not consecutive(found := leader_ticks(space, training)) or len(found) != TICKS:
        yield f"the archived log holds {found}"
    if (shown := shown_ticks(play.text)) != list(range(1, TICKS + 1)):
        yield f"printed were {shown}"
    again = [one for pod in record["pods"] for one in pod["containers"] if one["restarts"]]
    if len(record["pods"]) != training.pods or record["restarts"] or again:
        yield f"pods were started again: {record['pods']}"
    yield from left_whole(space)


def left_whole(space: Space) -> Iterator[str]:
    """Yield what is missing of evidence and ledger, and what was left in the cluster."""
    evidence, record, entry = space.evidence("train"), space.record("train"), space.ledger()["train"]
    for name in _EVIDENCE:
        if not (evidence / name).is_file():
            yield f"no {name} in the evidence"
    if not list(space.runs.glob("*/report.html")):
        yield "no report"
    if entry["outcome"] != record["outcome"]:
        yield f"the ledger says {entry['outcome']}, the record {record['outcome']}"
    if space.releases():
        yield f"releases were left: {space.releases()}"
