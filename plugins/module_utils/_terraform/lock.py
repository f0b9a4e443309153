# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The holder of the lock of a state, and whether it is a killed run of ours."""

from __future__ import annotations

import re
import socket
import typing as t
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import human
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import ConflictError
from ansible_collections.mlops.eks.plugins.module_utils._terraform.diagnostics import LOCKED, Diagnostic
from ansible_collections.mlops.eks.plugins.module_utils._terraform.events import TEXT, Event, moment, seconds

# Events that come before the lock is acquired, or when it is refused.
_UNPROVEN = {"version", "state_lock_acquire", "diagnostic", TEXT}
_FIELD = re.compile(r"^\s*(ID|Operation|Who|Version|Created):[ \t]*(.*?)\s*$", re.MULTILINE)


class Holder(t.NamedTuple):
    """The fields of a lock. `created` is in seconds since the epoch."""

    identifier: str
    who: str
    operation: str
    created: float

    def sentence(self, now: float) -> str:
        """Return who locked the state, for what, and since when."""
        since = datetime.fromtimestamp(self.created).astimezone().isoformat(" ", "seconds") if self.created else "?"
        age = f", {human(max(0.0, now - self.created))} ago" if self.created else ""
        doing = self.operation.removeprefix("OperationType").lower() or "something"
        return f"{self.who or 'somebody'} has locked the state for {doing} since {since}{age}"


def holder(problems: Iterable[Diagnostic]) -> Holder | None:
    """Return the holder if a command failed because of the lock, else `None`."""
    for problem in problems:
        if problem.summary == LOCKED:
            fields = {str(key): str(value) for key, value in _FIELD.findall(problem.detail)}
            # The http backend shows the refused lock; of the held one it shows only the ID.
            other = re.search(r"already locked: ID=(\S+)", problem.detail)
            if other and other[1] != fields.get("ID"):
                return Holder(other[1], "", "", 0.0)
            if fields.get("ID"):
                return Holder(
                    fields["ID"], fields.get("Who", ""), fields.get("Operation", ""), seconds(fields.get("Created", ""))
                )
    return None


def was_released(problems: Iterable[Diagnostic]) -> bool:
    """Return whether a lock on S3 was released between the refusal and the lookup of its holder.

    Terraform then fails, whatever its lock time-out is.
    """
    return any(one.summary == LOCKED and {"PreconditionFailed", "NoSuchKey"} <= _words(one.detail) for one in problems)


def is_ours(found: Holder, kept: Sequence[Event]) -> bool:
    """Return whether a lock was taken by the command with the events `kept`, which must have ended.

    A lock is exclusive. The command held it when it wrote an event that comes after locking. So a lock of this machine
    that was created between its first event and that one, and still exists, is its own.
    """
    proofs = [event for event in kept if event["type"] not in _UNPROVEN]
    if not proofs or not found.created or not found.who.endswith(f"@{socket.gethostname()}"):
        return False
    return moment(kept[0]) <= found.created <= moment(proofs[-1])


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


def refusal(found: Holder, *, subject: str, program: Path, now: float) -> ConflictError:
    """Return the error that names the holder, the time of the lock, and the command that releases a stale lock."""
    return ConflictError(
        f"{subject}: {found.sentence(now)}; nothing was done. Wait for that run, or, if it is gone for good,"
        f" '{program} force-unlock {found.identifier}'.",
        lock=found._asdict(),
    )
