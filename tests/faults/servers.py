# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""What serves keeps serving, and what is not ours stays as it is: upgrades that fail, and releases of somebody else."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterator
from pathlib import Path

from client import Client
from fault import Episode, Fault, Setting, repeated
from foreign import chart, helm
from plays import until
from samples import SERVER, Json, job, server
from shown import lines
from space import Space, fresh

# Seconds within which the controller of an upgrade that will fail is killed; its start alone takes two.
_KILLS, _WITHIN = 4, 14.0
_LIMIT = 240.0
_ABSENT = {"name": "localhost/mlops-eks/absent:1"}
# States in which Helm may have left somebody else's release.
_STATUSES = ("deployed", "failed", "pending-install", "pending-upgrade", "uninstalling")


def _pipeline(space: Space, recipe: Json) -> Path:
    step = {"name": "serve", "chart": SERVER, "recipe": "serve.yaml"}
    return space.pipeline_of("run", [step], {"serve": recipe})


def _upgrade_fails(setting: Setting, *, killed: bool) -> Iterator[Episode]:
    chance = random.Random(setting.seed)
    first = server("first", replicas=2, drain=8)
    with fresh(setting.kubeconfig, setting.directory) as space:
        space.play("serve", pipeline=_pipeline(space, first))
        pods = _pods(space)
        broken = _pipeline(space, {**first, "image": _ABSENT})
        client = Client(space)
        for _ in range(_KILLS if killed else 1):
            if killed:
                play = space.start("serve", pipeline=broken)
                time.sleep(chance.uniform(2.0, _WITHIN))
                play.kill()
            begun = time.monotonic()
            shown = space.play("serve", pipeline=broken, rc=2)
            stay = len(pods & _pods(space))
            yield Episode(
                seconds=time.monotonic() - begun,
                wrong=list(_wrong(space, shown, pods)),
                said=lines(shown, "rolled back|left as it is|going back"),
                kept=f"{stay} of {len(pods)} pods that served",
            )
        begun = time.monotonic()
        space.play("serve", pipeline=_pipeline(space, server("second", replicas=2, drain=8)))
        until(lambda: not pods & _pods(space), "the old pods are gone", seconds=_LIMIT)
        sent, lost = client.stop()
        wrong = [f"{len(lost)} of {sent} requests were lost: {lost[:3]}"] if lost else []
        yield Episode(
            seconds=time.monotonic() - begun,
            wrong=wrong if sent > 200 else [*wrong, f"only {sent} requests were sent"],
            said=(),
            kept=f"{sent - len(lost)} of {sent} answers to a client",
        )


def _pods(space: Space) -> set[str]:
    return {pod["metadata"]["uid"] for pod in space.get("pods", "-l", "app.kubernetes.io/instance=run-serve")}


def _wrong(space: Space, shown: str, pods: set[str]) -> Iterator[str]:
    if not re.search(r"rolled back to revision \d+, which is ready|revision \d+ is left as it is", shown):
        yield f"it does not say what it went back to: {shown[-800:]}"
    if not pods <= _pods(space):
        yield "pods that served are gone"
    entry = space.ledger()["serve"]
    if entry["outcome"] != "failed" or not entry["serving"]:
        yield f"ledger: {entry}"


def _foreign(setting: Setting) -> Iterator[Episode]:
    for number, status in enumerate(_STATUSES):
        directory = setting.directory / str(number)
        directory.mkdir()
        with fresh(setting.kubeconfig, directory) as space:
            helm(space, "install", "run", str(chart(directory)))
            space.kubectl("label", "--overwrite", "secret", "sh.helm.release.v1.run.v1", f"status={status}")
            before, begun = _stored(space), time.monotonic()
            forced = space.play("train", pipeline=space.pipeline(a=job("true")), rc=2, force=True, replace=True)
            stop = space.play("stop", release="run", rc=2)
            wrong = [f"not refused: {text[-800:]}" for text in (forced, stop) if "did not install it" not in text]
            same = _stored(space) == before and "theirs" in space.names("configmaps")
            yield Episode(
                seconds=time.monotonic() - begun,
                wrong=wrong if same else [*wrong, f"a release that is {status} was changed"],
                said=lines(stop, "did not install it"),
                kept="the release and what it made, unchanged" if same else "not all of the release",
            )


def _stored(space: Space) -> str:
    return space.kubectl("get", "secrets", "-l", "owner=helm", "-o", "yaml")


def faults() -> list[Fault]:
    """Return every fault of this kind."""
    return [
        repeated(
            "upgrade-fails",
            group="an upgrade of a server fails",
            how="an absent image, for a server of two replicas that is asked 50 times a second; then a good upgrade",
            inject=lambda setting: _upgrade_fails(setting, killed=False),
        ),
        repeated(
            "upgrade-fails-killed",
            group="an upgrade of a server fails, and its controller is killed",
            how=f"the same, with SIGKILL to the controller within {_WITHIN:g} s, {_KILLS} times",
            inject=lambda setting: _upgrade_fails(setting, killed=True),
        ),
        repeated(
            "foreign-release",
            group="a Helm release of somebody else has the name",
            how=f"train with force and replace, and stop, beside a release that is {', '.join(_STATUSES)}",
            inject=_foreign,
        ),
    ]
