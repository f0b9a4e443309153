# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""What a task returns to Ansible."""

from __future__ import annotations

import typing as t

from ansible_collections.mlops.eks.plugins.module_utils._step.causes import Cause
from ansible_collections.mlops.eks.plugins.module_utils._step.record import Record
from ansible_collections.mlops.eks.plugins.module_utils._step.task import Task

_KEPT = (
    *("outcome", "cause", "identity", "run_id", "workload", "phases"),
    *("progress", "restarts", "attempt", "attempts", "log_tail"),
)

# Lines of the guilty container's log that are shown; the result has more, the evidence all.
_SHOWN = 20


def last_words(cause: Cause | None) -> list[str]:
    """Return the end of the log of the container that is to blame: it may not be the one that was shown."""
    if cause is None or not cause.log_tail:
        return []
    return [f"last lines of {cause.object} ({cause.container}):", *(f"  {line}" for line in cause.log_tail[-_SHOWN:])]


def result(record: Record, task: Task, *, changed: bool, msg: str, failed: bool = False, **more: t.Any) -> Record:
    """Return the result of a step, `failed` set only when it is so."""
    shown = {key: record.get(key) for key in _KEPT}
    base: Record = {"changed": changed, "msg": msg, "evidence": str(task.evidence), **shown, **more}
    # `warnings` is a key of Ansible's own, printed in another place.
    base["events"] = record["warnings"]
    return {**base, "failed": True} if failed else base
