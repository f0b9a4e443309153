# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Two controllers and one release: started at once, one asleep while the other takes over, one lost for good."""

from __future__ import annotations

import os
import random
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from fault import Episode, Fault, Setting, repeated
from plays import Play, until
from samples import JOB, Json, gated, job
from shown import lines
from space import Space, fresh

# Longer than a lease lasts, and the start of a play on a busy machine.
_TAKEN_OVER = 180.0
_TOWER = 'hostname tower && exec "$@"'
# Pairs that are started at once.
_PAIRS = 5


def _pipeline(space: Space, **recipes: Json) -> Path:
    """Write a pipeline whose steps may take as long as they like."""
    steps = [{"name": step, "chart": JOB, "recipe": f"{step}.yaml"} for step in recipes]
    return space.pipeline_of("run", steps, recipes)


def _elsewhere(space: Space, pipeline: Path) -> Play:
    """Start a controller that takes itself to be on a machine called `tower`."""
    return space.start("train", pipeline=pipeline, within=("unshare", "--uts", "sh", "-c", _TOWER, "sh"))


def _outcomes(space: Space) -> dict[str, str]:
    return {step: entry["outcome"] for step, entry in space.ledger().items()}


def _whole(space: Space, pods: int) -> Iterator[str]:
    """Yield what is not as one controller alone would have left it."""
    if set(_outcomes(space).values()) != {"succeeded"} or len(_outcomes(space)) != pods:
        yield f"ledger: {_outcomes(space)}"
    if len(space.pods_ever()) != pods:
        yield f"{len(space.pods_ever())} pods were created, not {pods}"
    if space.releases() or space.names("leases"):
        yield f"left: {space.releases()} {space.names('leases')}"


def _episode(space: Space, pods: int, seconds: float, wrong: list[str], play: Play, pattern: str) -> Episode:
    """Return what came of a fault; shown were the lines of `play` in which `pattern` is found."""
    done, ever = sum(word == "succeeded" for word in _outcomes(space).values()), len(space.pods_ever())
    kept = f"{done} of {pods} steps done, by {ever} pods"
    return Episode(seconds=seconds, wrong=[*wrong, *_whole(space, pods)], said=lines(play.text, pattern), kept=kept)


def _at_once(setting: Setting) -> Iterator[Episode]:
    chance = random.Random(setting.seed)
    for number in range(_PAIRS):
        directory = setting.directory / str(number)
        directory.mkdir()
        with fresh(setting.kubeconfig, directory) as space:
            pipeline = _pipeline(space, train=job("sleep 1"), evaluate=job("sleep 1"))
            plays = [space.start("train", pipeline=pipeline)]
            time.sleep(chance.uniform(0.0, 0.5))
            plays.append(space.start("train", pipeline=pipeline))
            codes = [play.process.wait(_TAKEN_OVER) for play in plays]
            refused = [play for play, code in zip(plays, codes, strict=True) if code]
            said = [f"exit codes {codes}"] if all(codes) else []
            said += [play.text[-800:] for play in refused if "is following it" not in play.text]
            took = max(time.monotonic() - play.started for play in plays)
            last = refused[0] if refused else plays[1]
            yield _episode(space, 2, took, said, last, r"locked|following|skipped|re-attached")


def _asleep(setting: Setting) -> Iterator[Episode]:
    with fresh(setting.kubeconfig, setting.directory) as space:
        pipeline = _pipeline(space, train=gated(), evaluate=gated())
        sleeper = space.start("train", pipeline=pipeline)
        sleeper.shows("tick 1", seconds=_TAKEN_OVER)
        sleeper.send_all(signal.SIGSTOP)
        slept = time.monotonic()
        other = space.start("train", pipeline=pipeline)
        other.shows("re-attached", seconds=_TAKEN_OVER)
        taken = time.monotonic() - slept
        space.open_gate()
        # The same release runs the next step when the sleeper wakes and finds its own at an end.
        other.shows("step 2/2 evaluate: helm install", seconds=_TAKEN_OVER)
        other.shows("tick 1", seconds=_TAKEN_OVER)
        until(lambda: any(one["status"].get("ready") for one in space.get("jobs")), "the next step runs")
        sleeper.send_all(signal.SIGCONT)
        code = sleeper.process.wait(_TAKEN_OVER)
        said = [] if code and "took over" in sleeper.text else [f"the sleeper ended {code}: {sleeper.text[-800:]}"]
        space.open_gate()
        other.end()
        runs = {entry["run_id"] for entry in space.ledger().values()}
        said += [f"the ledger is of several runs: {runs}"] if len(runs) != 1 else []
        yield _episode(space, 2, taken, said, sleeper, "took over")


def _lost(setting: Setting) -> Iterator[Episode]:
    with fresh(setting.kubeconfig, setting.directory) as space:
        pipeline = _pipeline(space, train=gated())
        first = _elsewhere(space, pipeline)
        first.shows("tick 1", seconds=_TAKEN_OVER)
        first.kill()
        lost = time.monotonic()
        other = space.start("train", pipeline=pipeline)
        other.shows("re-attached", seconds=_TAKEN_OVER)
        taken = time.monotonic() - lost
        space.open_gate()
        text = other.end()
        said = (
            []
            if re.search(r"is locked by tower \(process \d+\); waiting", text)
            else ["it does not say whom it awaits"]
        )
        yield _episode(space, 1, taken, said, other, "is locked by|re-attached")


def _worker(setting: Setting) -> Iterator[Episode]:
    with fresh(setting.kubeconfig, setting.directory) as space:
        pipeline = _pipeline(space, train=gated())
        first = space.start("train", pipeline=pipeline)
        first.shows("tick 1", seconds=_TAKEN_OVER)
        for pid in first.family - {first.process.pid}:
            if "ansible-playbook" in Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8"):
                os.kill(pid, signal.SIGKILL)
        killed = time.monotonic()
        code = first.process.wait(_TAKEN_OVER)
        took = time.monotonic() - killed
        second = space.start("train", pipeline=pipeline)
        second.shows("re-attached", seconds=_TAKEN_OVER)
        space.open_gate()
        second.end()
        wrong = [] if code else ["the play whose worker was killed ended well"]
        yield _episode(space, 1, took, wrong, second, "re-attached")


def faults() -> list[Fault]:
    """Return every fault of this kind."""
    return [
        repeated(
            "two-at-once",
            how="two controllers started within half a second",
            inject=_at_once,
        ),
        repeated(
            "asleep",
            how="the holder of the lock stopped (SIGSTOP) until another took over and ran the next step, then woken",
            inject=_asleep,
        ),
        repeated(
            "worker-killed",
            how="SIGKILL to the worker of ansible-playbook alone, as the kernel does that runs out of memory",
            inject=_worker,
        ),
        repeated(
            "machine-lost",
            how="a controller of another host name killed; the next one cannot look at its process",
            inject=_lost,
        ),
    ]
