# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""A pipeline run behind a hostile API server, and what must be true of it as if the server had been kind."""

from __future__ import annotations

import contextlib
import random
import threading
import time
import typing as t
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from fault import Result, Setting
from hostile_proxy import Proxy, Script
from plays import Play
from samples import job
from shown import TROUBLE, lines
from space import Space, fresh

# Seconds in which a disturbed pipeline must have ended; the kind one takes about fifteen.
_WHOLE = 900.0
# About six seconds of lines in bursts: short ones, one that the node's log splits, bytes that are no text.
_CHATTER = (
    "perl -e '$| = 1; for $i (1..60) { print map { qq(line $i.$_ ) . q(x) x ($i * $_ % 97) . qq(\\n) } 1..$i; "
    "print qq(long ) . q(y) x 40000 . qq(\\n\\xff\\xfe\\r\\n\\n) if $i == 30; select undef, undef, undef, 0.1 } "
    "print q(the end)'"
)
_OUTCOMES = {"train": "succeeded", "break": "failed"}
_CAUSE = "it ended with exit code 3."


@dataclass(frozen=True, kw_only=True)
class Scene:
    """What a fault's script may look at and reach for."""

    proxy: Proxy
    space: Space
    play: Callable[[], Play]
    chance: random.Random


class NodeLogs:
    """Keeps open every log file that the node writes for a namespace: it is deleted with its pod."""

    def __init__(self, kubeconfig: str, namespace: str) -> None:
        self._where, self._namespace = Path(kubeconfig).parent / "pod-logs", namespace
        self._open: dict[str, t.BinaryIO] = {}
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._stopped.wait(0.1):
            for path in self._where.glob(f"{self._namespace}_*/*/*.log"):
                pod = path.parent.parent.name.split("_")[1]
                count = "" if path.stem == "0" else f".{path.stem}"
                if (name := f"{pod}.{path.parent.name}{count}.log") not in self._open:
                    with contextlib.suppress(FileNotFoundError):
                        self._open[name] = path.open("rb")

    def read(self) -> dict[str, bytes]:
        """Return what each container wrote, by the name its archive has."""
        self._stopped.set()
        self._thread.join()
        return {name: b"".join(_written(line) for line in file) for name, file in self._open.items()}


def _written(line: bytes) -> bytes:
    """Return what the container wrote of a line of the node's log: time, stream, P for a part of a line or F, text."""
    _, _, tag, text = line.split(b" ", 3)
    return text.removesuffix(b"\n") if tag.startswith(b"P") else text


def disturb(setting: Setting, script: Callable[[Scene], Script], *, pods: int | None = len(_OUTCOMES)) -> Result:
    """Run the pipeline while `script` decides about each call, and check everything; `pods` says how many may run."""
    with _stage(setting) as scene:
        begun = time.monotonic()
        scene.proxy.script = script(scene)
        inventory = scene.space.write_inventory(
            {"east": {"kubeconfig": str(scene.proxy.kubeconfig), "kube_namespace": scene.space.namespace}}
        )
        nodes = NodeLogs(setting.kubeconfig, scene.space.namespace)
        play = scene.space.start("train", pipeline=_pipeline(scene.space), inventory=inventory)
        written: dict[str, bytes] = {}
        try:
            play.end(rc=None, seconds=_WHOLE)
            written = nodes.read()
            violations = tuple(verify(scene.space, written, pods))
        except AssertionError as error:
            violations = (str(error),)
        setting.say(
            f"{time.monotonic() - begun:.1f} s, {len(scene.proxy.injected)} of {len(scene.proxy.calls)} calls hurt"
        )
        (setting.directory / "play.txt").write_text(play.text, encoding="utf-8")
        injected = len(scene.proxy.injected)
        if not injected:
            violations += ("nothing was injected",)
        return Result(
            injected=injected,
            recovered=0 if violations else injected,
            violations=violations,
            seconds=tuple(_until_passed(scene.proxy)),
            said=lines(play.text, TROUBLE),
            kept=() if violations else (_counted(scene.space, written),),
        )


def _counted(space: Space, written: dict[str, bytes]) -> str:
    """Return how much of what the node wrote is in the archive as it is, and how many pods there were."""
    logs = {file.name: file.read_bytes() for step in _OUTCOMES for file in (space.evidence(step) / "logs").glob("*")}
    same = sum(len(text) for name, text in written.items() if logs.get(name) == text)
    return f"{same} of {sum(map(len, written.values()))} bytes of the logs, {len(space.pods_ever())} pods"


@contextlib.contextmanager
def _stage(setting: Setting) -> Iterator[Scene]:
    with fresh(setting.kubeconfig, setting.directory) as space:
        proxy = Proxy(setting.kubeconfig, setting.directory)
        try:
            yield Scene(proxy=proxy, space=space, play=lambda: space.plays[-1], chance=random.Random(setting.seed))
        finally:
            proxy.front.close()


def _pipeline(space: Space) -> Path:
    return space.pipeline(train=job(_CHATTER), **{"break": job("echo about to break", "exit 3", backoff_limit=0)})


def _until_passed(proxy: Proxy) -> Iterator[float]:
    """Yield, for each fault, the seconds until words of the real server passed again."""
    passed = sorted(proxy.passed)
    for at in proxy.injected:
        after = next((one for one in passed if one > at), None)
        if after is not None:
            yield round(after - at, 3)


def verify(space: Space, written: dict[str, bytes], pods: int | None) -> Iterator[str]:
    """Yield what is not as it would be on a kind server, one sentence each."""
    found = {step: entry["outcome"] for step, entry in space.ledger().items()}
    if found != _OUTCOMES:
        yield f"ledger: {found}"
    for step, outcome in _OUTCOMES.items():
        record = space.record(step)
        if record["outcome"] != outcome:
            yield f"{step}: {record['outcome']}: {record['cause']}"
        elif outcome == "failed" and record["cause"]["message"] != _CAUSE:
            yield f"{step}: another cause: {record['cause']['message']}"
        yield from _logs(space.evidence(step) / "logs", written)
    if left := space.releases():
        yield f"releases left: {left}"
    if left := space.names("leases"):
        yield f"locks left: {left}"
    if pods is not None and len(ever := space.pods_ever()) != pods:
        yield f"{len(ever)} pods were created: {sorted(ever)}"


def _logs(archive: Path, written: dict[str, bytes]) -> Iterator[str]:
    files = sorted(archive.iterdir()) if archive.is_dir() else []
    if not files:
        yield f"no logs in {archive}"
    for file in files:
        ours, theirs = file.read_bytes(), written.get(file.name)
        if theirs is None:
            yield f"{file.name}: the node has no such log; it has {sorted(written)}"
        elif ours != theirs:
            where = next(
                (n for n, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), min(len(ours), len(theirs))
            )
            yield f"{file.name}: {len(ours)} bytes archived, {len(theirs)} written; they differ at byte {where}"
