"""Layers merged and defaults applied as the real helm does it."""

from __future__ import annotations

import json
import typing as t
from pathlib import Path

import pytest
from fakes.helm import mirror, seen
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from ansible_collections.mlops.eks.plugins.module_utils._recipe.layers import coalesce, layers, merge
from ansible_collections.mlops.eks.plugins.module_utils._recipe.source import Source, parse

Values = dict[str, t.Any]
KEYS = st.sampled_from(["a", "b", "c", "d"])
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from(["", "x", "yes", "1e3"]))
TREES = st.recursive(
    LEAVES, lambda inner: st.one_of(st.dictionaries(KEYS, inner, max_size=3), st.lists(inner, max_size=2)), max_leaves=8
)
VALUES = st.dictionaries(KEYS, TREES, max_size=4)


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("layers")


# Many cases in one run of helm: each stands under a key of its own.
@settings(
    max_examples=20,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
    phases=[Phase.generate],
)
@given(cases=st.lists(st.tuples(VALUES, VALUES, VALUES), min_size=4, max_size=12))
def test_what_the_chart_sees_is_what_helm_shows(room: Path, cases: list[tuple[Values, Values, Values]]) -> None:
    defaults, low, high = ({f"case{n}": case[part] for n, case in enumerate(cases)} for part in range(3))
    # One case outermost, where helm treats a default of null in another way.
    defaults, low, high = ({**cases[0][part], **rest} for part, rest in enumerate((defaults, low, high)))
    chart, files = mirror(room, defaults), [room / "low.json", room / "high.json"]
    for file, values in zip(files, (low, high), strict=True):
        file.write_text(json.dumps(values), encoding="utf-8")
    assert coalesce(defaults, merge(low, high)) == seen(chart, files)


@pytest.mark.parametrize(
    ("low", "high"),
    [
        ({"a": {"b": 1}}, {"a": None}),
        ({"a": None}, {"a": {"b": 1}}),
        ({"a": [1, 2]}, {"a": [3]}),
        ({"a": {"b": [1]}}, {"a": {"b": {"c": 1}}}),
        ({"a": 1}, {"a": {"b": {"c": None}}}),
    ],
)
def test_the_corners(room: Path, low: Values, high: Values) -> None:
    defaults = {"a": {"b": {"c": 9, "d": 9}, "e": 9}, "f": 9}
    files = [room / "low.json", room / "high.json"]
    for file, values in zip(files, (low, high), strict=True):
        file.write_text(json.dumps(values), encoding="utf-8")
    assert coalesce(defaults, merge(low, high)) == seen(mirror(room, defaults), files)


def test_nothing_given_is_changed() -> None:
    defaults: Values = {"a": {"b": [1]}}
    low: Values = {"a": {"c": {}}}
    merged = coalesce(defaults, merge(low, {"a": {"c": {"d": 1}}}))
    merged["a"]["b"].append(2)
    merged["a"]["c"]["e"] = 1
    assert (defaults, low) == ({"a": {"b": [1]}}, {"a": {"c": {}}})


def test_the_line_is_that_of_the_layer_that_decides() -> None:
    low = parse("resources:\n  nnodes: 2\n  gpus: 1\nimage: x\n", name="low.yaml")
    high = parse("\nresources:\n  nnodes: two\n", name="high.yaml")
    found = layers([low, high])
    assert found.values == {"resources": {"nnodes": "two", "gpus": 1}, "image": "x"}
    assert found.at(("resources", "nnodes")) == "high.yaml:3"
    assert found.at(("resources", "gpus")) == "low.yaml:3"
    assert found.at(("image",)) == "low.yaml:4"
    # Missing below a mapping that both have: the later layer is the one to mend.
    assert found.at(("resources", "absent")) == "high.yaml:2"
    assert found.at(()) == "high.yaml:2"


def test_a_layer_without_lines_decides_too() -> None:
    low = parse("resources:\n  nnodes: 2\nimage: x\n", name="low.yaml")
    found = layers([low, Source(name="values", data={"resources": {"nnodes": "two"}})])
    assert found.at(("resources", "nnodes")) == "values"
    assert found.at(("image",)) == "low.yaml:3"
    assert layers([]).at(("x",)) == "values"
