# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""What a step adds to the values of its recipe, and what it refuses to install; with the real helm."""

from __future__ import annotations

import json
import re
import typing as t
from dataclasses import replace
from pathlib import Path

import pytest
from fakes.kube import FakeKube

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._helm.cli import Helm, find_helm
from ansible_collections.mlops.eks.plugins.module_utils._plan.checks import pipeline_info
from ansible_collections.mlops.eks.plugins.module_utils._plan.plan import Draft, Plan, make_draft, make_plan
from ansible_collections.mlops.eks.plugins.module_utils._plan.task import Task
from ansible_collections.mlops.eks.plugins.module_utils._recipe.chart import CATALOGUE, find
from ansible_collections.mlops.eks.plugins.module_utils._recipe.layers import Values, merge
from ansible_collections.mlops.eks.plugins.module_utils._recipe.source import load

NAMES = sorted(str(path.parent.relative_to(CATALOGUE)) for path in CATALOGUE.glob("*/*/Chart.yaml"))
every_chart = pytest.mark.parametrize("chart", NAMES)
JOB: Values = {"image": "x:1", "process": {"command": ["true"]}}
CHART = "[chart data-prep/data-process]"


def task(directory: Path, *recipes: str | Values, **more: t.Any) -> Task:
    """Return a step with these recipes, as texts or mappings."""
    files = [directory / f"{index}.yaml" for index in range(len(recipes))]
    for file, recipe in zip(files, recipes, strict=True):
        file.write_text(recipe if isinstance(recipe, str) else json.dumps(recipe), encoding="utf-8")
    fixed = {"cluster": "local", "namespace": "team", "release": "digits", "step": "data", "run_id": "r1"}
    paths = {"runs_dir": directory, "recipes": tuple(map(str, files))}
    return Task(**{"chart": "data-prep/data-process", **fixed, **paths, **more})


def draft(given: Task) -> Draft:
    return make_draft(given, find(given.chart))


def plan(given: Task) -> Plan:
    helm = Helm(binary=find_helm(), kubeconfig="", context=None, namespace="team")
    return make_plan(given, draft(given), helm, t.cast(t.Any, FakeKube()))


def minimal(chart: str) -> Values:
    return load(CATALOGUE / chart / "ci" / "minimal-values.yaml").data


def environment(planned: Plan) -> dict[str, t.Any]:
    (container,) = planned.workload["spec"]["template"]["spec"]["containers"]
    return {entry["name"]: entry.get("value") for entry in container["env"]}


# The image


@pytest.mark.parametrize(
    ("recipes", "values", "where"),
    [
        (["process: {command: [echo]}\nimage: ''\n"], {}, "0.yaml:2"),
        (["process: {command: [echo]}\nimage:\n"], {}, "0.yaml:2"),
        ([JOB, "# nothing\nimage: ''\n"], {}, "1.yaml:2"),
        (["\nprocess: {command: [echo]}\n"], {}, "0.yaml:2"),
        (["process: {command: [echo]}\n"], {"process": {"args": ["a"]}}, "0.yaml:1"),
        ([JOB], {"image": ""}, "values"),
        (["image_digest: sha256:" + "0" * 64 + "\nprocess: {command: [echo]}\n"], {}, "0.yaml:1"),
        ([], {"process": {"command": ["echo"]}}, "values"),
    ],
)
def test_a_blank_image_is_refused_where_it_stands(
    tmp_path: Path, recipes: list[str | Values], values: Values, where: str
) -> None:
    with pytest.raises(InvalidInputError) as caught:
        plan(task(tmp_path, *recipes, values=values))
    assert str(caught.value).replace(f"{tmp_path}/", "") == (
        f"{where}: image: container data-process of Job/data-process-digits has no image. "
        f"Name one with its tag in the recipe, or in a layer over it. {CHART}"
    )


def test_the_image_of_a_server_has_a_key_of_its_own(tmp_path: Path) -> None:
    recipe = "server: {command: [a], ports: [{name: http, value: 80}]}\nimage:\n  pull_policy: Always\n  name: ''\n"
    with pytest.raises(InvalidInputError, match=r"0\.yaml:4: image\.name: container .* has no image\. Name one"):
        plan(task(tmp_path, recipe, chart="serving/generic-server", keep=True))


def test_a_container_beside_the_program_needs_an_image_too(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="container helper of Job/data-process-digits has no image"):
        plan(task(tmp_path, JOB, values={"sidecars": [{"name": "helper", "image": ""}]}))


def _pipeline(directory: Path, **more: t.Any) -> None:
    (directory / "one.yaml").write_text(json.dumps(JOB))
    (directory / "two.yaml").write_text("process: {command: [echo]}\nimage:\n")
    steps = [{"name": name, "chart": "data-prep/data-process", "recipe": f"{name}.yaml"} for name in ("one", "two")]
    (directory / "pipeline.yaml").write_text(json.dumps({"name": "p", "steps": steps}))
    asked = {"pipeline": str(directory), **dict.fromkeys(("release", "from_step", "only_steps", "recipe_values"))}
    pipeline_info({**asked, **more})


def test_a_blank_image_of_a_later_step_is_refused_before_the_first(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=rf"two\.yaml:2: image: it is blank\. Name one .* {re.escape(CHART)}$"):
        _pipeline(tmp_path)
    _pipeline(tmp_path, only_steps=["one"])
    _pipeline(tmp_path, recipe_values={"image": "x:1"})
    _pipeline(tmp_path, recipe_values={"container": {"image": "x:1"}})
    with pytest.raises(InvalidInputError, match="recipe_values: image: it is blank"):
        _pipeline(tmp_path, recipe_values={"image": ""}, only_steps=["one"])


def test_a_chart_that_finds_an_image_itself_needs_none(tmp_path: Path) -> None:
    """KServe takes that of the runtime which serves the model's format."""
    recipe = {"model": {"format": "sklearn", "storage_uri": "s3://models/a"}}
    (tmp_path / "one.yaml").write_text(json.dumps(recipe))
    (tmp_path / "pipeline.yaml").write_text(
        json.dumps({"name": "p", "steps": [{"name": "one", "chart": "serving/kserve", "recipe": "one.yaml"}]})
    )
    asked = {"pipeline": str(tmp_path), **dict.fromkeys(("release", "from_step", "only_steps", "recipe_values"))}
    pipeline_info(asked)
    assert plan(task(tmp_path, recipe, chart="serving/kserve", keep=True)).kind.kind == "InferenceService"
    with pytest.raises(
        InvalidInputError, match=r"0\.yaml:1: image\.name: container kserve-container of .* has no image"
    ):
        plan(task(tmp_path, {"server": {"command": ["a"]}}, chart="serving/kserve", keep=True))


def test_an_image_of_a_layer_above_is_enough(tmp_path: Path) -> None:
    assert plan(task(tmp_path, {**JOB, "image": None}, "image: x:2\n")).kind.kind == "Job"
    assert plan(task(tmp_path, {**JOB, "image": ""}, values={"container": {"image": "x:3"}})).kind.kind == "Job"


# More processes than accelerators


@pytest.mark.parametrize(
    ("processes", "limits", "said"),
    [
        (9, {"nvidia.com/gpu": 8}, "is 9, but resources.limits has nvidia.com/gpu: 8; lower it, or ask for more"),
        ("9", {"nvidia.com/gpu": "8"}, "is 9, but resources.limits has nvidia.com/gpu: 8; lower it, or ask for more"),
        (33, {"aws.amazon.com/neuroncore": 32}, "is 33, but resources.limits has aws.amazon.com/neuroncore: 32; lower"),
    ],
)
def test_more_processes_than_accelerators_are_refused(
    tmp_path: Path, processes: t.Any, limits: Values, said: str
) -> None:
    head = "image: x:1\ntrain: {command: [a]}\nresources:\n"
    recipe = f"{head}  limits: {json.dumps(limits)}\n  nproc_per_node: {json.dumps(processes)}\n"
    with pytest.raises(InvalidInputError) as caught:
        plan(task(tmp_path, recipe, chart="training/pytorchjob-distributed"))
    assert str(caught.value).startswith(f"{tmp_path}/0.yaml:5: resources.nproc_per_node {said}")


@pytest.mark.parametrize(
    ("processes", "limits"),
    [(8, {"nvidia.com/gpu": 8}), ("auto", {"nvidia.com/gpu": 1}), (None, {"nvidia.com/gpu": 1}), (8, {}), (4, None)],
)
def test_as_many_processes_as_accelerators_are_not_refused(tmp_path: Path, processes: t.Any, limits: t.Any) -> None:
    recipe = {"image": "x:1", "train": {"command": ["a"]}, "resources": {"nproc_per_node": processes, "limits": limits}}
    assert plan(task(tmp_path, recipe, chart="training/pytorchjob-distributed")).kind.kind == "PyTorchJob"


# The run


def test_a_chart_knows_its_run_and_step(tmp_path: Path) -> None:
    found = environment(plan(task(tmp_path, JOB)))
    assert (found["RUN_NAME"], found["RUN_STEP"]) == ("digits", "data")


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ({"name": "mine"}, ("mine", "data")),
        ({"name": "mine", "step": "other"}, ("mine", "other")),
        ({"name": None}, ("digits", "data")),
        (None, ("digits", "data")),
    ],
)
def test_a_recipe_that_names_its_run_wins(tmp_path: Path, own: t.Any, expected: tuple[str, str]) -> None:
    given = {"env": [{"name": "DIR", "value": "/efs/home/{{ .Values.run.name }}"}]}
    found = environment(plan(task(tmp_path, merge(JOB, {"process": given, "run": own}))))
    assert (found["RUN_NAME"], found["RUN_STEP"]) == expected
    assert found["DIR"] == f"/efs/home/{expected[0]}"


def test_a_server_gets_the_name_of_the_run_and_not_of_its_release(tmp_path: Path) -> None:
    serving = task(tmp_path, minimal("serving/generic-server"), chart="serving/generic-server", keep=True, step="serve")
    found = environment(plan(replace(serving, values={"image": {"name": "x:1"}})))
    assert serving.helm_release == "digits-serve"
    assert (found["RUN_NAME"], found["RUN_STEP"]) == ("digits", "serve")


@every_chart
def test_the_identity_is_that_of_every_run_of_the_same_name(chart: str, tmp_path: Path) -> None:
    """A second run skips its steps and replaces no pod."""
    first = task(tmp_path, minimal(chart), chart=chart)
    assert draft(first).run == {"run": {"name": "digits", "step": "data"}}
    assert draft(replace(first, run_id="r2", index=2, total=3)).identity == draft(first).identity
    assert draft(replace(first, release="digits-2")).identity != draft(first).identity
    assert draft(replace(first, step="eval")).identity != draft(first).identity
    assert "r1" not in json.dumps(draft(first).overlay)


def test_the_values_that_are_kept_are_those_of_the_recipe(tmp_path: Path) -> None:
    """Evidence can be run again under another name."""
    assert draft(task(tmp_path, JOB)).values == JOB


@pytest.mark.parametrize("schema", [None, {}, {"properties": {"run": {"properties": {"name": {}}}}}])
def test_a_foreign_chart_gets_nothing(tmp_path: Path, schema: t.Any) -> None:
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "Chart.yaml").write_text("{apiVersion: v2, name: c, version: 1.0.0}\n")
    if schema is not None:
        (tmp_path / "c" / "values.schema.json").write_text(json.dumps(schema))
    found = draft(task(tmp_path, {"run": {"other": 1}}, chart=str(tmp_path / "c")))
    assert (found.run, found.overlay) == ({}, {})


# Blank groups


def _groups(values: Values, path: tuple[str, ...] = ()) -> t.Iterator[tuple[str, ...]]:
    """Yield the paths of the mappings in values."""
    for key, value in values.items():
        if isinstance(value, dict):
            yield (*path, key)
            yield from _groups(value, (*path, key))


def _blank(path: tuple[str, ...]) -> Values:
    return {path[0]: _blank(path[1:]) if path[1:] else None}


def _given(values: Values, path: tuple[str, ...]) -> t.Any:
    for key in path:
        values = values.get(key) or {} if isinstance(values, dict) else {}
    return values


@every_chart
def test_a_blank_group_is_as_one_that_is_not_there(chart: str, tmp_path: Path) -> None:
    """Each group of the chart alone, and those that the smallest recipe does not need all together."""
    smallest = minimal(chart)
    smallest = merge(smallest, {"image": {"name": "x:1"} if isinstance(smallest.get("image"), dict) else "x:1"})
    blank: Values = {}
    for path in sorted(_groups(find(chart).defaults), key=len, reverse=True):
        draft(task(tmp_path, smallest, _blank(path), chart=chart))
        if not _given(smallest, path):
            blank = merge(blank, _blank(path))
    assert {"run", "shm"} <= blank.keys()
    assert (
        plan(task(tmp_path, smallest, blank, chart=chart)).objects
        == plan(task(tmp_path, smallest, chart=chart)).objects
    )
