# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""What a step leaves on the controller beside its record: values, manifest, workload, pods, events."""

from __future__ import annotations

import typing as t
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.files import to_yaml, to_yaml_stream, write_atomically
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document
from ansible_collections.mlops.eks.plugins.module_utils._step.plan import Plan
from ansible_collections.mlops.eks.plugins.module_utils._step.state import State


def write_plan(directory: Path, plan: Plan) -> None:
    """Write what is going to be installed."""
    write_atomically(directory / "values.yaml", to_yaml(plan.values))
    write_atomically(directory / "manifest.yaml", to_yaml_stream(plan.manifest))


def write_state(directory: Path, state: State) -> None:
    """Write how the workload, its pods and the warnings about them looked last."""
    if state.workload is not None:
        write_atomically(directory / "workload.yaml", to_yaml(without_noise(state.workload)))
    write_atomically(
        directory / "pods.yaml", to_yaml_stream(without_noise(pod) for _, pod in sorted(state.pods.items()))
    )
    events = sorted(state.warnings.values(), key=_moment)
    write_atomically(directory / "events.yaml", to_yaml_stream(without_noise(event) for event in events))


def without_noise(entry: Document) -> Document:
    """Return the object without `managedFields`, which nobody reads."""
    metadata: dict[str, t.Any] = {key: value for key, value in entry["metadata"].items() if key != "managedFields"}
    return {**entry, "metadata": metadata}


def _moment(event: Document) -> str:
    return str(event.get("lastTimestamp") or event.get("eventTime") or event["metadata"].get("creationTimestamp"))
