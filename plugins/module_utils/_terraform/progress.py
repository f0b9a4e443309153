# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Convert events to lines for the user; no I/O and no clock of its own."""

from __future__ import annotations

import typing as t
from collections.abc import Callable
from dataclasses import dataclass, field

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import human
from ansible_collections.mlops.eks.plugins.module_utils._core.text import listed
from ansible_collections.mlops.eks.plugins.module_utils._terraform.events import TEXT, Event, hook

# Action: the verb while it runs, the verb when it is complete.
_WORDS = {
    "create": ("creating", "created"),
    "update": ("changing", "changed"),
    "delete": ("destroying", "destroyed"),
}
# Lines of plain text to keep, which explain a crash.
_TAIL = 20


class _Running(t.NamedTuple):
    """A running operation; `since` is in seconds since the epoch."""

    doing: str
    since: float


@dataclass
class Progress:
    """The progress of one command of Terraform.

    `feed` takes an event, `tick` the time; both return the lines to print now. `total` is the number of planned
    operations; a replacement counts as two.
    """

    heartbeat: float
    total: int = 0
    done: int = 0
    read: int = 0
    # Events of type `diagnostic`.
    problems: list[Event] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    _running: dict[str, _Running] = field(default_factory=dict)
    _spoken: float = 0.0
    _begun: float = 0.0

    def feed(self, event: Event, now: float) -> list[str]:
        """Take one event and return the lines to print."""
        react = _REACTIONS.get(event["type"])
        lines = react(self, event, now) if react else []
        if lines or not self._begun:
            self._spoken = now
        self._begun = self._begun or now
        return lines

    def tick(self, now: float) -> list[str]:
        """Return a heartbeat line when nothing was printed for `heartbeat` seconds."""
        if not self.heartbeat or not self._begun or now - self._spoken < self.heartbeat:
            return []
        self._spoken = now
        if self._running:
            oldest = sorted(self._running.items(), key=lambda entry: entry[1].since)
            shown = (f"{how.doing} {address} ({human(now - how.since)})" for address, how in oldest)
            return [f"{self._count()}still {listed(shown)}"]
        read = f"; {self.read} resources read" if self.read else ""
        return [f"{self._count()}still running after {human(now - self._begun)}{read}"]

    def _count(self) -> str:
        width = len(str(self.total))
        return f"[{self.done:>{width}}/{self.total}] " if self.total else ""

    def _start(self, event: Event, now: float) -> list[str]:
        address, action, _ = hook(event)
        if action in _WORDS:
            self._running[address] = _Running(_WORDS[action][0], now)
        return []

    def _complete(self, event: Event, now: float) -> list[str]:
        address, action, identifier = hook(event)
        if action not in _WORDS:
            return []
        self.done += 1
        named = f" ({identifier})" if identifier and action == "create" else ""
        return [f"{self._count()}{_WORDS[action][1]} {address}{named} in {self._took(address, now)}"]

    def _errored(self, event: Event, now: float) -> list[str]:
        address, action, _ = hook(event)
        doing = _WORDS.get(action, (action,))[0]
        return [f"{self._count()}FAILED {doing} {address} after {self._took(address, now)}"]

    def _took(self, address: str, now: float) -> str:
        begun = self._running.pop(address, None)
        return human(now - begun.since if begun else 0)

    def _problem(self, event: Event, _now: float) -> list[str]:
        self.problems.append(event)
        return []

    def _refreshed(self, _event: Event, _now: float) -> list[str]:
        self.read += 1
        return []

    def _text(self, event: Event, _now: float) -> list[str]:
        if event["@message"].strip():
            self.text = [*self.text[1 - _TAIL :], event["@message"]]
        return []


_REACTIONS: dict[str, Callable[[Progress, Event, float], list[str]]] = {
    "apply_start": Progress._start,
    "apply_complete": Progress._complete,
    "apply_errored": Progress._errored,
    "diagnostic": Progress._problem,
    "refresh_complete": Progress._refreshed,
    TEXT: Progress._text,
}
