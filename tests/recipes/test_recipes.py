# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""What holds for every recipe: its chart takes it, it renders as reviewed, it holds no secret, it is described."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from recipe_cases import CASES, DIRECTORIES, DIRECTORY_IDS, GOLDEN, Case, containers, documents, template

from ansible_collections.mlops.eks.plugins.module_utils._recipe import chart, pipeline

every_step = pytest.mark.parametrize("case", CASES, ids=str)
every_pipeline = pytest.mark.parametrize("directory", DIRECTORIES, ids=DIRECTORY_IDS)

SECRET_KEY = re.compile(r"(token|passw|secret|credential|api_?key|access_?key|private)", re.IGNORECASE)
SECRET_VALUE = re.compile(r"hf_[A-Za-z0-9]{20}|AKIA[0-9A-Z]{16}|-----BEGIN|ghp_[A-Za-z0-9]{30}|sk-[A-Za-z0-9]{20}")


def test_there_are_pipelines() -> None:
    assert {"demo/digits", "demo/digits-torch"} <= set(DIRECTORY_IDS)


@every_pipeline
def test_pipeline_is_called_as_its_directory(directory: Path) -> None:
    found = pipeline.read(directory)
    assert found.name == directory.name
    assert found.description


@every_pipeline
def test_every_file_is_a_step(directory: Path) -> None:
    used = {Path(recipe).name for step in pipeline.read(directory).steps for recipe in step.recipes}
    assert {path.name for path in directory.iterdir()} == used | {pipeline.FILE, "README.md"}


@every_pipeline
def test_readme_names_every_step(directory: Path) -> None:
    readme = (directory / "README.md").read_text()
    assert [step.name for step in pipeline.read(directory).steps if f"`{step.name}`" not in readme] == []


@every_step
def test_renders_as_reviewed(case: Case, request: pytest.FixtureRequest) -> None:
    done = template(case)
    assert done.returncode == 0, done.stderr
    if request.config.getoption("--update-golden", default=False):
        case.golden.parent.mkdir(parents=True, exist_ok=True)
        case.golden.write_text(done.stdout)
    assert case.golden.is_file(), "no golden file yet: pytest tests/charts tests/recipes --update-golden"
    assert case.golden.read_text() == done.stdout


def test_no_golden_without_a_step() -> None:
    assert set(GOLDEN.rglob("*.yaml")) == {case.golden for case in CASES}


@every_step
def test_chart_checks_its_values(case: Case) -> None:
    """The schema is closed: without this, rendering would prove nothing about the recipe's keys."""
    schema = chart.find(case.step.chart).schema
    assert schema is not None
    refused = template(case, "--set", "imagee=x")
    assert refused.returncode != 0
    assert "imagee" in refused.stderr


@every_step
def test_images_are_pinned_and_need_no_pull(case: Case) -> None:
    """The native cluster has no registry, and `latest` is another image tomorrow."""
    found = [container for document in documents(case) for container in containers(document)]
    assert found
    for container in found:
        assert re.search(r"(:[\w][\w.-]*|@sha256:[0-9a-f]{64})$", container["image"]), container["image"]
        assert not container["image"].endswith(":latest")
        assert container["imagePullPolicy"] != "Always"


@every_step
def test_memory_is_bounded(case: Case) -> None:
    for document in documents(case):
        for container in containers(document):
            assert "memory" in container["resources"]["limits"], container["name"]
            assert {"cpu", "memory"} <= container["resources"]["requests"].keys(), container["name"]


def _scalars(value: Any, name: str = "") -> list[tuple[str, str]]:
    """Return (key, text) of every scalar; the value of an `env` entry goes under the variable's name."""
    if isinstance(value, dict):
        if value.keys() >= {"name", "value"}:
            return [(str(value["name"]), str(value["value"]))]
        return [found for key, item in value.items() for found in _scalars(item, str(key))]
    if isinstance(value, list):
        return [found for item in value for found in _scalars(item, name)]
    return [(name, str(value))]


def secrets(values: Any) -> list[str]:
    """Return the names of the values that look like secrets."""
    found = []
    for key, text in _scalars(values):
        by_key = SECRET_KEY.search(key) and text not in ("", "None") and "{{" not in text
        if by_key or SECRET_VALUE.search(text):
            found.append(key)
    return found


@every_step
def test_no_secret_in_a_recipe(case: Case) -> None:
    for recipe in case.step.recipes:
        assert secrets(yaml.safe_load(Path(recipe).read_text())) == []


@pytest.mark.parametrize(
    "values",
    [
        {"hf_token": "x"},
        {"train": {"env": [{"name": "AWS_SECRET_ACCESS_KEY", "value": "x"}]}},
        {"train": {"args": ["--key hf_abcdefghijklmnopqrstuv"]}},
    ],
)
def test_secrets_would_be_found(values: dict[str, Any]) -> None:
    assert secrets(values)


def test_a_reference_is_no_secret() -> None:
    reference = {"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hf", "key": "x"}}}
    assert secrets({"env": [reference], "hf_token": ""}) == []
