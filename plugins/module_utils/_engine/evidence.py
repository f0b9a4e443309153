# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The evidence directory of a step: values, chart, manifest, last state of the workload, and logs.

The directory of a run also gets a pipeline that repeats its steps from this evidence.
"""

from __future__ import annotations

import json
import math
import shutil
import typing as t
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._charts.package import pack
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import ConflictError, StorageError
from ansible_collections.mlops.eks.plugins.module_utils._core.files import to_yaml, to_yaml_stream, write_atomically
from ansible_collections.mlops.eks.plugins.module_utils._core.libraries import yaml
from ansible_collections.mlops.eks.plugins.module_utils._core.storage import probe, writing
from ansible_collections.mlops.eks.plugins.module_utils._core.text import shown
from ansible_collections.mlops.eks.plugins.module_utils._diagnose import events
from ansible_collections.mlops.eks.plugins.module_utils._follow.state import State
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document
from ansible_collections.mlops.eks.plugins.module_utils._logs.offsets import DIRECTORY as OFFSETS
from ansible_collections.mlops.eks.plugins.module_utils._logs.secrets import rendered, without_data
from ansible_collections.mlops.eks.plugins.module_utils._logs.sinks import LogStore
from ansible_collections.mlops.eks.plugins.module_utils._plan.plan import Draft, Plan
from ansible_collections.mlops.eks.plugins.module_utils._plan.retry import PastAttempt
from ansible_collections.mlops.eks.plugins.module_utils._plan.task import Task
from ansible_collections.mlops.eks.plugins.module_utils._recipe import pipeline
from ansible_collections.mlops.eks.plugins.module_utils._recipe.chart import files
from ansible_collections.mlops.eks.plugins.module_utils._recipe.keys import STEP_KEYS

# Files of a step's directory, from which the pipeline of the run directory repeats the step.
CHART = "chart.tgz"
VALUES = "values.yaml"
_HEADER = (
    "# This run again, from what is kept here: ansible-playbook playbooks/train.yml -e pipeline=<this directory>\n"
)
# Fields of `step.json` that identify the owner of a directory.
_OWNER = ("run_id", "cluster", "namespace", "release", "step")

Step = dict[str, t.Any]


def require_own_directory(task: Task) -> None:
    """Check that the step's directory is free or its own; nothing is written.

    Raises:
        ConflictError: a directory on the path is a symbolic link, or the record of another step is there.
    """
    for place in (task.evidence.parent.parent, task.evidence.parent, task.evidence):
        if place.is_symlink():
            raise ConflictError(
                f"evidence of step {task.step}: {place} is a symbolic link, and evidence is written into directories "
                "of its own only. Choose another run_id, or remove the link."
            )
    file = task.evidence / "step.json"
    try:
        found = json.loads(file.read_bytes())
        theirs = {key: found.get(key) for key in _OWNER}
    except (OSError, ValueError, RecursionError, AttributeError):
        # There is no record, or one that a full disk truncated.
        return
    ours = {key: getattr(task, key) for key in _OWNER}
    other = ", ".join(f"{key} {shown(theirs[key])}" for key in _OWNER if theirs[key] != ours[key])
    if other:
        raise ConflictError(f"evidence of step {task.step}: {file} belongs to {other}. Choose another run_id.")


def write_draft(task: Task, draft: Draft) -> None:
    """Write the values of a step and its chart as a package, from which it can be repeated."""
    _write(task, VALUES, to_yaml(task.mask.document(draft.values)))
    chart = draft.chart
    # A package cannot be masked: a chart that contains a secret is not kept.
    if task.mask.is_clean(file.read_bytes() for _, file in files(chart.path)):
        package = chart.origin.package.read_bytes() if chart.origin else pack(chart.path, chart.name)
        write_atomically(task.evidence / CHART, package, private=task.private)
        _add_to_pipeline(task, draft)


def write_plan(task: Task, plan: Plan) -> None:
    """Write the draft and the manifest that will be installed."""
    # Values that the chart renders into a Secret are masked, unless the chart itself contains them.
    known = [file.read_bytes() for _, file in files(plan.chart.path)]
    task.mask.add(value for value in rendered(plan.manifest) if not any(value in content for content in known))
    write_draft(task, plan)
    _write(task, "manifest.yaml", to_yaml_stream(task.mask.document(without_data(entry)) for entry in plan.manifest))


def require_room(directory: Path, otherwise: str = "Or set 'runs_dir' to another directory.") -> None:
    """Check that evidence can be written to `directory`, before anything is changed.

    Raises:
        StorageError: it cannot; `otherwise` ends the message.
    """
    try:
        probe(directory)
    except StorageError as error:
        raise StorageError(f"{error} {otherwise} Nothing was changed.", path=error.path) from error


def set_aside(task: Task, attempt: int) -> None:
    """Move the evidence of a failed attempt into `attempt-<number>`, before the next attempt writes its own.

    Raises:
        StorageError: not all of it could be moved; the next call moves the rest.
    """
    target = task.evidence / f"attempt-{attempt}"
    with writing(target):
        target.mkdir(exist_ok=True)
        for path in [path for path in task.evidence.iterdir() if not path.name.startswith("attempt-")]:
            # A controller that died while it moved them may have left copies.
            _remove(target / path.name)
            path.rename(target / path.name)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def attempt_directory(task: Task, past: PastAttempt) -> str | None:
    """Return the name of the directory with the evidence of a past attempt, `None` if another run has it."""
    name = f"attempt-{past['attempt']}"
    return name if (task.evidence / name).is_dir() else None


def write_state(task: Task, state: State) -> None:
    """Write the last state of the workload and its pods, and the warnings about them."""
    if state.workload is not None:
        _write(task, "workload.yaml", _stream(task, [state.workload]).removeprefix("---\n"))
    _write(task, "pods.yaml", _stream(task, [pod for _, pod in sorted(state.pods.items())]))
    _write(task, "events.yaml", _stream(task, sorted(state.warnings.values(), key=events.seen)))


def log_store(task: Task, *, resume: bool, shown_until: float = 0.0) -> LogStore:
    """Return the settings of the step's log archive; with `resume` it continues those of earlier controllers.

    They printed the lines with time stamps up to `shown_until`, in seconds since the epoch.
    """
    offsets = task.runs_dir.glob(f"*/{task.cluster}/*-{task.step}/{OFFSETS}") if resume else ()
    return LogStore(
        directory=task.evidence / "logs",
        mask=task.mask,
        earlier_evidence=tuple(directory.parent for directory in offsets),
        shown_until=shown_until,
        private=task.private,
        storage=task.storage,
    )


def _write(task: Task, name: str, text: str) -> None:
    write_atomically(task.evidence / name, text, private=task.private)


def _stream(task: Task, entries: list[Document]) -> str:
    return to_yaml_stream(task.mask.document(without_noise(entry)) for entry in entries)


def without_noise(entry: Document) -> Document:
    """Return the object without `managedFields`, which are long and of no use here."""
    metadata: dict[str, t.Any] = {key: value for key, value in entry["metadata"].items() if key != "managedFields"}
    return {**entry, "metadata": metadata}


def _add_to_pipeline(task: Task, draft: Draft) -> None:
    """Add the step to the pipeline of its run, unless its values contain a secret, which is not kept."""
    file = task.evidence.parent / pipeline.FILE
    steps = [step for step in _steps(file) if step["name"] != task.step]
    if task.mask.document(draft.values) == draft.values:
        steps.append(_step(task))
    if steps:
        secrets = [one.to_document() for one in task.declared.entries if not one.is_plain]
        document = {"name": task.release, "namespace": task.namespace, "steps": sorted(steps, key=_directory)}
        document |= {"secrets": secrets} if secrets else {}
        write_atomically(file, _HEADER + to_yaml(task.mask.document(document)), private=task.private)


def _directory(step: Step) -> str:
    """Return the step's directory, which begins with its number."""
    return str(step["chart"])


def _steps(file: Path) -> list[Step]:
    try:
        return list(yaml.safe_load(file.read_text(encoding="utf-8"))["steps"])
    except (OSError, yaml.YAMLError, KeyError, TypeError):
        return []


def _step(task: Task) -> Step:
    """Return the step for `pipeline.yaml`, without the keys that have no value."""
    waits, grace = task.waits, task.waits.grace
    here = task.evidence.name
    keys: Step = {
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
        "image_pull_grace": grace.image,
        "config_grace": grace.config,
        "volume_grace": grace.volume,
        "unschedulable_grace": grace.unschedulable,
        "infeasible_grace": grace.infeasible,
        "failure_grace": grace.failure,
        "lost_rank_grace": grace.lost_rank,
        "max_restarts": grace.max_restarts,
    }
    return {
        key: _whole(value) if STEP_KEYS[key].kind is int else value for key, value in keys.items() if value is not None
    }


def _whole(limit: float) -> int:
    return 0 if limit == math.inf else math.ceil(limit)
