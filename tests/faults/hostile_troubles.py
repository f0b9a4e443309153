# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""What an API server, or the network before it, may do to one call."""

from __future__ import annotations

import json
import random
import time
import typing as t
from collections.abc import Iterable, Iterator

from hostile_proxy import BrokenError, Change, Exchange, Trouble


def refuse(status: int, message: str, **headers: str) -> Trouble:
    """Refuse the call."""
    return lambda exchange: exchange.refuse(status, message, **headers)


def forbid(exchange: Exchange) -> None:
    """Refuse the call as RBAC does."""
    call = exchange.call
    verb = "watch" if call.watch else {"GET": "get", "POST": "create", "DELETE": "delete"}.get(call.method, "patch")
    words = call.path.split("/namespaces/")[1].split("/")
    what = words[1] + ("/log" if call.log else "")
    said = f'{what} is forbidden: User "hostile" cannot {verb} resource "{what}" in the namespace "{words[0]}"'
    exchange.refuse(403, said)


def reset(exchange: Exchange) -> None:
    """Break the connection before anything is done."""
    exchange.reset()


def lose_answer(exchange: Exchange) -> None:
    """Do what is asked, and break the connection before anybody is told."""
    exchange.carry_out()
    exchange.reset()


def black_hole(until: t.Callable[[], float]) -> Trouble:
    """Swallow the call until a moment of the monotonic clock, then break the connection."""

    def swallow(exchange: Exchange) -> None:
        time.sleep(max(0.0, until() - time.monotonic()))
        exchange.reset()

    return swallow


def cut(after: int, *, cleanly: bool) -> Change:
    """End the answer after some bytes, as if it were whole or by breaking the connection."""

    def change(body: Iterator[bytes]) -> Iterable[bytes]:
        left = after
        for data in body:
            yield data[:left]
            left -= len(data)
            if left <= 0:
                if not cleanly:
                    raise BrokenError
                return

    return change


def trickle(size: int, pause: float) -> Change:
    """Pass the answer in pieces of `size` bytes, with `pause` seconds after each."""

    def change(body: Iterator[bytes]) -> Iterable[bytes]:
        for data in body:
            for start in range(0, len(data), size):
                yield data[start : start + size]
                time.sleep(pause)

    return change


def _events(body: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the events of a watch one by one, each a whole line."""
    rest = b""
    for data in body:
        *lines, rest = (rest + data).split(b"\n")
        yield from (line + b"\n" for line in lines)


def twice(body: Iterator[bytes]) -> Iterable[bytes]:
    """Pass each event of a watch twice, and now and then all of them again."""
    seen: list[bytes] = []
    for event in _events(body):
        seen.append(event)
        yield event + event
        if len(seen) % 3 == 0:
            yield b"".join(seen)


def shuffled(chance: random.Random) -> Change:
    """Pass the events of a watch out of order: an old one again after a newer one of the same object."""

    def change(body: Iterator[bytes]) -> Iterable[bytes]:
        older: dict[str, list[bytes]] = {}
        for event in _events(body):
            uid = json.loads(event)["object"]["metadata"].get("uid", "")
            past = older.setdefault(uid, [])
            yield event + b"".join(chance.sample(past, min(len(past), 2)))
            past.append(event)

    return change


def expired(after: int) -> Change:
    """End a watch after some events by an ERROR event that says 410 Gone."""
    status = {
        "kind": "Status",
        "apiVersion": "v1",
        "code": 410,
        "reason": "Expired",
        "message": "too old resource version",
    }
    last = json.dumps({"type": "ERROR", "object": status}).encode() + b"\n"

    def change(body: Iterator[bytes]) -> Iterable[bytes]:
        for number, event in enumerate(_events(body), 1):
            if number > after:
                yield last
                return
            yield event

    return change


def forward(change: Change) -> Trouble:
    """Let the real server answer, but change its words on the way."""
    return lambda exchange: exchange.forward(change)
