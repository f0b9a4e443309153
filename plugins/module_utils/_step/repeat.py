# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""A pipeline made of the evidence: the same charts with the same values, wherever they came from once.

It lies beside the steps' directories, so that `-e pipeline=runs/<run id>/<cluster>` repeats the run.
"""

from __future__ import annotations

import math
import typing as t
from pathlib import Path

import yaml

from ansible_collections.mlops.eks.plugins.module_utils._core.files import to_yaml, write_atomically
from ansible_collections.mlops.eks.plugins.module_utils._recipe import pipeline
from ansible_collections.mlops.eks.plugins.module_utils._recipe.keys import STEP_KEYS
from ansible_collections.mlops.eks.plugins.module_utils._step.plan import Draft
from ansible_collections.mlops.eks.plugins.module_utils._step.task import Task

CHART = "chart.tgz"
VALUES = "values.yaml"
_HEADER = (
    "# This run again, from what is kept here: ansible-playbook playbooks/train.yml -e pipeline=<this directory>\n"
)

Step = dict[str, t.Any]


def write(task: Task, draft: Draft) -> None:
    """Add the step to the pipeline of its run, unless a secret was taken out of what is kept of its values."""
    file = task.evidence.parent / pipeline.FILE
    steps = [step for step in _steps(file) if step["name"] != task.step]
    if task.mask.document(draft.values) == draft.values:
        steps.append(_step(task))
    if steps:
        # Their directories begin with the number of the step.
        secrets = [one.to_document() for one in task.declared.entries if not one.is_plain]
        document = {"name": task.release, "namespace": task.namespace, "steps": sorted(steps, key=_place)}
        document |= {"secrets": secrets} if secrets else {}
        write_atomically(file, _HEADER + to_yaml(task.mask.document(document)), private=task.private)


def _place(step: Step) -> str:
    return str(step["chart"])


def _steps(file: Path) -> list[Step]:
    try:
        return list(yaml.safe_load(file.read_text(encoding="utf-8"))["steps"])
    except (OSError, yaml.YAMLError, KeyError, TypeError):
        return []


def _step(task: Task) -> Step:
    """Return the step as `pipeline.yaml` says it; what has no value there is left out."""
    waits, patience = task.waits, task.waits.patience
    here = task.evidence.name
    said: Step = {
        "name": task.step,
        "chart": f"{here}/{CHART}",
        "recipe": f"{here}/{VALUES}",
        "timeout": waits.timeout,
        "keep": task.keep,
        "progress": task.progress.pattern if task.progress else None,
        "workload": task.workload,
        "until": task.until.text if task.until else None,
        "fail_on": [one.text for one in task.fail_on] or None,
        "retries": task.retry.retries,
        "retry_on": list(task.retry.on),
        "retry_backoff": task.retry.backoff,
        "leftover_grace": waits.leftover,
        "no_output_timeout": waits.no_output,
        "pending_timeout": waits.pending,
        "ready_timeout": waits.ready,
        "image_pull_grace": patience.image,
        "config_grace": patience.config,
        "volume_grace": patience.volume,
        "unschedulable_grace": patience.unschedulable,
        "infeasible_grace": patience.infeasible,
        "failure_grace": patience.doubtful,
        "lost_rank_grace": patience.lost_rank,
        "max_restarts": patience.max_restarts,
    }
    return {
        key: _whole(value) if STEP_KEYS[key].kind is int else value for key, value in said.items() if value is not None
    }


def _whole(limit: float) -> int:
    return 0 if limit == math.inf else math.ceil(limit)
