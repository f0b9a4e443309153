# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Follow a Terraform process that continues after its controller is gone."""

from __future__ import annotations

import fcntl
import typing as t
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import Clock, human
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import CommandError
from ansible_collections.mlops.eks.plugins.module_utils._terraform.events import moment, parse
from ansible_collections.mlops.eks.plugins.module_utils._terraform.process import LOOK, Tail, running
from ansible_collections.mlops.eks.plugins.module_utils._terraform.progress import Progress

Say = Callable[[str], None]
_LOCK = "process.lock"


@contextmanager
def wait_for_interrupted_run(log: Path, progress: Progress, say: Say, clock: Clock, deadline: float) -> Iterator[int]:
    """Yield the descriptor of the lock that Terraform holds while it runs; `log` is its output.

    The caller is the only controller, so the controller of a process that holds the lock is gone. The process is
    followed to its end, and `progress` prints its events.

    Raises:
        CommandError: it still runs at `deadline`, in seconds since the epoch.
    """
    with (log.parent / _LOCK).open("a", encoding="utf-8") as file:
        if not _try_lock(file):
            _wait(lambda: _try_lock(file), _show(log, progress, say, clock), clock, deadline)
        yield file.fileno()


def _try_lock(file: t.TextIO) -> bool:
    """Return whether the lock is held now: no Terraform holds it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _wait(has_ended: Callable[[], bool], lines: Iterator[int], clock: Clock, deadline: float) -> None:
    begun = clock.now()
    ended = False
    while not ended:
        # Check for the end before reading, so that the last lines are read too.
        ended = has_ended()
        number = next(lines)
        if not ended and clock.now() > deadline:
            raise CommandError(
                f"Terraform of an interrupted run still runs after {human(clock.now() - begun)} (process"
                f" {number or 'unknown'}). It continues; run the same command again later.",
                timed_out=True,
            )
        clock.sleep(0.0 if ended else LOOK)


def _show(log: Path, progress: Progress, say: Say, clock: Clock) -> Iterator[int]:
    """Print new lines of `log` at each iteration, and yield the process number, 0 if unknown."""
    # A read-only command has no record here; it was stopped.
    while not (number := running(log)):
        yield 0
    say(f"an interrupted run left Terraform running (process {number}); its output from the beginning:")
    with log.open("rb") as stream:
        tail = Tail(stream)
        while True:
            for event in map(parse, tail.lines()):
                for line in progress.feed(event, moment(event) or clock.now()):
                    say(line)
            for line in progress.tick(clock.now()):
                say(line)
            yield number
