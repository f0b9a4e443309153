# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""A run that is stopped while its controller lives: at any moment, between two attempts and between two steps."""

from __future__ import annotations

import random
import re
import threading
import time
from collections.abc import Iterator

from fault import Episode, Fault, Setting, repeated
from plays import Play, until
from samples import JOB, gated, job
from shown import lines
from space import Space, fresh
from wire import Moment, wired

# Moments at which a run is stopped, within so many seconds of the first sign that it was begun.
_STOPS, _WITHIN = 8, 8.0
# Seconds in which a stop, and then the controller that followed, must have ended; a busy machine may take ten times as
# long as usual.
_LIMIT = 240.0
_BACK_OFF = 300


def _ended(space: Space, play: Play) -> Episode:
    """Stop the run of `play`; return what came of it, with the seconds from there to the end of the play."""
    said = space.play("stop", release="run")
    begun = time.monotonic()
    play.end(rc=None, seconds=_LIMIT)
    took = time.monotonic() - begun
    return _episode(space, play, took, list(_wrong(space, play, said)))


def _episode(space: Space, play: Play, seconds: float, wrong: list[str]) -> Episode:
    ours, stops = (sum(1 for _ in space.runs.glob(where)) for where in ("*/*/*/**/*.log", "*-stop-*/*/*/logs/*.log"))
    kept = f"{len(space.ledger())} steps in the ledger, {ours} logs, {stops} of them by the stop"
    return Episode(seconds=seconds, wrong=wrong, said=lines(play.text, "stopped from|took over"), kept=kept)


def _wrong(space: Space, play: Play, said: str) -> Iterator[str]:
    if "stopped from" not in play.text and "took over" not in play.text:
        yield f"the controller does not say that it was stopped: {play.text[-800:]}"
    outcomes = {step: entry["outcome"] for step, entry in space.ledger().items()}
    stopped = re.search(r"run run: stopped (\w+)", said)
    if {"running", "retrying"} & set(outcomes.values()) or (stopped and outcomes[stopped[1]] != "cancelled"):
        yield f"ledger: {outcomes} after {said[-800:]}"
    if left := [*space.releases(), *space.names("leases"), *space.names("jobs")]:
        yield f"left: {left}"


def _anywhere(setting: Setting) -> Iterator[Episode]:
    chance = random.Random(setting.seed)
    for number in range(_STOPS):
        directory = setting.directory / str(number)
        directory.mkdir()
        with fresh(setting.kubeconfig, directory) as space:
            recipes = {"a": job("sleep 1"), "b": job("sleep 1"), "c": gated()}
            play = space.start("train", pipeline=space.pipeline(**recipes))
            until(space.ledger, "the run has begun", seconds=_LIMIT)
            time.sleep(chance.uniform(0.0, _WITHIN))
            yield _ended(space, play)


def _between_steps(setting: Setting) -> Iterator[Episode]:
    stopped: list[str] = []
    stopping, over = threading.Event(), threading.Event()
    directory, way = setting.directory, wired(setting.kubeconfig, setting.directory)
    with way as (wire, kubeconfig), fresh(setting.kubeconfig, directory) as space:

        def gate(moment: Moment) -> bool:
            """Stop the run when its first step has given the lock back, before it hears of it.

            It asks again when it has waited for half a minute, and hears of nothing until the run was stopped.
            """
            if stopping.is_set():
                over.wait(_LIMIT)
            elif moment.done and moment.method == "DELETE" and "/leases/" in moment.path:
                stopping.set()
                stopped.append(space.play("stop", release="run"))
                over.set()
            return True

        wire.gate = gate
        hosts = {"east": {"kubeconfig": kubeconfig, "kube_namespace": space.namespace}}
        pipeline = space.pipeline(a=job("true"), b=job("true"))
        play = space.start("train", pipeline=pipeline, inventory=space.write_inventory(hosts, "wired.yml"))
        until(lambda: stopped, "the run was stopped", seconds=_LIMIT)
        begun = time.monotonic()
        play.end(rc=None, seconds=_LIMIT)
        took, said = time.monotonic() - begun, list(_wrong(space, play, stopped[0]))
        if set(space.ledger()) != {"a"} or len(space.pods_ever()) != 1:
            said.append(f"it went on: {space.ledger()}")
        # The next run has another id, and is not concerned.
        space.play("train", pipeline=pipeline)
        if set(space.ledger()) != {"a", "b"}:
            said.append(f"the next run did not go on: {space.ledger()}")
        yield _episode(space, play, took, said)


def _between_attempts(setting: Setting) -> Iterator[Episode]:
    with fresh(setting.kubeconfig, setting.directory) as space:
        step = {"name": "train", "chart": JOB, "recipe": "train.yaml"}
        step |= {"retries": 1, "retry_on": ["any"], "retry_backoff": _BACK_OFF}
        pipeline = space.pipeline_of("run", [step], {"train": job("exit 3", backoff_limit=0)})
        play = space.start("train", pipeline=pipeline)
        play.shows("attempt 2 begins in", seconds=_LIMIT)
        yield _ended(space, play)


def faults() -> list[Fault]:
    """Return every fault of this kind."""
    return [
        repeated(
            "stopped",
            group="stopped while it runs",
            how="stop.yml at a random moment of a run",
            inject=_anywhere,
        ),
        repeated(
            "stopped-between-attempts",
            group="stopped while it waits for the next attempt",
            how=f"stop.yml in a back-off of {_BACK_OFF} s",
            inject=_between_attempts,
        ),
        repeated(
            "stopped-between-steps",
            group="stopped while it is between two steps",
            how="stop.yml when the first step has given its lock back",
            inject=_between_steps,
        ),
    ]
