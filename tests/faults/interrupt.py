# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""A controller killed at every boundary of its phases and at random moments, in every way, until the pipeline ends."""

from __future__ import annotations

import contextlib
import random
import re
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from fault import Batch, Fault, Result, Setting
from interrupt_kill import NOTHING_SURVIVES, WAYS
from interrupt_pipeline import DIARY, counted, verify, write
from interrupt_points import ALL, CHAINS, POINTS, RANDOM, Point
from plays import Play
from shown import lines
from space import Space, fresh
from wire import Moment, Wire, wired

# Seconds in which a controller must have ended after it was killed, and a pipeline that nobody disturbs any more; it
# takes half a minute, but on a machine that is busy with other things ten times as long was seen.
_END, _WHOLE = 60.0, 900.0
# Random moments per pipeline, each within so many seconds of the start of its controller.
_RANDOM, _WITHIN = 5, 12.0
# Of Ansible's own handler, when Ctrl-C comes in the milliseconds in which it forks a worker: Python prints the
# KeyboardInterrupt of a hook of `os.fork` and goes on; docs/reliability.md.
_FORKING = "in _signal_handler"
# Ansible says this once it is imported; a Ctrl-C before that ends Python in the middle of an import.
_PLAYS = "PLAY ["
# Boundaries at which a server's Helm may be dead before it is whole: it is installed again.
_AGAIN = ("created", "unmarked", RANDOM)


@dataclass
class Kill:
    """One kill of one controller: at point `name` of `step`, or `after` so many seconds."""

    wire: Wire
    way: str
    name: str
    step: str
    steps: tuple[str, ...]
    after: float = 0.0
    at: float = 0.0
    done: threading.Event = field(default_factory=threading.Event)

    @property
    def point(self) -> Point:
        """Where it happens."""
        return POINTS[self.name]

    def run(self, play: Play) -> None:
        """Kill the controller of `play` once it gets there; return at its end, or once it has gone past."""
        self._play = play
        self.wire.gate = self._gate if self.point.method else lambda _: True
        while play.process.poll() is None and not self.done.is_set() and not self._is_past():
            said = self.point.said and self.point.said in play.text
            if said or (self.point.at_random and time.monotonic() - play.started >= self.after):
                self._kill()
            self.done.wait(0.01)
        self.wire.gate = lambda _: True
        if self.done.is_set():
            self._await_end()

    def _await_end(self) -> None:
        """Wait for the end; press Ctrl-C again where Python lost it in the fork of a worker, as a user would."""
        deadline, swallowed = time.monotonic() + _END, False
        while self._play.process.poll() is None and time.monotonic() < deadline:
            if _FORKING in self._play.text and not swallowed:
                swallowed = True
                self._kill()
            time.sleep(0.05)

    def _is_past(self) -> bool:
        at_work = self._at_work()
        return bool(self.point.method) and (not at_work or self.steps.index(at_work) > self.steps.index(self.step))

    def _at_work(self) -> str:
        """Return the step at work: strategy `free` prints the heading of a task with its result."""
        return next((step for step in self.steps if f": {step}]" not in self._play.text), "")

    def _gate(self, moment: Moment) -> bool:
        if self.done.is_set() or not self.point.is_at(moment) or self._at_work() != self.step:
            return True
        self._kill()
        return self.way not in NOTHING_SURVIVES

    def _kill(self) -> None:
        self.at = time.monotonic()
        # First, as whoever finds the controller dead asks whether it was us.
        self.done.set()
        with contextlib.suppress(ProcessLookupError):
            WAYS[self.way][1](self._play)


@contextlib.contextmanager
def _space(setting: Setting) -> Iterator[tuple[Space, Wire]]:
    with fresh(setting.kubeconfig, setting.directory) as space:
        try:
            with wired(setting.kubeconfig, setting.directory) as (wire, kubeconfig):
                hosts = {"east": {"kubeconfig": kubeconfig, "kube_namespace": space.namespace}}
                space.write_inventory(hosts, "wired.yml")
                yield space, wire
        finally:
            volume = f"{space.namespace}-{DIARY}"
            space.kubectl("delete", "persistentvolume", volume, "--wait=false", "--ignore-not-found")


def interrupt(setting: Setting, way: str, names: tuple[str, ...], *, steps: tuple[str, ...] = ALL) -> dict[str, Result]:
    """Run `steps`, kill their controller at each of the points `names` of each step, and look at what is left."""
    chance = random.Random(f"{setting.seed} {way}")
    with _space(setting) as (space, wire):
        pipeline = write(space, steps)
        kills = [Kill(wire, way, name, step, steps) for step in steps for name in names if step in POINTS[name].steps]
        if RANDOM in names:
            kills += [Kill(wire, way, RANDOM, "", steps, after=chance.uniform(0.1, _WITHIN)) for _ in range(_RANDOM)]
        violations, seconds, said = _run(setting, space, pipeline, kills)
        starts = 1 + (len(kills) if set(names) & set(_AGAIN) else 0)
        violations = violations or verify(space, steps, server_starts=starts)
        kept = counted(space, steps)
    return {
        f"{way}@{name}": replace(
            _result(name, kills, seconds, _about(way, name, violations)), said=tuple(said.get(name, ())), kept=(kept,)
        )
        for name in names
    }


def _about(way: str, name: str, violations: list[str]) -> list[str]:
    """Return what is wrong at one point or in the end; what is wrong at another point is that one's."""
    others = tuple(f"{way}@{other} " for other in POINTS if other != name)
    return [said for said in violations if not said.startswith(others)]


# By point: the seconds to go on, and the next controller's first words about the step.
_Seconds, _Said = dict[str, list[float]], dict[str, list[str]]


def _run(setting: Setting, space: Space, pipeline: Path, kills: list[Kill]) -> tuple[list[str], _Seconds, _Said]:
    """Start the pipeline until every kill was tried; return what is wrong in the end, and how it went on."""
    seconds: _Seconds = {}
    said: _Said = {}
    violations: list[str] = []

    def start() -> Play:
        return space.start("train", pipeline=pipeline, inventory=space.directory / "wired.yml")

    play = start()
    for kill in kills:
        if play.process.poll() is not None:
            break
        kill.run(play)
        setting.say(f"{kill.way}@{kill.name} {kill.step}: {'killed' if kill.done.is_set() else 'not killed'}")
        if kill.done.is_set():
            violations += _after(space, play, kill)
            play = start()
            found = seconds.setdefault(kill.name, []), said.setdefault(kill.name, [])
            threading.Thread(target=_progress, args=(play, kill, *found), daemon=True).start()
    return violations + _ended(space, play), seconds, said


def _result(name: str, kills: list[Kill], seconds: dict[str, list[float]], violations: list[str]) -> Result:
    injected = sum(kill.done.is_set() for kill in kills if kill.name == name)
    return Result(
        injected=injected,
        recovered=0 if violations else injected,
        violations=tuple(violations),
        seconds=tuple(seconds.get(name, ())),
    )


def _after(space: Space, play: Play, kill: Kill) -> list[str]:
    """Return what is wrong with a play that was killed."""
    _keep(space, play)
    told = f"{kill.way}@{kill.name} {kill.step}"
    if play.process.poll() is None:
        play.kill()
        return [f"{told}: still running {_END:g} s after it"]
    return [f"{told}: shows a traceback"] if "Traceback" in play.text and not _is_of_ansible(play.text) else []


def _is_of_ansible(text: str) -> bool:
    """Return whether a traceback comes from Ansible's own code, before any of this collection runs."""
    return _FORKING in text or _PLAYS not in text


def _ended(space: Space, play: Play) -> list[str]:
    """Return what is wrong with a play that nobody killed."""
    try:
        play.end(seconds=_WHOLE)
    except AssertionError as error:
        return [str(error)[-1500:]]
    finally:
        _keep(space, play)
    return []


def _keep(space: Space, play: Play) -> None:
    (space.directory / f"play-{len(space.plays):02d}.log").write_text(play.text, encoding="utf-8")


def _progress(play: Play, last: Kill, found: list[float], said: list[str]) -> None:
    """Note the seconds from a kill to the next controller's first words about the step it was at, and these words.

    A controller that has nothing to say about that step has gone on when it speaks of a later one, or succeeds.
    """
    later = last.steps[last.steps.index(last.step) :] if last.step else ()
    places = tuple(f" {step}: " for step in later) or ("| step ",)
    while not any(place in play.text for place in places) and play.process.poll() is None:
        time.sleep(0.05)
    spoken = [place for place in places if place in play.text]
    if spoken or play.process.poll() == 0:
        found.append(round(time.monotonic() - last.at, 1))
    for place in spoken[:1]:
        said += [re.sub(r"^step \d/\d \S+ ", "", line) for line in lines(play.text, re.escape(place.strip("| ")))[:1]]


def faults() -> list[Fault]:
    """Return every fault of this kind: each way at each point."""
    return [_fault(way, name) for name in POINTS for way in WAYS]


def batches() -> list[Batch]:
    """Return the same with fewer runs: the points of a chain in one pipeline."""
    return [_batch(way, chain) for chain in CHAINS for way in WAYS]


def _batch(way: str, chain: tuple[str, ...]) -> Batch:
    names = tuple(f"{way}@{name}" for name in chain)
    return Batch(names=names, run=lambda setting: interrupt(setting, way, chain))


def _fault(way: str, name: str) -> Fault:
    return Fault(
        name=f"{way}@{name}",
        group=f"controller killed {POINTS[name].means}",
        how=WAYS[way][0],
        run=lambda setting: interrupt(setting, way, (name,))[f"{way}@{name}"],
    )
