# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""The pipeline whose controller is killed, and what must be true of it in the end however often that happened."""

from __future__ import annotations

import json
import typing as t
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import yaml
from interrupt_points import SERVE
from plays import until
from samples import JOB, SERVER, Json, job, server, ticks
from space import Space

_TICKS = 15
_DIARY = "/fsx/diary"
# The claim on the file system that all steps share, where the diary is.
DIARY = "pv-fsx"


def _diary(word: str, step: str) -> str:
    """Return the command by which a workload notes on the shared file system what became of it."""
    return f"echo {word} {step} $HOSTNAME >> {_DIARY}"


def _works(step: str) -> str:
    loop = f"for i in $(seq 1 {_TICKS}); do echo tick $i; sleep 0.1; done"
    return f"{_diary('begin', step)}; {loop}"


def _mpi() -> Json:
    small = {"requests": {"cpu": "10m", "memory": "32Mi"}}
    ended = f"for i in $(seq 1 {_TICKS}); do echo tick $i; done; {_diary('end', 'train')}"
    return {
        "image": "localhost/mlops-eks/digits:0.1.0",
        "pvc": _CLAIMS,
        "resources": {"nnodes": 2, "nproc_per_node": 1, **small},
        "launcher": {"resources": small, "pre_script": [_diary("begin", "train")], "post_script": [ended]},
        "train": {"command": ["sleep 1"]},
    }


_CLAIMS = [{"name": DIARY, "mount_path": "/fsx"}]
_ONCE = "[ -e /fsx/failed ] || { touch /fsx/failed; exit 3; }"
RECIPES: dict[str, Json] = {
    "prepare": job(_works("prepare"), _diary("end", "prepare"), pvc=_CLAIMS),
    "flaky": job(_works("flaky"), _ONCE, _diary("end", "flaky"), pvc=_CLAIMS, backoff_limit=1),
    "train": _mpi(),
    SERVE: server("hello", pvc=_CLAIMS, pre_script=[_diary("begin", SERVE)]),
}
_CHARTS = {"prepare": JOB, "flaky": JOB, "train": "training/mpijob-distributed", SERVE: SERVER}


def write(space: Space, names: tuple[str, ...]) -> Path:
    """Write the pipeline of the steps `names`, make the volume for its diary, and return the pipeline's directory."""
    space.share(DIARY)
    steps = [{"name": step, "chart": _CHARTS[step], "recipe": f"{step}.yaml", "timeout": 900} for step in names]
    return space.pipeline_of("run", steps, RECIPES)


def verify(space: Space, steps: tuple[str, ...], *, server_starts: int = 1) -> list[str]:
    """Return what is not as it would be had nobody been killed, one sentence each."""
    return [
        *_executions(space, steps, server_starts),
        *_ledger(space, steps),
        *_leftovers(space, steps),
        *(said for step in steps for said in _evidence(space, step)),
    ]


def counted(space: Space, steps: tuple[str, ...]) -> str:
    """Return what is there in the end, counted."""
    good = sum(entry["outcome"] in ("succeeded", "ready") for entry in space.ledger().values())
    records = [json.loads(file.read_text(encoding="utf-8")) for file in space.runs.glob(f"*/{space.host}/*/step.json")]
    whole = {record["step"] for record in records if record["outcome"] in ("succeeded", "ready")}
    return f"{good} of {len(steps)} steps in the ledger, {len(whole)} of {len(steps)} with their evidence"


def _executions(space: Space, steps: tuple[str, ...], server_starts: int) -> Iterator[str]:
    diary = Counter(" ".join(line.split()[:2]) for line in (space.directory / DIARY / "diary").read_text().splitlines())
    for step in steps:
        if step == SERVE and not 1 <= diary[f"begin {SERVE}"] <= server_starts:
            yield f"{SERVE}: started {diary[f'begin {SERVE}']} times"
        if step != SERVE and diary[f"end {step}"] != 1:
            yield f"{step}: {diary[f'end {step}']} successful executions: {dict(diary)}"


def _ledger(space: Space, steps: tuple[str, ...]) -> Iterator[str]:
    ledger = space.ledger()
    wanted = {step: "ready" if step == SERVE else "succeeded" for step in steps}
    found = {step: entry["outcome"] for step, entry in ledger.items()}
    if found != wanted:
        yield f"ledger: {found}"
    elif not all(entry["finished"] and entry["identity"] for entry in ledger.values()):
        yield "ledger: an entry without end or identity"
    elif sorted(steps, key=lambda step: t.cast(int, ledger[step]["order"])) != list(steps):
        yield "ledger: not in the order of the steps"


def _leftovers(space: Space, steps: tuple[str, ...]) -> Iterator[str]:
    states = {
        secret["metadata"]["labels"]["name"]: secret["metadata"]["labels"]["status"]
        for secret in space.get("secrets", "-l", "owner=helm")
    }
    if states != ({f"run-{SERVE}": "deployed"} if SERVE in steps else {}):
        yield f"helm releases: {states}"
    if leases := space.names("leases"):
        yield f"locks left: {leases}"
    pods = ("pods", "-l", "app.kubernetes.io/instance=run")
    until(lambda: not space.get(*pods), "pods of ended steps are gone", seconds=300)
    if left := [name for kind in ("jobs", "mpijobs") for name in space.names(kind)]:
        yield f"workloads left: {left}"


def _evidence(space: Space, step: str) -> Iterator[str]:
    """Every record that claims success is whole, and there is one of each step."""
    whole = 0
    for file in sorted(space.runs.glob(f"*/{space.host}/??-{step}/step.json")):
        path, record = file.parent, json.loads(file.read_text(encoding="utf-8"))
        if record["outcome"] not in ("succeeded", "ready"):
            continue
        whole += 1
        missing = [name for name in ("values", "manifest", "workload", "pods") if not _holds(path / f"{name}.yaml")]
        if missing or not record["finished"] or not record["pods"]:
            yield f"{step}: evidence {path} lacks {missing or 'its end or its pods'}"
        logs = [numbers for file in (path / "logs").glob("*.log") if (numbers := _numbers(file))]
        if step != SERVE and (not logs or any(numbers != list(range(1, _TICKS + 1)) for numbers in logs)):
            yield f"{step}: incomplete logs in {path}: {logs}"
    if not whole:
        yield f"{step}: no run has its evidence"


def _holds(path: Path) -> bool:
    return path.is_file() and any(yaml.safe_load_all(path.read_text(encoding="utf-8")))


def _numbers(file: Path) -> list[int]:
    return ticks(file.read_text(encoding="utf-8").splitlines())
