"""Charts found and digested, values checked with the place of each mistake, and what makes two steps the same."""

from __future__ import annotations

import json
import typing as t
from pathlib import Path

import pytest

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._recipe.chart import digest, find
from ansible_collections.mlops.eks.plugins.module_utils._recipe.identity import identity
from ansible_collections.mlops.eks.plugins.module_utils._recipe.layers import coalesce, layers
from ansible_collections.mlops.eks.plugins.module_utils._recipe.schema import validate
from ansible_collections.mlops.eks.plugins.module_utils._recipe.source import Source, parse

SCHEMA: dict[str, t.Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["image"],
    "properties": {
        "image": {"type": "string", "pattern": "^[^ ]+$"},
        "pull": {"enum": ["Always", "IfNotPresent", "Never"]},
        "resources": {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "nnodes": {"type": "integer", "minimum": 1},
                "requests": {"type": "object"},
                "limits": {"type": "object"},
            },
        },
        "env": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["name"],
                "additionalProperties": False,
                "properties": {"name": {"type": "string"}, "value": {"type": ["string", "number"]}},
            },
        },
        "probe": {"anyOf": [{"type": "null"}, {"type": "object", "properties": {"port": {"type": "integer"}}}]},
    },
}


def problems(*texts: str, values: dict[str, t.Any] | None = None) -> list[str]:
    sources = [parse(text, name=f"{n}.yaml") for n, text in enumerate(texts)]
    if values:
        sources.append(Source(name="values", data=values))
    layered = layers(sources)
    try:
        validate(coalesce({}, layered.values), SCHEMA, where=layered, chart="training/x")
    except InvalidInputError as error:
        found: list[str] = error.details["problems"]
        said = str(error)
    else:
        return []
    assert said.endswith("[chart training/x]")
    assert "\n" not in said
    assert found[0] in said
    return found


def test_good_values_pass() -> None:
    assert problems("image: x\nresources: {nnodes: 2}\nenv: [{name: A, value: 1}]\npull: Never\n") == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("image: x\nimge: y\n", "0.yaml:2: unknown key 'imge'. Did you mean 'image'?"),
        ("image: x\nzzz: y\n", "0.yaml:2: unknown key 'zzz'. Known: env, image, probe, pull, resources."),
        ("image: x\nresources:\n  nnode: 2\n", "0.yaml:3: unknown key 'resources.nnode'. Did you mean 'nnodes'?"),
        (
            "image: x\nresources:\n  resources:\n    requests: {}\n    limits: {}\n",
            "0.yaml:3: unknown key 'resources.resources'. Its content belongs one level up: "
            "write resources.requests, resources.limits.",
        ),
        ("image: 3\n", "0.yaml:1: image: expected a string, found 3."),
        ("image: x\nresources:\n  nnodes: two\n", "0.yaml:3: resources.nnodes: expected a whole number, found 'two'."),
        ("image: x\nresources:\n  nnodes: 1.5\n", "0.yaml:3: resources.nnodes: expected a whole number, found 1.5."),
        ("image: x\nresources:\n  nnodes: true\n", "0.yaml:3: resources.nnodes: expected a whole number, found True."),
        ("image: x\nresources:\n  nnodes: 0\n", "0.yaml:3: resources.nnodes: 0 is less than the minimum of 1."),
        ("image: x\nresources: [1]\n", "0.yaml:2: resources: expected a mapping, found [1]."),
        ("image: x\nenv: {a: b}\n", "0.yaml:2: env: expected a list, found {'a': 'b'}."),
        ("image: x\nenv:\n  - name: A\n  - value: B\n", "0.yaml:4: env[1]: missing 'name'."),
        (
            "image: x\nenv:\n  - name: A\n    value: yes\n",
            "0.yaml:4: env[0].value: expected a string or a number, found True.",
        ),
        (
            "image: x\npull: always\n",
            "0.yaml:2: pull: expected one of Always, IfNotPresent, Never, found 'always'. Did you mean 'Always'?",
        ),
        ("image: x\npull: 3\n", "0.yaml:2: pull: expected one of Always, IfNotPresent, Never, found 3."),
        ("image: a b\n", "0.yaml:1: image: found 'a b', which does not match '^[^ ]+$'."),
        ("image: x\nprobe: {port: http}\n", "0.yaml:2: probe.port: expected a whole number, found 'http'."),
        ("pull: Never\n", "0.yaml:1: the values: missing 'image'."),
    ],
)
def test_a_mistake_has_its_place_and_remedy(text: str, said: str) -> None:
    assert problems(text) == [said]


def test_the_place_is_in_the_layer_that_decides() -> None:
    low, high = "image: x\nresources: {nnodes: 2}\n", "\n\nresources: {nnodes: two}\n"
    assert problems(low, high) == ["1.yaml:3: resources.nnodes: expected a whole number, found 'two'."]
    assert problems(high, low) == []
    assert problems(low, values={"resources": {"nnodes": "two"}}) == [
        "values: resources.nnodes: expected a whole number, found 'two'."
    ]


REFERENCED = {
    "additionalProperties": False,
    "properties": {
        "group": {"$ref": "#/definitions/group"},
        "list": {"items": {"$ref": "#/definitions/group"}},
        "anything": True,
    },
    "definitions": {
        "group": {
            "type": "object",
            "additionalProperties": False,
            "properties": {"count": {"$ref": "#/definitions/count"}, "counts": {"$ref": "#/definitions/refused"}},
        },
        "count": {"type": "integer", "minimum": 1},
        "refused": {"description": "Not a key: write count.", "const": "not a key"},
    },
}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("grop: {}\n", "r:1: unknown key 'grop'. Did you mean 'group'?"),
        ("group:\n  count: x\n", "r:2: group.count: expected a whole number, found 'x'."),
        ("group:\n  count: 0\n", "r:2: group.count: 0 is less than the minimum of 1."),
        ("group:\n  counts: 1\n", "r:2: group.counts: Not a key: write count."),
        # What is listed to be refused is no suggestion, however near it is.
        ("group:\n  countss: 1\n", "r:2: unknown key 'group.countss'. Did you mean 'count'?"),
        ("list:\n  - {}\n  - {m: 1}\n", "r:3: unknown key 'list[1].m'. Known: count."),
    ],
)
def test_a_mistake_below_a_reference_has_its_place_and_remedy(text: str, said: str) -> None:
    source = parse(text, name="r")
    with pytest.raises(InvalidInputError) as caught:
        validate(source.data, REFERENCED, where=layers([source]), chart="c")
    assert caught.value.details["problems"] == [said]


def test_many_mistakes_are_few_words() -> None:
    text = "image: x\n" + "".join(f"unknown{n}: 1\n" for n in range(9))
    assert len(problems(text)) == 9
    with pytest.raises(InvalidInputError, match=r"\(and 4 more\) \[chart c\]"):
        validate(parse(text, name="r").data, SCHEMA, where=layers([parse(text, name="r")]), chart="c")


# Charts


def chart(path: Path, **files: str) -> Path:
    (path / "templates").mkdir(parents=True, exist_ok=True)
    base = {"Chart.yaml": "apiVersion: v2\nname: c\nversion: 1.2.3\n", "templates/x.yaml": "a: 1\n"}
    for name, text in {**base, **files}.items():
        file = path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return path


def test_find_in_the_catalogue_and_by_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    catalogue = tmp_path / "charts"
    chart(catalogue / "training" / "c", **{"values.yaml": "a: 1\n", "values.schema.json": '{"type": "object"}'})
    found = find("training/c", catalogue=catalogue)
    assert (found.name, found.version, found.defaults, found.schema) == ("c", "1.2.3", {"a": 1}, {"type": "object"})
    assert not found.serves
    chart(tmp_path / "mine", **{"values.yaml": "# nothing\n"})
    monkeypatch.chdir(tmp_path)
    assert find("mine", catalogue=catalogue).path == tmp_path / "mine"
    assert find(str(tmp_path / "mine"), catalogue=catalogue).defaults == {}
    assert find("mine", catalogue=catalogue).schema is None


@pytest.mark.parametrize(
    ("ref", "words"),
    [
        ("training/d", "Did you mean 'training/c'?"),
        ("zzz", "Known: training/c."),
    ],
)
def test_an_unknown_chart(tmp_path: Path, ref: str, words: str) -> None:
    chart(tmp_path / "training" / "c")
    with pytest.raises(InvalidInputError) as caught:
        find(ref, catalogue=tmp_path)
    assert repr(ref) in str(caught.value)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("file", "text"), [("values.schema.json", "{"), ("values.yaml", "a: ["), ("values.yaml", "- 1"), ("Chart.yaml", "")]
)
def test_a_broken_chart_is_one_line(tmp_path: Path, file: str, text: str) -> None:
    chart(tmp_path / "training" / "c", **{file: text})
    with pytest.raises(InvalidInputError) as caught:
        find("training/c", catalogue=tmp_path)
    assert file in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_digest_follows_content_names_and_links(tmp_path: Path) -> None:
    library = chart(tmp_path / "common", **{"templates/_lib.tpl": "one"})
    path = chart(tmp_path / "c")
    (path / "charts").mkdir()
    (path / "charts" / "common").symlink_to(library)
    first = digest(path)
    assert digest(path) == first

    (library / "templates" / "_lib.tpl").write_text("two", encoding="utf-8")
    second = digest(path)
    assert second != first
    (path / "templates" / "x.yaml").rename(path / "templates" / "y.yaml")
    assert digest(path) not in (first, second)


@pytest.mark.parametrize("name", ["README.md", "ci/a-values.yaml", ".helmignore", "charts/sub/charts/x/README.md"])
def test_the_digest_passes_over_prose_and_test_input(tmp_path: Path, name: str) -> None:
    path = chart(tmp_path / "c")
    before = digest(path)
    chart(path, **{name: "words"})
    assert digest(path) == before


@pytest.mark.parametrize("name", ["templates/ci/job.yaml", "charts/sub/files/README.md"])
def test_the_digest_counts_what_is_only_called_like_prose(tmp_path: Path, name: str) -> None:
    path = chart(tmp_path / "c")
    before = digest(path)
    (path / name).parent.mkdir(parents=True)
    (path / name).write_text("kind: Job", encoding="utf-8")
    assert digest(path) != before


def test_the_digest_tells_where_one_file_ends_and_the_next_begins(tmp_path: Path) -> None:
    one = chart(tmp_path / "1", **{"templates/a": "x", "templates/b": "y"})
    two = chart(tmp_path / "2", **{"templates/a": "xy", "templates/b": ""})
    assert digest(one) != digest(two)


# Identity


def test_identity_is_stable_and_follows_all_its_parts() -> None:
    base: dict[str, t.Any] = {
        "chart_digest": "d",
        "values": {"a": 1, "b": [1, {"c": None}]},
        "release": "r",
        "namespace": "n",
    }
    first = identity(**base)
    # Written down: what users have in their ledgers must be found again by the next version.
    assert first == "d3b6ba821818d20bb955d323772879c837febc789181e470be1a5b5992b811ad"
    assert identity(**{**base, "values": json.loads('{"b": [1, {"c": null}], "a": 1}')}) == first
    changed = [
        {"chart_digest": "e"},
        {"values": {"a": 1}},
        {"values": {"a": "1", "b": [1, {"c": None}]}},
        {"values": {"a": 1, "b": [{"c": None}, 1]}},
        {"release": "s"},
        {"namespace": "m"},
    ]
    assert len({identity(**{**base, **one}) for one in changed} | {first}) == len(changed) + 1
