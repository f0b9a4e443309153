# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Scripts for the hostile API server: when something is done, and to which calls."""

from __future__ import annotations

import threading
import time
import typing as t
from collections.abc import Callable

from hostile_proxy import Call, Script, Trouble
from hostile_scene import Scene
from hostile_troubles import black_hole, cut, forward, refuse

Builder = Callable[[Scene], Script]
LONG_HOLE = 30.0
LIFETIME = 8.0


def at_random(chance: float, trouble: Callable[[Scene], Trouble], which: Callable[[Call], bool]) -> Builder:
    """Do something to a part of the calls for which `which` holds."""

    def build(scene: Scene) -> Script:
        def script(call: Call) -> Trouble | None:
            return trouble(scene) if which(call) and scene.chance.random() < chance else None

        return script

    return build


def now_and_then(count: int, trouble: Callable[[Scene], Trouble], which: Callable[[Call], bool]) -> Builder:
    """Do something to about every so many of the calls for which `which` holds.

    The gaps vary: Helm repeats the same changes, and at equal gaps could meet the trouble at the same one for ever.
    """

    def build(scene: Scene) -> Script:
        left = scene.chance.randrange(count)

        def script(call: Call) -> Trouble | None:
            nonlocal left
            if not which(call):
                return None
            left -= 1
            if left >= 0:
                return None
            left = scene.chance.randrange(count // 2, count + count // 2)
            return trouble(scene)

        return script

    return build


def always(trouble: Trouble) -> Callable[[Scene], Trouble]:
    """Do the same each time."""
    return lambda _: trouble


def bursts(
    trouble: Callable[[Scene], Trouble], which: Callable[[Call], bool], *, every: float, lasting: float
) -> Builder:
    """Do something to all calls for which `which` holds, for a while of every so many seconds."""

    def build(scene: Scene) -> Script:
        begun = time.monotonic()

        def script(call: Call) -> Trouble | None:
            return trouble(scene) if which(call) and (time.monotonic() - begun) % every > every - lasting else None

        return script

    return build


def hole(scene: Scene) -> Script:
    """Swallow everything for half a minute from the moment the job talks, streams that are open included."""
    begins: list[float] = []

    def ends() -> float:
        return (begins[0] if begins else float("inf")) + LONG_HOLE

    def held(body: t.Iterator[bytes]) -> t.Iterator[bytes]:
        for data in body:
            if begins and time.monotonic() < ends():
                scene.proxy.hurt()
                time.sleep(max(0.0, ends() - time.monotonic()))
            yield data

    def script(call: Call) -> Trouble | None:
        if not begins and call.log:
            begins.append(time.monotonic() + 1.0)
        return black_hole(ends) if begins and begins[0] <= time.monotonic() < ends() else None

    scene.proxy.streams = held
    return script


_API = "client.authentication.k8s.io/v1"
# As fast as a plugin can be: Helm asks it at every start.
_PLUGIN = (
    f"""printf '{{"apiVersion": "{_API}", "kind": "ExecCredential", "status": {{"token": "%s"}}}}' "$(cat "$0")" """
)


def tokens(scene: Scene) -> Script:
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
            time.sleep(LIFETIME)

    threading.Thread(target=rotate, daemon=True).start()

    def old(body: t.Iterator[bytes]) -> t.Iterator[bytes]:
        token = scene.proxy.token
        for data in body:
            if scene.proxy.token != token:
                scene.proxy.hurt()
                return
            yield data

    scene.proxy.streams = old
    return lambda _: None


def ended_anywhere(scene: Scene) -> Trouble:
    """End an answer as if it were whole; never twice at the same place, as nothing could tell that from its end."""
    return forward(cut(int(10 ** scene.chance.uniform(3, 6)), cleanly=True))


def engine(call: Call) -> bool:
    """Return whether the engine asks."""
    return call.asker == "engine"


# What a real API server says.
_UNWELL = (
    (500, "Internal error occurred: etcdserver: leader changed"),
    (503, "the server is currently unable to handle the request"),
    (429, "the server has received too many requests and has asked us to try again later"),
)


def unwell(scene: Scene) -> Trouble:
    """Refuse as a server does that is ill or has too much to do."""
    return refuse(*scene.chance.choice(_UNWELL))


def helm(call: Call) -> bool:
    """Return whether Helm asks."""
    return call.asker == "helm"


def writes(call: Call) -> bool:
    """Return whether something is to be changed."""
    # Reviews are asked by POST, but change nothing.
    return call.method != "GET" and "/authorization.k8s.io/" not in call.path
