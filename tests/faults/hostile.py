# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""A hostile API server: every way it may answer that the engine, or Helm, must live with."""

from __future__ import annotations

import itertools
import threading
import time
import typing as t
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from fault import Batch, Fault, Result, Setting
from hostile_proxy import Call, Script, Trouble
from hostile_scene import Scene, disturb
from hostile_troubles import (
    black_hole,
    cut,
    expired,
    forbid,
    forward,
    lose_answer,
    refuse,
    reset,
    shuffled,
    trickle,
    twice,
)

Builder = Callable[[Scene], Script]
_LONG_HOLE = 30.0
_LIFETIME = 8.0
# An install is about ten requests and four changes, an uninstall seven and four: the faults move along them.
_HELM, _HELM_WRITES = 13, 7


def _at_random(chance: float, trouble: Callable[[Scene], Trouble], which: Callable[[Call], bool]) -> Builder:
    """Do something to a part of the calls for which `which` holds."""

    def build(scene: Scene) -> Script:
        def script(call: Call) -> Trouble | None:
            return trouble(scene) if which(call) and scene.chance.random() < chance else None

        return script

    return build


def _every(count: int, trouble: Callable[[Scene], Trouble], which: Callable[[Call], bool]) -> Builder:
    """Do something to every so many of the calls for which `which` holds, beginning at one the seed chooses."""

    def build(scene: Scene) -> Script:
        numbers = itertools.count(scene.chance.randrange(count))

        def script(call: Call) -> Trouble | None:
            return trouble(scene) if which(call) and next(numbers) % count == 0 else None

        return script

    return build


def _always(trouble: Trouble) -> Callable[[Scene], Trouble]:
    return lambda _: trouble


def _bursts(
    trouble: Callable[[Scene], Trouble], which: Callable[[Call], bool], *, every: float, lasting: float
) -> Builder:
    """Do something to all calls for which `which` holds, for a while of every so many seconds."""

    def build(scene: Scene) -> Script:
        begun = time.monotonic()

        def script(call: Call) -> Trouble | None:
            return trouble(scene) if which(call) and (time.monotonic() - begun) % every > every - lasting else None

        return script

    return build


def _hole(scene: Scene) -> Script:
    """Swallow everything for half a minute from the moment the job talks, streams that are open included."""
    begins: list[float] = []

    def ends() -> float:
        return (begins[0] if begins else float("inf")) + _LONG_HOLE

    def held(body: t.Iterator[bytes]) -> t.Iterator[bytes]:
        for data in body:
            if begins and time.monotonic() < ends():
                scene.proxy.hurt()
                black_hole(ends)
                time.sleep(max(0.0, ends() - time.monotonic()))
            yield data

    def script(call: Call) -> Trouble | None:
        if not begins and call.log:
            begins.append(time.monotonic() + 1.0)
        if begins and begins[0] <= time.monotonic() < ends():
            return black_hole(ends)
        return forward(held) if call.stream else None

    return script


_API = "client.authentication.k8s.io/v1"
# As fast as a plugin can be: Helm asks it at every start.
_PLUGIN = (
    f"""printf '{{"apiVersion": "{_API}", "kind": "ExecCredential", "status": {{"token": "%s"}}}}' "$(cat "$0")" """
)


def _tokens(scene: Scene) -> Script:
    """Let tokens expire every few seconds; open streams end with theirs. Nobody is told when that will be."""
    file = scene.space.directory / "token"
    arguments = ["-c", _PLUGIN, str(file)]
    scene.proxy.log_in({"exec": {"apiVersion": _API, "command": "sh", "args": arguments, "interactiveMode": "Never"}})

    def rotate() -> None:
        number = 0
        while number == 0 or not scene.space.plays or scene.play().process.poll() is None:
            number += 1
            file.write_text(f"token-{number}", encoding="utf-8")
            scene.proxy.token = f"token-{number}"
            time.sleep(_LIFETIME)

    threading.Thread(target=rotate, daemon=True).start()

    def old(token: str, body: t.Iterator[bytes]) -> t.Iterator[bytes]:
        for data in body:
            if scene.proxy.token != token:
                return
            yield data

    return lambda call: forward(partial(old, scene.proxy.token)) if call.stream else None


def _ended_anywhere(scene: Scene) -> Trouble:
    """End an answer as if it were whole; never twice at the same place, as nothing could tell that from its end."""
    return forward(cut(int(10 ** scene.chance.uniform(3, 6)), cleanly=True))


def _engine(call: Call) -> bool:
    return call.asker == "engine"


# What a real API server says.
_UNWELL = (
    (500, "Internal error occurred: etcdserver: leader changed"),
    (503, "the server is currently unable to handle the request"),
    (429, "the server has received too many requests and has asked us to try again later"),
)


def _unwell(scene: Scene) -> Trouble:
    return refuse(*scene.chance.choice(_UNWELL))


def _helm(call: Call) -> bool:
    return call.asker == "helm"


def _writes(call: Call) -> bool:
    # Reviews are asked by POST, but change nothing.
    return call.method != "GET" and "/authorization.k8s.io/" not in call.path


@dataclass(frozen=True, kw_only=True)
class _Row:
    title: str
    how: str
    build: Builder
    pods: int | None = 2
    user_sees: str = "nothing"


_ROWS: dict[str, _Row] = {
    "reset": _Row(
        title="connections reset",
        how="a third of the engine's connections is reset before an answer",
        build=_at_random(0.34, _always(reset), _engine),
    ),
    "black-hole": _Row(
        title="a black hole of 30 s",
        how=f"for {_LONG_HOLE:g} s every byte is swallowed, then connections break",
        build=_hole,
        user_sees="that the cluster does not answer, once",
    ),
    "token-expired": _Row(
        title="401 to a token that has expired",
        how=f"tokens are refused with 401 after {_LIFETIME:g} s, without having said so",
        build=_tokens,
    ),
    "forbidden": _Row(
        title="403 for a while",
        how="watches and logs are broken off again and again, and a third of them then refused with 403",
        build=_at_random(
            1.0,
            lambda scene: forbid if scene.chance.random() < 0.33 else _ended_anywhere(scene),
            lambda call: call.stream,
        ),
        user_sees="which verb on which resource in which namespace is missing, once",
    ),
    "conflict": _Row(
        title="409",
        how="a third of the engine's changes is refused with 409",
        build=_at_random(
            0.34, _always(refuse(409, "the object has been modified")), lambda c: _engine(c) and _writes(c)
        ),
    ),
    "gone": _Row(
        title="410 in a watch",
        how="watches end with 410 after two events, and half of them are refused with 410",
        build=_at_random(
            1.0,
            lambda scene: refuse(410, "too old") if scene.chance.random() < 0.5 else forward(expired(2)),
            lambda call: call.watch,
        ),
    ),
    "throttled": _Row(
        title="429 with Retry-After",
        how="for three of every six seconds everything is refused with 429 and Retry-After: 1",
        build=_bursts(_always(refuse(429, "too many", Retry_After="1")), _engine, every=6.0, lasting=3.0),
    ),
    "errors": _Row(
        title="bursts of 500, 503, 429",
        how="for four of every eight seconds everything is refused with 500 or 503",
        build=_bursts(_unwell, _engine, every=8.0, lasting=4.0),
    ),
    "truncated": _Row(
        title="truncated answers",
        how="answers and streams end after some bytes, by a reset or as if they were whole",
        build=_at_random(
            0.5,
            lambda scene: forward(cut(int(10 ** scene.chance.uniform(0, 5)), cleanly=scene.chance.random() < 0.5)),
            _engine,
        ),
    ),
    "slow": _Row(
        title="slow streams",
        how="streams trickle: 4096 bytes, a twentieth of a second, 4096 bytes",
        build=_at_random(1.0, _always(forward(trickle(4096, 0.05))), lambda call: call.stream),
    ),
    "repeated-events": _Row(
        title="events that come twice",
        how="every event of a watch comes twice, and every third time all of them again",
        build=_at_random(1.0, _always(forward(twice)), lambda call: call.watch),
    ),
    "late-events": _Row(
        title="events out of order",
        how="old events of an object come after newer ones",
        build=_at_random(1.0, lambda scene: forward(shuffled(scene.chance)), lambda call: call.watch),
    ),
    "lost-answers": _Row(
        title="answers lost",
        how="a third of the engine's requests is carried out, and the answer lost",
        build=_at_random(0.34, _always(lose_answer), lambda call: _engine(call) and not call.stream),
    ),
    "helm-reset": _Row(
        title="Helm's connections reset",
        how=f"every {_HELM}th connection of Helm is reset before an answer",
        build=_every(_HELM, _always(reset), _helm),
        # What a Helm left half-way is uninstalled and installed anew.
        pods=None,
        user_sees="that Helm tries again, and why",
    ),
    "helm-errors": _Row(
        title="500, 503, 429 to Helm",
        how=f"every {_HELM}th request of Helm is refused with 500, 503 or 429",
        build=_every(_HELM, _unwell, _helm),
        # What a Helm left half-way is uninstalled and installed anew.
        pods=None,
        user_sees="that Helm tries again, and why",
    ),
    "helm-lost-answers": _Row(
        title="Helm's answers lost",
        how=f"every {_HELM_WRITES}th change of Helm is carried out, and its answer lost",
        build=_every(_HELM_WRITES, _always(lose_answer), lambda call: _helm(call) and _writes(call)),
        # What a Helm left half-way is uninstalled and installed anew.
        pods=None,
        user_sees="that Helm tries again, and why",
    ),
}


def _run(row: _Row, setting: Setting) -> Result:
    return disturb(setting, row.build, pods=row.pods)


def faults() -> list[Fault]:
    """Return every fault of this kind."""
    return [
        Fault(
            name=f"api@{name}",
            group=f"API server: {row.title}",
            how=row.how,
            user_sees=row.user_sees,
            kept="everything: same outcomes and causes, logs equal to the node's, one pod per step",
            run=partial(_run, row),
        )
        for name, row in _ROWS.items()
    ]


def batches() -> list[Batch]:
    """Return nothing: each of them is a run of its own."""
    return []
