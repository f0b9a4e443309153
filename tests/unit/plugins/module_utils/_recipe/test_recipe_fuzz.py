"""Ten thousand damaged recipes and pipelines: each is used, or refused in one line that says where the mistake is."""

from __future__ import annotations

import json
import random
import re
import resource
import time
import tracemalloc
import typing as t
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from fakes.incidents import BOMBS, damaged

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._plan.checks import pipeline_info
from ansible_collections.mlops.eks.plugins.module_utils._recipe import reader
from ansible_collections.mlops.eks.plugins.module_utils._recipe.chart import Chart, find
from ansible_collections.mlops.eks.plugins.module_utils._recipe.layers import coalesce, layers
from ansible_collections.mlops.eks.plugins.module_utils._recipe.pipeline import read
from ansible_collections.mlops.eks.plugins.module_utils._recipe.schema import validate
from ansible_collections.mlops.eks.plugins.module_utils._recipe.source import Source, load, parse

pytestmark = pytest.mark.slow

RECIPES = Path(__file__).resolve().parents[5] / "recipes"
SECONDS, MEBIBYTES = 5.0, 100
PART = 1000
# Of what is wrong with a whole file there is no line; of what is no YAML there is no key.
_WHOLE = re.compile(r"[^:]+\.yaml: (the file is empty|cannot be read|no such file|it is larger than)")
_PLACE = re.compile(r"(?P<file>[^:]+\.yaml):(?P<line>\d+)(:\d+)?: (?P<said>.+)")
_KEYLESS = re.compile(
    r"not valid YAML|YAML allows no character|found a (list|single value) where a YAML mapping|an alias is inside"
    r"|with its aliases expanded|values are nested|a key is null|missing|a step must be a mapping"
)
_KEYED = re.compile(
    r"(unknown key|key|chart|release|name|namespace|workload|recipe|step) |[^ ]+: |\S+ is empty|the values: "
)


def placed(problem: str) -> bool:
    """Whether a message has file, line and key, as far as there are any."""
    found = _PLACE.fullmatch(problem)
    if found is None:
        return bool(_WHOLE.match(problem))
    return bool(_KEYLESS.match(found["said"]) or _KEYED.match(found["said"]))


def problems(error: InvalidInputError) -> list[str]:
    return t.cast(list[str], error.details.get("problems") or [str(error)])


def survived(use: Callable[[str], t.Any], texts: Iterable[str]) -> tuple[int, int]:
    """Return how many texts were used and how many refused; every other end fails the test."""
    used = refused = 0
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for text in texts:
        begun, refusal = time.process_time(), None
        try:
            json.dumps(use(text), allow_nan=False).encode()
        except InvalidInputError as error:
            refusal = error
        assert time.process_time() - begun < SECONDS, text
        used, refused = used + (refusal is None), refused + (refusal is not None)
        if refusal is not None:
            assert [one for one in problems(refusal) if not placed(one)] == [], text
            assert len(str(refusal)) < 4000, text
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024 < MEBIBYTES
    return used, refused


@pytest.fixture(scope="module")
def steps() -> list[tuple[str, Chart]]:
    """Every recipe shipped, with the chart it is for."""
    found = {}
    for file in RECIPES.rglob("pipeline.yaml"):
        for step in read(file.parent).steps:
            found.update({name: find(step.chart) for name in step.recipes})
    return [(Path(name).read_text(encoding="utf-8"), chart) for name, chart in sorted(found.items())]


def check(text: str, chart: Chart) -> dict[str, t.Any]:
    layered = layers([parse(text, name="the/recipe.yaml")])
    values = coalesce(chart.defaults, layered.values)
    validate(values, t.cast(t.Any, chart.schema), where=layered, chart=chart.ref)
    return values


@pytest.mark.parametrize("part", range(7))
def test_damaged_recipes(part: int, steps: list[tuple[str, Chart]]) -> None:
    dice = random.Random(f"recipes {part}")

    def texts() -> Iterator[str]:
        for _ in range(PART):
            text, current[0] = dice.choice(steps)
            yield damaged(text, dice)

    current = [steps[0][1]]
    used, refused = survived(lambda text: check(text, current[0]), texts())
    assert used > PART / 50
    assert refused > PART / 2


PIPELINE = """\
name: digits
namespace: team
steps:
  - name: data
    chart: job
    recipe: data.yaml
    timeout: 900
    retries: 2
    retry_on: [evicted]
    progress: 'step (?P<done>[0-9]+)'
  - name: serve
    chart: job
    recipes: [data.yaml]
    values:
      count: 2
    keep: true
    until: condition=Available
    fail_on: [condition=A, "jsonpath={.status.phase}=B"]
"""
SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"image": {"type": "string"}, "count": {"type": "integer"}},
}


@pytest.mark.parametrize("part", range(3))
def test_damaged_pipelines(part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dice, chart = random.Random(f"pipelines {part}"), tmp_path / "job"
    chart.mkdir()
    (chart / "Chart.yaml").write_text("apiVersion: v2\nname: job\nversion: 0.1.0\n", encoding="utf-8")
    (chart / "values.schema.json").write_text(json.dumps(SCHEMA), encoding="utf-8")
    (tmp_path / "data.yaml").write_text("image: x\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "pipeline.yaml"

    def use(text: str) -> t.Any:
        file.write_text(text, encoding="utf-8", newline="", errors="surrogatepass")
        asked = ("release", "from_step", "only_steps", "recipe_values")
        return pipeline_info({"pipeline": str(tmp_path), **dict.fromkeys(asked)})

    used, refused = survived(use, (damaged(PIPELINE, dice) for _ in range(PART)))
    assert used > PART / 50
    assert refused > PART / 2


@pytest.mark.parametrize("slow", [False, True], ids=["libyaml", "python"])
@pytest.mark.parametrize("width", [3, 9])
@pytest.mark.parametrize("bomb", BOMBS, ids=lambda bomb: bomb.__name__)
def test_a_yaml_bomb_is_refused(bomb: t.Any, width: int, slow: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if slow:
        monkeypatch.setattr(reader, "_has_libyaml", lambda: False)
    text = "\n".join(["image: x", *bomb(width)])
    tracemalloc.start()
    begun = time.process_time()
    with pytest.raises(InvalidInputError) as caught:
        parse(text, name="r.yaml")
    seconds, (_, peak) = time.process_time() - begun, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert re.match(
        r"r\.yaml:\d+: (with its aliases expanded it is larger|values are nested more than)", str(caught.value)
    )
    assert peak < 30 * 2**20
    # What traces memory, and Python's own scanner, take many times as long.
    assert seconds < 20 * SECONDS


def test_a_large_file_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "model.yaml"
    with file.open("wb") as stream:
        stream.truncate(50 * 2**30)
    begun = time.process_time()
    with pytest.raises(InvalidInputError, match=r"model\.yaml: it is larger than 1 MiB\. Is it the right file\?"):
        load(file)
    with pytest.raises(InvalidInputError, match="it is larger than 1 MiB"):
        load(Path("/dev/zero"))
    assert time.process_time() - begun < SECONDS


def refused(text: str, chart: Chart) -> list[str]:
    try:
        check(text, chart)
    except InvalidInputError as error:
        return problems(error)
    return []


def test_a_misspelt_key_is_named_with_its_own_line(steps: list[tuple[str, Chart]]) -> None:
    """Of every key of every recipe shipped; where any key is right (labels, limits), nothing is wrong."""
    named = 0
    for text, chart in steps:
        source, lines = parse(text, name="the/recipe.yaml"), text.split("\n")
        for path, line in source.lines.items():
            key = str(path[-1]) if path else ""
            spelt = re.compile(rf"(?<![\w.]){re.escape(key)}:")
            if not key or isinstance(path[-1], int) or len(spelt.findall(lines[line - 1])) != 1:
                continue
            wrong = [*lines[: line - 1], spelt.sub(f"{key}zz:", lines[line - 1]), *lines[line:]]
            refusals = refused("\n".join(wrong), chart)
            said = [one for one in refusals if f"{key}zz" in one]
            assert said or not refusals or any("missing" in one for one in refusals), path
            assert all(one.startswith(f"the/recipe.yaml:{line}: unknown key ") for one in said), said
            named += bool(said)
    assert named > 100


def test_values_without_a_file_are_checked_with_the_pipeline(tmp_path: Path) -> None:
    """`-e recipe_values=…` is refused before the first step, as is a mistake in a recipe."""
    asked: dict[str, t.Any] = {"release": None, "from_step": None, "only_steps": None}
    demo = str(RECIPES / "demo" / "digits")
    with pytest.raises(InvalidInputError, match=r"^recipe_values: unknown key 'imag'\. Did you mean 'image'\?"):
        pipeline_info({**asked, "pipeline": demo, "recipe_values": {"imag": "x"}})
    # The image of its server is a mapping; who does not run that step may say so of the others.
    with pytest.raises(InvalidInputError, match=r"^recipe_values: image: expected a mapping, found 'x'"):
        pipeline_info({**asked, "pipeline": demo, "recipe_values": {"image": "x"}})
    pipeline_info({**asked, "pipeline": demo, "recipe_values": {"image": "x"}, "only_steps": ["data", "train"]})


def test_the_line_is_that_of_the_key_as_written() -> None:
    source = parse("a: 1\n0x10: {b: 1}\n", name="r.yaml")
    assert source.at(("16", "b")) == "r.yaml:2"
    assert Source(name="x", data={}).at(("a",)) == "x"
