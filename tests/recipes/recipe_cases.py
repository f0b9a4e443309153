# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Every pipeline under `recipes/`, its steps, and how to render them as `helm install` would."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ansible_collections.mlops.eks.plugins.module_utils._helm.cli import find_helm
from ansible_collections.mlops.eks.plugins.module_utils._recipe import chart, pipeline

ROOT = Path(__file__).resolve().parents[2]
RECIPES = ROOT / "recipes"
GOLDEN = ROOT / "tests" / "golden" / "recipes"
NAMESPACE = "team-a"
DIRECTORIES = sorted(path.parent for path in RECIPES.rglob(pipeline.FILE))
DIRECTORY_IDS = [str(path.relative_to(RECIPES)) for path in DIRECTORIES]


@dataclass(frozen=True, kw_only=True)
class Case:
    """One step of one pipeline."""

    directory: Path
    step: pipeline.Step
    run: str
    release: str

    @property
    def golden(self) -> Path:
        """Where the expected manifest is."""
        return GOLDEN / self.directory.relative_to(RECIPES) / f"{self.step.name}.yaml"

    def __str__(self) -> str:
        return f"{self.directory.relative_to(RECIPES)}-{self.step.name}"


def _cases(directory: Path) -> list[Case]:
    found = pipeline.read(directory)
    return [
        Case(
            directory=directory,
            step=step,
            run=found.name,
            release=pipeline.helm_release(found.name, step.name, keep=_stays(step)),
        )
        for step in found.steps
    ]


def _stays(step: pipeline.Step) -> bool:
    return chart.find(step.chart).serves if step.keep is None else step.keep


CASES = [case for directory in DIRECTORIES for case in _cases(directory)]


def template(case: Case, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Render a step with Helm, which also checks its values against the chart's schema; as the engine does it."""
    command = [find_helm(), "template", case.release, str(chart.find(case.step.chart).path), "--namespace", NAMESPACE]
    for recipe in case.step.recipes:
        command += ["--values", recipe]
    command += ["--set-string", f"run.name={case.run},run.step={case.step.name}"]
    return subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)


def documents(case: Case) -> list[dict[str, Any]]:
    """Return the objects that a step renders."""
    done = template(case)
    if done.returncode:
        raise ValueError(done.stderr)
    return [document for document in yaml.safe_load_all(done.stdout) if document]


def containers(value: Any) -> list[dict[str, Any]]:
    """Return every container of an object, however deep its pod template stands."""
    if isinstance(value, list):
        return [found for item in value for found in containers(item)]
    if not isinstance(value, dict):
        return []
    own = [*value.get("containers", []), *value.get("initContainers", [])]
    return own + [found for key, item in value.items() if not key.endswith("ontainers") for found in containers(item)]
