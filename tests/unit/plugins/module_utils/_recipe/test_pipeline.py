"""`pipeline.yaml`: every mistake with its place, and the choice of steps."""

from __future__ import annotations

import json
import re
import typing as t
from pathlib import Path

import pytest

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._core.limits import STEP_LIMITS
from ansible_collections.mlops.eks.plugins.module_utils._plan.checks import pipeline_info
from ansible_collections.mlops.eks.plugins.module_utils._recipe.chart import find
from ansible_collections.mlops.eks.plugins.module_utils._recipe.pipeline import (
    Pipeline,
    check_release,
    choose,
    helm_release,
    read,
)

RECIPES = Path(__file__).resolve().parents[5] / "recipes"
GOOD = """\
name: digits
description: d
namespace: team
steps:
  - name: data
    chart: data-prep/data-process
    recipe: data.yaml
  - name: train
    chart: training/mpijob-distributed
    recipes: [data.yaml, train.yaml]
    values:
      resources: {nnodes: 2}
    timeout: 900
    fail_on: condition=Doomed
  - name: serve
    chart: serving/generic-server
    recipe: serve.yaml
    keep: true
    until: condition=Available
    fail_on: [condition=A, "jsonpath={.status.phase}=B"]
"""


def directory(tmp_path: Path, text: str) -> Path:
    for name in ("data.yaml", "train.yaml", "serve.yaml"):
        (tmp_path / name).write_text("image: x\n", encoding="utf-8")
    (tmp_path / "pipeline.yaml").write_text(text, encoding="utf-8")
    return tmp_path


def broken(tmp_path: Path, text: str) -> str:
    with pytest.raises(InvalidInputError) as caught:
        read(directory(tmp_path, text))
    return str(caught.value).replace(str(tmp_path), "DIR")


def test_a_valid_pipeline_is_read(tmp_path: Path) -> None:
    found = read(directory(tmp_path, GOOD))
    assert (found.name, found.namespace, found.description, found.directory) == ("digits", "team", "d", str(tmp_path))
    data, train, serve = found.steps
    assert data.recipes == (f"{tmp_path}/data.yaml",)
    assert (data.limits, data.until, data.fail_on, data.values) == ({}, None, (), {})
    assert train.recipes == (f"{tmp_path}/data.yaml", f"{tmp_path}/train.yaml")
    assert (train.values, train.limits, train.fail_on) == (
        {"resources": {"nnodes": 2}},
        {"timeout": 900},
        ("condition=Doomed",),
    )
    assert (serve.keep, serve.until) == (True, "condition=Available")
    assert serve.fail_on == ("condition=A", "jsonpath={.status.phase}=B")
    assert json.loads(json.dumps(found.to_result()))["steps"][1]["recipes"] == list(train.recipes)
    assert read(tmp_path / "pipeline.yaml") == found


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("name: digits", "nmae: digits", "DIR/pipeline.yaml:1: unknown key 'nmae'. Did you mean 'name'?"),
        ("name: digits\n", "", "DIR/pipeline.yaml:1: missing 'name'."),
        ("name: digits", "name: [digits]", "DIR/pipeline.yaml:1: name: expected a string, found ['digits']."),
        ("name: digits", "name: 1", "DIR/pipeline.yaml:1: name: expected a string, found 1."),
        ("name: digits", "name: Digits", "DIR/pipeline.yaml:1: name 'Digits': expected lower-case letters"),
        ("name: digits", "name: digits-", "DIR/pipeline.yaml:1: name 'digits-'"),
        ("name: digits", f"name: {'d' * 54}", "DIR/pipeline.yaml:1: name 'ddd"),
        ("namespace: team", "namespace: 3", "DIR/pipeline.yaml:3: namespace: expected a string"),
        (
            "namespace: team",
            "namespaces: x",
            "DIR/pipeline.yaml:3: unknown key 'namespaces'. Did you mean 'namespace'?",
        ),
        ("  - name: train\n    chart", "  - chart", "DIR/pipeline.yaml:8: missing 'name'."),
        ("    chart: training/mpijob-distributed\n", "", "DIR/pipeline.yaml:8: missing 'chart'."),
        ("name: train", "name: data", "DIR/pipeline.yaml:8: step 'data' is already at DIR/pipeline.yaml:5."),
        ("name: train", "name: Train_1", "DIR/pipeline.yaml:8: name 'Train_1': expected lower-case"),
        (
            "recipe: data.yaml",
            "recipe: dta.yaml",
            "DIR/pipeline.yaml:7: recipe 'dta.yaml' is not in DIR. Did you mean 'data.yaml'?",
        ),
        (
            "train.yaml]",
            "trian.yaml]",
            "DIR/pipeline.yaml:10: recipe 'trian.yaml' is not in DIR. Did you mean 'train.yaml'?",
        ),
        ("train.yaml]", "7]", "DIR/pipeline.yaml:10: recipe 7 is not in DIR."),
        ("recipe: data.yaml", "recipe: [data.yaml]", "DIR/pipeline.yaml:7: recipe: expected a file name, found"),
        ("recipe: data.yaml", "recipes: data.yaml", "DIR/pipeline.yaml:7: recipes: expected a list of file names"),
        ("recipe: data.yaml", f"recipe: {'x' * 300}.yaml", "DIR/pipeline.yaml:7: recipe 'xxx"),
        (
            "recipe: data.yaml",
            "recipe: data.yaml\n    recipes: [data.yaml]",
            "DIR/pipeline.yaml:8: step 'data' has recipe and recipes.",
        ),
        ("timeout: 900", "timout: 900", "DIR/pipeline.yaml:13: unknown key 'timout'. Did you mean 'timeout'?"),
        ("timeout: 900", "progress: step (d+)", "DIR/pipeline.yaml:13: progress: 'step (d+)' has no group (?P<done>…)"),
        ("timeout: 900", "progress: 'a('", "DIR/pipeline.yaml:13: progress: 'a(' is not a regular expression"),
        (
            "timeout: 900",
            "retry_on: [node_lost, evictd]",
            "DIR/pipeline.yaml:13: retry_on: 'evictd' is none of",
        ),
        ("timeout: 900", "retry_on: any", "DIR/pipeline.yaml:13: retry_on: expected a list of evicted, node_lost,"),
        ("timeout: 900", "progress: 7", "DIR/pipeline.yaml:13: progress: expected a pattern with a group (?P<done>…)"),
        ("timeout: 900", "repo: [x]", "DIR/pipeline.yaml:13: repo: expected an address, found ['x']."),
        (
            "timeout: 900",
            "version: 1.10",
            "DIR/pipeline.yaml:13: version: expected a version, in quotes where it would",
        ),
        ("timeout: 900", "digest: 7", "DIR/pipeline.yaml:13: digest: expected sha256: and 64 hexadecimal digits"),
        ("keep: true", "keep: 'true'", "DIR/pipeline.yaml:18: keep: expected true or false, found 'true'."),
        ("values:\n      resources: {nnodes: 2}", "values: [1]", "DIR/pipeline.yaml:11: values: expected a mapping"),
        ("until: condition=Available", "workload: [Job]", "DIR/pipeline.yaml:19: workload: expected Kind or Kind/name"),
        ("until: condition=Available", "until: [x]", "DIR/pipeline.yaml:19: until: expected condition=TYPE"),
        ("fail_on: [condition=A,", "fail_on: [3,", "DIR/pipeline.yaml:20: fail_on: expected"),
    ],
)
def test_every_mistake_has_its_place(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in GOOD
    message = broken(tmp_path, GOOD.replace(old, new, 1))
    assert message.startswith(said)
    assert "\n" not in message


@pytest.mark.parametrize("name", STEP_LIMITS)
def test_no_limit_takes_what_is_no_number_of_its(tmp_path: Path, name: str) -> None:
    shown = {"-5": "-5", "1000000001": "1000000001", "15m": "'15m'", "true": "True", "1.5": "1.5", ".nan": "'.nan'"}
    for wrong, quoted in shown.items():
        expected = f"DIR/pipeline.yaml:13: {name}: expected a whole number from 0 to 1000000000, found {quoted}."
        assert broken(tmp_path, GOOD.replace("timeout: 900", f"{name}: {wrong}", 1)) == expected


@pytest.mark.parametrize("name", STEP_LIMITS)
def test_every_limit_may_be_none(tmp_path: Path, name: str) -> None:
    found = read(directory(tmp_path, GOOD.replace("timeout: 900", f"{name}: 0", 1)))
    assert found.steps[1].limits == {name: 0}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "DIR/pipeline.yaml: the file is empty."),
        ("- x\n", "DIR/pipeline.yaml:1: found a list"),
        ("name: x\n", "DIR/pipeline.yaml:1: missing 'steps'."),
        ("name: x\nsteps: []\n", "DIR/pipeline.yaml:2: steps is empty."),
        ("name: x\nsteps: {}\n", "DIR/pipeline.yaml:2: steps: expected a list of steps, found {}."),
        ("name: x\nsteps:\n", "DIR/pipeline.yaml:2: steps: expected a list of steps, found None."),
        ("name: x\nsteps:\n  - train\n", "DIR/pipeline.yaml:3: a step must be a mapping"),
        ("name: x\nsteps:\n  - name: a\n  - name: a\n", "DIR/pipeline.yaml:3: missing 'chart'."),
    ],
)
def test_what_is_no_pipeline(tmp_path: Path, text: str, said: str) -> None:
    assert broken(tmp_path, text).startswith(said)


def test_a_directory_without_one(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"there is no pipeline\.yaml in it"):
        read(tmp_path)
    with pytest.raises(InvalidInputError, match=r"there is no pipeline\.yaml in it"):
        read(tmp_path / "nowhere")


@pytest.fixture
def pipeline(tmp_path: Path) -> Pipeline:
    return read(directory(tmp_path, GOOD))


@pytest.mark.parametrize(
    ("from_step", "only", "names"),
    [
        (None, [], ["data", "train", "serve"]),
        ("train", [], ["train", "serve"]),
        (None, ["serve", "data"], ["data", "serve"]),
        ("train", ["serve", "data"], ["serve"]),
    ],
)
def test_steps_chosen_by_from_step_and_only_steps(
    pipeline: Pipeline, from_step: str | None, only: list[str], names: list[str]
) -> None:
    assert [step.name for step in choose(pipeline, from_step=from_step, only_steps=only)] == names


@pytest.mark.parametrize(
    ("from_step", "only", "said"),
    [
        ("trian", [], "pipeline digits: no step 'trian'. Did you mean 'train'?"),
        (None, ["zzz"], "pipeline digits: no step 'zzz'. Known: data, serve, train."),
        ("serve", ["data"], "pipeline digits: from_step 'serve' leaves none of only_steps."),
    ],
)
def test_a_choice_without_steps_is_refused(
    pipeline: Pipeline, from_step: str | None, only: list[str], said: str
) -> None:
    with pytest.raises(InvalidInputError, match=f"^{re.escape(said)}$"):
        choose(pipeline, from_step=from_step, only_steps=only)


def test_the_chart_says_whether_a_step_stays(pipeline: Pipeline) -> None:
    assert [find(step.chart).serves for step in pipeline.steps] == [False, False, True]
    assert helm_release("digits", "serve", keep=True) == "digits-serve"
    assert helm_release("digits", "data", keep=False) == "digits"


@pytest.mark.parametrize("name", ["d", "d1", "a-b", "0", "x" * 53])
def test_release_names(name: str) -> None:
    check_release(name)


@pytest.mark.parametrize("name", ["", "-a", "a-", "A", "a_b", "a.b", "a b", "ä", "x" * 54, "a\n"])
def test_release_names_that_are_refused(name: str) -> None:
    with pytest.raises(InvalidInputError, match=r"^release .*expected lower-case"):
        check_release(name)


def info(directory: Path, **more: t.Any) -> dict[str, t.Any]:
    params = {"pipeline": str(directory), "release": None, "from_step": None, "only_steps": None, "recipe_values": None}
    return pipeline_info({**params, **more})


def test_overview_of_the_demo() -> None:
    found = info(RECIPES / "demo" / "digits", from_step="evaluate")
    assert found["release"] == "digits"
    assert re.fullmatch(r"\d{8}T\d{6}-digits-[0-9a-f]{4}", found["run_id"])
    steps = found["pipeline"]["steps"]
    assert (steps[0]["name"], steps[0]["index"], steps[0]["total"]) == ("evaluate", 3, 5)
    assert steps[0]["after"] == ["data", "train"]
    json.dumps(found)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "training/mpijob-distributed",
            "training/mpijob-distribted",
            "pipeline.yaml:9: chart 'training/mpijob-distribted': not in",
        ),
        ("nnodes: 2", "nnodes: two", "pipeline.yaml:12: resources.nnodes: expected a whole number"),
        ("nnodes: 2", "nnode: 2", "pipeline.yaml:12: "),
        (
            "until: condition=Available",
            "until: Available",
            "pipeline.yaml:19: until: 'Available' is no wait expression",
        ),
        ("condition=Doomed", "Doomed", "pipeline.yaml:14: fail_on: 'Doomed' is no wait expression"),
        (
            "name: digits",
            f"name: {'d' * 50}",
            f"pipeline.yaml:15: release '{'d' * 50}-serve' has 56 characters; expected lower-case",
        ),
    ],
)
def test_the_overview_finds_a_mistake_in_any_step(tmp_path: Path, old: str, new: str, words: str) -> None:
    where = directory(tmp_path, GOOD.replace(old, new, 1))
    (where / "serve.yaml").write_text("image: {name: x}\nresources: {}\n", encoding="utf-8")
    with pytest.raises(InvalidInputError) as caught:
        info(where)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_secret_is_not_written_in_a_pipeline(tmp_path: Path) -> None:
    """What is in it is returned to Ansible, and stands in every log of the play."""
    text = "name: x\nsteps:\n  - name: a\n    chart: data-prep/data-process\n    recipe: a.yaml\n    values:\n"
    (tmp_path / "a.yaml").write_text("image: x\nprocess: {command: ['true']}\nhf_token: hunter22\n", encoding="utf-8")
    (tmp_path / "pipeline.yaml").write_text(f"{text}      hf_token: hunter22\n", encoding="utf-8")
    with pytest.raises(InvalidInputError, match=r"pipeline.yaml:7: hf_token: a secret does not belong") as caught:
        info(tmp_path)
    assert "hunter22" not in str(caught.value)
    reference = "{secretKeyRef: {name: hf, key: token}}"
    (tmp_path / "pipeline.yaml").write_text(f"{text}      hf_token: {reference}\n", encoding="utf-8")
    assert "hunter22" not in json.dumps(info(tmp_path, recipe_values={"hf_token": "hunter22"}))
