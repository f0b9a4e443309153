"""Layers merged and defaults applied as the real helm does it."""

from __future__ import annotations

import json
import random
import typing as t
from pathlib import Path

import pytest
from fakes.helm import mirror, same, seen

from ansible_collections.mlops.eks.plugins.module_utils._core.files import to_yaml
from ansible_collections.mlops.eks.plugins.module_utils._plan.plan import value_files
from ansible_collections.mlops.eks.plugins.module_utils._plan.task import Task
from ansible_collections.mlops.eks.plugins.module_utils._recipe.layers import coalesce, layers, merge
from ansible_collections.mlops.eks.plugins.module_utils._recipe.source import Source, load, parse

Values = dict[str, t.Any]
# Of each kind, and text that some YAML reads as something else.
LEAVES = (
    *(
        None,
        True,
        False,
        0,
        1,
        -3,
        2**62,
        0.5,
        1e-7,
        "",
        "x",
        "yes",
        "y",
        "n",
        "null",
        "~",
        "1",
        "1e3",
        "0x1f",
        "0o7",
        "1_0",
    ),
    *(
        "2024-01-01",
        "12:30:00",
        "<<",
        "=",
        "- a",
        "a: b",
        "{a}",
        " a ",
        "a\nb\n",
        "\n a\n",
        "a\n\n",
        "\t",
        "é\u2028",
        "#x",
        "'",
        '"',
        "|",
    ),
)
CASES = 50


def tree(dice: random.Random, depth: int = 3) -> t.Any:
    match dice.randrange(5) if depth else 4:
        case 0 | 1:
            return mapping(dice, depth - 1)
        case 2:
            return [tree(dice, depth - 1) for _ in range(dice.randrange(3))]
    return dice.choice(LEAVES)


def mapping(dice: random.Random, depth: int = 3) -> Values:
    return {key: tree(dice, depth) for key in "abcd" if dice.random() < 0.6}


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("layers")


@pytest.mark.parametrize("part", range(30))
def test_what_the_chart_sees_is_what_helm_shows(room: Path, part: int) -> None:
    """Helm is the oracle: of reading, of merging three layers over a chart's defaults, and of the YAML we write.

    Many cases in one run of it: each stands under a key of its own.
    """
    dice = random.Random(f"layers {part}")
    defaults, *given = ({f"case{n}": mapping(dice) for n in range(CASES)} for _ in range(4))
    # One case outermost, where helm treats a default of null in another way.
    defaults, *given = ({**mapping(dice), **values} for values in (defaults, *given))
    recipes = [room / "low.yaml", room / "high.yaml"]
    for file, values in zip(recipes, given, strict=False):
        file.write_text(to_yaml(values), encoding="utf-8")
    sources = [*map(load, recipes), Source(name="values", data=given[-1])]
    assert all(same(source.data, values) for source, values in zip(sources, given, strict=True))
    with value_files(task(recipes, given[-1]), {}) as files:
        shown = seen(mirror(room, defaults), files)
    mine = coalesce(defaults, layers(sources).values)
    different = [key for key in mine if not same(mine[key], (shown or {}).get(key))]
    assert different == []
    assert mine.keys() == (shown or {}).keys()


def task(recipes: list[Path], values: Values) -> Task:
    where = {"cluster": "c", "namespace": "n", "release": "r", "step": "r", "run_id": "1", "chart": "c"}
    return Task(runs_dir=Path(), recipes=tuple(map(str, recipes)), values=values, **t.cast(t.Any, where))


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
def test_corner_cases_coalesce_as_in_helm(room: Path, low: Values, high: Values) -> None:
    defaults = {"a": {"b": {"c": 9, "d": 9}, "e": 9}, "f": 9}
    files = [room / "low.json", room / "high.json"]
    for file, values in zip(files, (low, high), strict=True):
        file.write_text(json.dumps(values), encoding="utf-8")
    assert coalesce(defaults, merge(low, high)) == seen(mirror(room, defaults), files)


def test_coalesce_does_not_modify_its_arguments() -> None:
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
