# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Errors of a chart's templates name the recipe's file and line; with the real helm."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest
from fakes.kube import FakeKube

from ansible_collections.mlops.eks.plugins.module_utils._charts.find import find
from ansible_collections.mlops.eks.plugins.module_utils._charts.reference import Reference
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._helm.cli import Helm, find_helm
from ansible_collections.mlops.eks.plugins.module_utils._plan.plan import make_draft, make_plan
from ansible_collections.mlops.eks.plugins.module_utils._plan.task import Task

CHART = "[chart data-prep/data-process]"
COMMAND = "process:\n  command: [echo]\n"
ENV = "image: x:1\nprocess:\n  command: [echo]\n  env:\n    - name: A\n      value: '{}'\n"
FAILS = "process.env[0].value: the template in this value fails:"


def refusal(directory: Path, *recipes: str, **values: t.Any) -> str:
    """Return what the step says of its recipes, without their directory."""
    files = [directory / f"{index}.yaml" for index in range(len(recipes))]
    for file, text in zip(files, recipes, strict=True):
        file.write_text(text, encoding="utf-8")
    where = {"cluster": "local", "namespace": "team", "release": "r", "step": "r", "run_id": "1", "runs_dir": directory}
    names = tuple(map(str, files))
    task = Task(chart="data-prep/data-process", recipes=names, values=values, **t.cast(t.Any, where))
    helm = Helm(binary=find_helm(), kubeconfig="", context=None, namespace="team")
    with pytest.raises(InvalidInputError) as caught:
        make_plan(task, make_draft(task, find(Reference(chart=task.chart))), helm, t.cast(t.Any, FakeKube()))
    assert caught.value.details.get("rc") == 1, str(caught.value)
    return str(caught.value).replace(f"{directory}/", "")


@pytest.mark.parametrize(
    ("template", "why"),
    [
        ("{{ .Values.nope.x }}", "<.Values.nope.x>: nil pointer evaluating interface {}.x"),
        ("{{ .Values.image | nosuch }}", 'function "nosuch" not defined'),
        ('{{ index .Values "process" "command" 7 }}', "index out of range: 7"),
    ],
)
def test_a_template_in_a_value_is_named_where_it_stands(tmp_path: Path, template: str, why: str) -> None:
    said = refusal(tmp_path, ENV.format(template))
    assert said.startswith(f"0.yaml:6: {FAILS} ")
    assert said.endswith(f"{why} {CHART}")
    assert "\n" not in said


def test_a_refusal_that_names_no_key_names_the_files(tmp_path: Path) -> None:
    said = refusal(tmp_path, ENV.format('{{ fail "no way" }}'), "image: x:2\n")
    assert said == f"0.yaml, 1.yaml: no way {CHART}"
