# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""What a recipe, a pipeline, a chart or its schema may cost."""

from __future__ import annotations

import time
import typing as t
from pathlib import Path

import pytest
import yaml

from ansible_collections.mlops.eks.plugins.module_utils._core import bounds
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError, SourceError
from ansible_collections.mlops.eks.plugins.module_utils._recipe import chart as charts
from ansible_collections.mlops.eks.plugins.module_utils._recipe.layers import layers
from ansible_collections.mlops.eks.plugins.module_utils._recipe.pipeline import read
from ansible_collections.mlops.eks.plugins.module_utils._recipe.progress import progress_pattern
from ansible_collections.mlops.eks.plugins.module_utils._recipe.schema import validate
from ansible_collections.mlops.eks.plugins.module_utils._recipe.source import inline, parse


@pytest.mark.parametrize(
    "text", ["1" * 20_000 + "x", "1" * 900_000, "1_" * 400_000 + "x", "0x" + "f" * 900_000, "1." + "1" * 900_000 + "e"]
)
def test_a_long_scalar_costs_little(text: str) -> None:
    begun = time.process_time()
    parse(f"a: {text}\n", name="recipe.yaml")
    assert time.process_time() - begun < 2


def _checked(schema: dict[str, t.Any], values: dict[str, t.Any]) -> None:
    validate(values, schema, where=layers([]), chart="app")


def test_a_schema_whose_references_explode_is_refused() -> None:
    twice = {f"a{n}": {"allOf": [{"$ref": f"#/definitions/a{n + 1}"}] * 2} for n in range(40)}
    schema = {"definitions": {**twice, "a40": {}}, "$ref": "#/definitions/a0"}
    with pytest.raises(
        InvalidInputError, match=r"^chart app: .* more than 100000 references would have to be followed"
    ):
        _checked(schema, {})


def test_a_schema_with_circular_references_is_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"^chart app: its values.schema.json cannot be used: .*circular"):
        _checked({"definitions": {"a": {"$ref": "#/definitions/a"}}, "$ref": "#/definitions/a"}, {})


def test_a_schema_makes_nobody_ask_an_address_or_read_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[object] = []
    monkeypatch.setattr("urllib.request.urlopen", asked.append)
    (tmp_path / "strict.json").write_text('{"type": "string"}', encoding="utf-8")
    for reference in ("http://127.0.0.1:9/x.json", f"file://{tmp_path}/strict.json", "other.json#/definitions/a"):
        _checked({"properties": {"a": {"$ref": reference}}}, {"a": 1})
    assert asked == []
    with pytest.raises(InvalidInputError, match="cannot be used"):
        _checked({"properties": {"a": {"$ref": "#/definitions/absent"}}}, {"a": 1})


@pytest.mark.parametrize("text", [r"(?P<done>(\d+)+)$", r"(.*,)*(?P<done>\d)x", r"(a|a)*(?P<done>b+)"])
def test_a_slow_pattern_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="for lines without a match"):
        progress_pattern(text)


@pytest.mark.parametrize(
    "text",
    [
        r"step (?P<done>\d+)/(?P<total>\d+)",
        r"epoch .* step (?P<done>\d+) of (?P<total>\d+)",
        r"\s*(?P<done>\d+)\s*/\s*(?P<total>[\d,.]+)\s*\[.*\]",
    ],
)
def test_patterns_that_people_use(text: str) -> None:
    progress_pattern(text)


def test_a_long_pattern_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="has 1100 characters; at most 1000"):
        progress_pattern("(?P<done>1)" * 100)


def test_a_pipeline_of_too_many_steps(tmp_path: Path) -> None:
    steps = [{"name": f"s{number}", "chart": "a"} for number in range(bounds.STEPS + 1)]
    (tmp_path / "pipeline.yaml").write_text(yaml.safe_dump({"name": "a", "steps": steps}), encoding="utf-8")
    with pytest.raises(InvalidInputError, match=r"pipeline.yaml:\d+: steps: expected at most 100 steps, found 101\."):
        read(tmp_path)


def test_values_that_are_in_no_file_have_the_bounds_of_one() -> None:
    assert inline("values", {"a": [1, {"b": 2}]}).data == {"a": [1, {"b": 2}]}
    with pytest.raises(InvalidInputError, match=r"^recipe_values: larger than 1 MiB"):
        inline("recipe_values", {"a": "x" * 2**20})
    for levels in (70, 100_000):
        deep: dict[str, t.Any] = {}
        for _ in range(levels):
            deep = {"a": deep}
        with pytest.raises(InvalidInputError, match=r"^values: values are nested more than 64 levels deep"):
            inline("values", deep)


def _chart(path: Path) -> Path:
    path.mkdir()
    (path / "Chart.yaml").write_text("apiVersion: v2\nname: app\nversion: 1.0.0\n", encoding="utf-8")
    return path


def test_a_directory_that_is_more_than_a_chart_is_refused(tmp_path: Path) -> None:
    large = _chart(tmp_path / "large")
    with (large / "data.bin").open("wb") as file:
        file.truncate(10 * 2**30)
    with pytest.raises(SourceError, match=r"data.bin: too large; Helm takes files of 5 MiB and charts of 100 MiB"):
        charts.read("large", large)
    # Two links to the directory they stand in: every level has twice as many files as the one above.
    loop = _chart(tmp_path / "loop")
    (loop / "a").symlink_to(loop)
    (loop / "b").symlink_to(loop)
    begun = time.process_time()
    with pytest.raises(SourceError, match=r"more than (32 directories deep|10000 files)"):
        charts.read("loop", loop)
    assert time.process_time() - begun < 10


def test_a_schema_that_is_too_large_or_too_deep_is_refused(tmp_path: Path) -> None:
    deep = _chart(tmp_path / "deep")
    (deep / "values.schema.json").write_text('{"a":' * 200_000 + "1" + "}" * 200_000, encoding="utf-8")
    with pytest.raises(InvalidInputError, match=r"values.schema.json: not valid JSON"):
        charts.read("deep", deep)
