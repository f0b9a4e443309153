# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""A hostile API server: every way it may answer that the engine, or Helm, must live with."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from fault import Fault, Result, Setting
from hostile_scene import disturb
from hostile_scripts import (
    LIFETIME,
    LONG_HOLE,
    Builder,
    always,
    at_random,
    bursts,
    ended_anywhere,
    engine,
    helm,
    hole,
    now_and_then,
    tokens,
    unwell,
    writes,
)
from hostile_troubles import cut, expired, forbid, forward, lose_answer, refuse, reset, shuffled, trickle, twice

# An install is about ten requests and four changes, an uninstall seven and four: the faults move along them.
_HELM, _HELM_WRITES = 13, 7


@dataclass(frozen=True, kw_only=True)
class _Row:
    title: str
    how: str
    build: Builder
    pods: int | None = 2


_ROWS: dict[str, _Row] = {
    "reset": _Row(
        title="connections reset",
        how="a third of the engine's connections is reset before an answer",
        build=at_random(0.34, always(reset), engine),
    ),
    "black-hole": _Row(
        title="a black hole of 30 s",
        how=f"for {LONG_HOLE:g} s every byte is swallowed, then connections break",
        build=hole,
    ),
    "token-expired": _Row(
        title="401 to a token that has expired",
        how=f"tokens are refused with 401 after {LIFETIME:g} s, without having said so",
        build=tokens,
    ),
    "forbidden": _Row(
        title="403 for a while",
        how="watches and logs are broken off again and again, and a third of them then refused with 403",
        build=at_random(
            1.0,
            lambda scene: forbid if scene.chance.random() < 0.33 else ended_anywhere(scene),
            lambda call: call.stream,
        ),
    ),
    "conflict": _Row(
        title="409",
        how="a third of the engine's changes is refused with 409",
        build=at_random(0.34, always(refuse(409, "the object has been modified")), lambda c: engine(c) and writes(c)),
    ),
    "gone": _Row(
        title="410 in a watch",
        how="watches end with 410 after two events, and half of them are refused with 410",
        build=at_random(
            1.0,
            lambda scene: refuse(410, "too old") if scene.chance.random() < 0.5 else forward(expired(2)),
            lambda call: call.watch,
        ),
    ),
    "throttled": _Row(
        title="429 with Retry-After",
        how="for three of every six seconds everything is refused with 429 and Retry-After: 1",
        build=bursts(always(refuse(429, "too many", Retry_After="1")), engine, every=6.0, lasting=3.0),
    ),
    "errors": _Row(
        title="bursts of 500, 503, 429",
        how="for four of every eight seconds everything is refused with 500 or 503",
        build=bursts(unwell, engine, every=8.0, lasting=4.0),
    ),
    "truncated": _Row(
        title="truncated answers",
        how="answers and streams end after some bytes, by a reset or as if they were whole",
        build=at_random(
            0.5,
            lambda scene: forward(cut(int(10 ** scene.chance.uniform(0, 5)), cleanly=scene.chance.random() < 0.5)),
            engine,
        ),
    ),
    "slow": _Row(
        title="slow streams",
        how="streams trickle: 4096 bytes, a twentieth of a second, 4096 bytes",
        build=at_random(1.0, always(forward(trickle(4096, 0.05))), lambda call: call.stream),
    ),
    "repeated-events": _Row(
        title="events that come twice",
        how="every event of a watch comes twice, and every third time all of them again",
        build=at_random(1.0, always(forward(twice)), lambda call: call.watch),
    ),
    "late-events": _Row(
        title="events out of order",
        how="old events of an object come after newer ones",
        build=at_random(1.0, lambda scene: forward(shuffled(scene.chance)), lambda call: call.watch),
    ),
    "lost-answers": _Row(
        title="answers lost",
        how="a third of the engine's requests is carried out, and the answer lost",
        build=at_random(0.34, always(lose_answer), lambda call: engine(call) and not call.stream),
    ),
    "helm-reset": _Row(
        title="Helm's connections reset",
        how=f"about every {_HELM}th connection of Helm is reset before an answer",
        build=now_and_then(_HELM, always(reset), helm),
        # What a Helm left half-way is uninstalled and installed anew.
        pods=None,
    ),
    "helm-errors": _Row(
        title="500, 503, 429 to Helm",
        how=f"about every {_HELM}th request of Helm is refused with 500, 503 or 429",
        build=now_and_then(_HELM, unwell, helm),
        # What a Helm left half-way is uninstalled and installed anew.
        pods=None,
    ),
    "helm-lost-answers": _Row(
        title="Helm's answers lost",
        how=f"about every {_HELM_WRITES}th change of Helm is carried out, and its answer lost",
        build=now_and_then(_HELM_WRITES, always(lose_answer), lambda call: helm(call) and writes(call)),
        # What a Helm left half-way is uninstalled and installed anew.
        pods=None,
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
            run=partial(_run, row),
        )
        for name, row in _ROWS.items()
    ]
