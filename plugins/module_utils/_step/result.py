# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""What a task returns to Ansible."""

from __future__ import annotations

import typing as t

from ansible_collections.mlops.eks.plugins.module_utils._step.record import Record
from ansible_collections.mlops.eks.plugins.module_utils._step.task import Task

_KEPT = ("outcome", "cause", "identity", "run_id", "workload", "phases", "log_tail")


def result(record: Record, task: Task, *, changed: bool, msg: str, failed: bool = False, **more: t.Any) -> Record:
    """Return the result of a step, `failed` set only when it is so."""
    shown = {key: record.get(key) for key in _KEPT}
    base: Record = {"changed": changed, "msg": msg, "evidence": str(task.evidence), **shown, **more}
    # `warnings` is a key of Ansible's own, printed in another place.
    base["events"] = record["warnings"]
    return {**base, "failed": True} if failed else base
