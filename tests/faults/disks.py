# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""A disk for the evidence that is full while a workload logs, and has room again later."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from fakes.disk import Disk, mounted
from fault import Episode, Fault, Setting, repeated
from plays import Play
from samples import GATE, job
from shown import lines
from space import Space, fresh

_LIMIT = 240.0
_LINES = 100000
_WAITS, _TOLD = "its pods stay until the evidence is whole", "no space left on device"
Act = Callable[[Space, Disk, Play], Play]


def _episode(setting: Setting, act: Act) -> Episode:
    """Let a Job log more than fits, then do `act`; return the seconds it took, and what is not whole after that."""
    with fresh(setting.kubeconfig, setting.directory) as space, mounted(space.runs, "size=1m") as disk:
        pipeline = space.pipeline(train=job("echo here", GATE, f"seq 1 {_LINES}", "sleep 2"))
        play = space.start("train", pipeline=pipeline)
        play.shows("| here\n", _LIMIT)
        disk.fill()
        space.open_gate()
        play.shows(_WAITS, _LIMIT)
        kept = _log(space)
        begun, said = time.monotonic(), lines(play.text, _TOLD)
        act(space, disk, play).end(seconds=_LIMIT)
        took, wrong = time.monotonic() - begun, list(_wrong(space, kept))
        found = f"{len(kept.splitlines())} lines on the node, {len(space.log('train'))} archived"
        return Episode(seconds=took, wrong=wrong, said=said, kept=found)


def _log(space: Space) -> bytes:
    """Return what the only pod wrote, as it is on its node."""
    (pod,) = space.get("pods")
    name = "_".join((space.namespace, pod["metadata"]["name"], pod["metadata"]["uid"]))
    (file,) = (Path(space.kubeconfig).parent / "pod-logs" / name).glob("*/0.log")
    return b"".join(line.split(b" ", 3)[3] for line in file.read_bytes().splitlines(keepends=True))


def _wrong(space: Space, kept: bytes) -> Iterator[str]:
    (file,) = (space.evidence("train") / "logs").iterdir()
    if (found := file.read_bytes()) != kept:
        yield f"the archive has {len(found)} of {len(kept)} bytes"
    if (outcome := space.record("train")["outcome"]) != "succeeded":
        yield f"the record says {outcome}"
    if left := [*space.releases(), *space.names("leases"), *space.names("jobs")]:
        yield f"left: {left}"
    if len(space.pods_ever()) != 1:
        yield f"more than one pod: {space.pods_ever()}"


def _room(_: Space, disk: Disk, play: Play) -> Play:
    disk.resize("size=16m")
    return play


def _again(space: Space, disk: Disk, play: Play) -> Play:
    play.end_by(lambda one: one.send(signal.SIGINT))
    disk.resize("size=16m")
    return space.start("train", pipeline=space.directory / "run")


def _fault(name: str, then: str, act: Act) -> Fault:
    def inject(setting: Setting) -> Iterator[Episode]:
        yield _episode(setting, act)

    return repeated(
        f"{name}@full-disk",
        group="the disk of the evidence is full",
        how=f"runs_dir full while a Job logs more than fits, {then}",
        inject=inject,
    )


def faults() -> list[Fault]:
    """Return every fault of this kind."""
    return [
        _fault("waits", "until there is room", _room),
        _fault("given-up", "then Ctrl-C, room, and the same command", _again),
    ]
