"""YAML read as Helm reads it, with the line of every value."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest
from fakes.helm import mirror, same, seen

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._recipe.source import load, parse

RECIPES = Path(__file__).resolve().parents[5] / "recipes"
TEXT = """\
# A comment
image: x:1
train:
  env:
    - name: A
      value: "1"
    - {name: B,
       value: 2}
  script: |
    one
    two
args: [a,
  b]
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("image",), 2),
        (("train",), 3),
        (("train", "env"), 4),
        (("train", "env", 0, "name"), 5),
        (("train", "env", 0, "value"), 6),
        (("train", "env", 1, "name"), 7),
        (("train", "env", 1, "value"), 8),
        (("train", "script"), 9),
        (("args", 0), 12),
        (("args", 1), 13),
        # Of what the file does not have, the nearest parent.
        (("train", "env", 7, "x"), 4),
        (("train", "nothing"), 3),
        (("absent",), 2),
        ((), 2),
    ],
)
def test_lines(path: tuple[str | int, ...], line: int) -> None:
    assert parse(TEXT, name="r.yaml").at(path) == f"r.yaml:{line}"


def test_data() -> None:
    assert parse(TEXT, name="r").data == {
        "image": "x:1",
        "train": {"env": [{"name": "A", "value": "1"}, {"name": "B", "value": 2}], "script": "one\ntwo\n"},
        "args": ["a", "b"],
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "r.yaml: the file is empty. It must hold a YAML mapping of values."),
        ("# only a comment\n", "r.yaml: the file is empty."),
        ("---\n", "r.yaml:"),
        ("- a\n", "r.yaml:1: found a list where a YAML mapping"),
        ("\nhello\n", "r.yaml:2: found a single value where a YAML mapping"),
        ("a: 1\nb: 2\na: 3\n", "r.yaml:3: key 'a' is already on line 1. Keep one of them."),
        ("a:\n  b: 1\n  c: {d: 1, d: 2}\n", "r.yaml:3: key 'd' is already on line 3."),
        ("1: x\n'1': y\n", "r.yaml:2: key '1' is already on line 1."),
        ("1: x\n0x1: y\n", "r.yaml:2: key '1' is already on line 1."),
        ("a: 1\n~: 2\n", "r.yaml:2: a key is null. Quote it, or remove the line."),
        ("a: [1\n", "r.yaml:2:1: not valid YAML"),
        ("a: b: c\n", "r.yaml:1:5: not valid YAML"),
        ("a:\n\t- b\n", "r.yaml:2:1: not valid YAML"),
        ("a: 'x\n", "r.yaml:2:1: not valid YAML"),
        ("a: *nothing\n", "r.yaml:1:4: not valid YAML"),
        ("a: !!python/object:os.system {}\n", "r.yaml:1:4: not valid YAML"),
        ("a: !secret x\n", "r.yaml:1:4: not valid YAML"),
        ("a: 1\n---\nb: 2\n", "r.yaml:2:1: not valid YAML"),
        ("{[1, 2]: x}\n", "r.yaml:1:2: not valid YAML"),
        ("a:\n  b: &x [*x]\n", "r.yaml:2: an alias is inside the value that it refers to."),
        ("a:\n  - \x07\n", "r.yaml:2:5: YAML allows no character U+0007. Remove it."),
        ("a: !!int x\n", "r.yaml:1:4: not valid YAML: found no number"),
        ("a: !!bool x\n", "r.yaml:1:4: not valid YAML: found neither true nor false"),
        ("a: " + "[" * 70 + "\n", "r.yaml:1: values are nested more than 64 levels deep."),
        ("<<: 3\n", "r.yaml:1:"),
    ],
)
def test_what_is_wrong_is_one_line_with_its_place(text: str, said: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse(text, name="r.yaml")
    assert str(caught.value).startswith(said)
    assert "\n" not in str(caught.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"none\.yaml: no such file"):
        load(tmp_path / "none.yaml")
    with pytest.raises(InvalidInputError, match="cannot be read: "):
        load(tmp_path)
    (tmp_path / "latin.yaml").write_bytes("a: b\nc: ü".encode("latin-1"))
    with pytest.raises(InvalidInputError, match=r"latin\.yaml:2: cannot be read as text"):
        load(tmp_path / "latin.yaml")


def test_merge_keys(tmp_path: Path) -> None:
    text = "base: &b\n  x: 1\n  w: 2\nmine:\n  <<: *b\n  w: 3\n  z: 4\n"
    found = parse(text, name="r")
    assert found.data["mine"] == {"x": 1, "w": 3, "z": 4}
    assert found.at(("mine", "w")) == "r:6"
    two = parse("a: &a {x: 1}\nb: &b {w: 2}\nc: {<<: [*a, *b], z: 3}\n", name="r")
    assert two.data["c"] == {"x": 1, "w": 2, "z": 3}


# Every scalar that some YAML reads as something else; compared with the real helm.
ODD = (
    *("y", "Y", "yes", "Yes", "YES", "n", "N", "no", "No", "NO", "on", "On", "ON", "off", "OFF", "oN", "yEs"),
    *("true", "True", "TRUE", "tRUE", "false", "False", "~", "null", "Null", "NULL", "nULL", '""', "''"),
    *(
        "0",
        "-0",
        "+1",
        "1",
        "007",
        "010",
        "0o10",
        "0O10",
        "08",
        "09",
        "0x1F",
        "0X1f",
        "0b11",
        "-0x10",
        "1_000",
        "_1",
        "1_",
    ),
    *("1.0", "1.", ".5", "-.5", "1e3", "1E3", "1e-4", "1e+4", "1.5e3", "1e", ".e3", "e3", "5.0e-5", "0.1e-1", "1_0.5"),
    *("12:30:00", "1:30", "190:20:30", "2024-01-01", "2024-01-01T00:00:00Z", "2024-01-01 10:00:00", "1.2.3", "1.10"),
    *(
        "9007199254740993",
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775808",
        "123456789012345678901",
        "0xFFFFFFFFFFFFFFFF",
        "0x1FFFFFFFFFFFFFFFF",
        "0o7777777777777777777777777",
        "07777777777777777777777777",
        "0b" + "1" * 70,
        "-9223372036854775809",
        "1_" * 20 + "1",
        "9" * 400,
    ),
    *("10Gi", "500m", "1m", "=", "<<", "a:b", "http://x:1", "@x", "%x", "-", "- x", "?x", "{{ .Release.Name }}"),
    *(
        "0.1",
        "3.14159265358979",
        "100000000",
        "1000000",
        "1e21",
        "1e22",
        "123456.789e3",
        "NaN",
        "Inf",
        "nan",
        "+",
        ".",
        "..",
        "...",
    ),
    *(
        "'yes'",
        '"1"',
        "'1e3'",
        "!!str 1",
        "!!str yes",
        "!!int '3'",
        "!!float 3",
        "!!bool 'true'",
        "!!null ''",
        "!!int x",
        "!!int 0xFFFFFFFFFFFFFFFFFFFF",
        "!!bool x",
        "!!float x",
        '"\\ud800"',
        '"\\U00110000"',
        '"\\x07"',
        "x y",
        "x #y",
        "x#y",
    ),
)


def ours(text: str) -> dict[str, t.Any] | None:
    try:
        return parse(text, name="r").data
    except InvalidInputError:
        return None


@pytest.fixture(scope="module")
def chart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return mirror(tmp_path_factory.mktemp("charts"), {})


def test_scalars_are_read_as_helm_reads_them(chart: Path, tmp_path: Path) -> None:
    file = tmp_path / "values.yaml"
    readable = []
    for number, text in enumerate(ODD):
        if ours(f"k: {text}\n") is not None:
            readable.append(f"k{number}: {text}")
        else:
            file.write_text(f"k: {text}\n", encoding="utf-8")
            assert seen(chart, [file]) is None, f"helm reads {text!r}, we refuse it"
    file.write_text("\n".join(readable) + "\n", encoding="utf-8")
    theirs = seen(chart, [file])
    assert theirs is not None
    mine = parse(file.read_text(encoding="utf-8"), name="r").data
    different = {
        ODD[int(key[1:])]: (mine[key], theirs.get(key)) for key in mine if not same(mine[key], theirs.get(key))
    }
    assert different == {}


@pytest.mark.parametrize(
    "key", ["y", "no", "10", "'11'", "0x10", "plain", "1.5", "2024-01-01", "1e3", "a.b/c", "{{x}}"]
)
def test_keys_are_read_as_helm_reads_them(chart: Path, tmp_path: Path, key: str) -> None:
    file = tmp_path / "values.yaml"
    file.write_text(f"{key}: 1\n", encoding="utf-8")
    assert ours(f"{key}: 1\n") == seen(chart, [file])


@pytest.mark.parametrize(
    "text",
    [
        "a: |\n  x\n\n  y\n",
        "a: >\n  x\n  y\n\n  z\n",
        "a: |-\n  x\n",
        "a: |+\n  x\n\n",
        "a: x\n  y\n",
        'a: "x\\n\\u00e9\\t\\\\"\n',
        "a: 'it''s'\n",
        "a: &x {b: 1}\nc: *x\n",
        "a: &x 1\nb: &x 2\nc: *x\n",
        "a: &x {b: 1, c: 2}\nd: {<<: *x, c: 3}\n",
        "a: {}\nb: []\nc:\n",
        "a:\r\n  b: 1\r\n  c: |\r\n    x\r\n    y\r\n",
        "\ufeffa: 1\n",
        "a: 1\n...\n",
    ],
)
def test_documents_are_read_as_helm_reads_them(chart: Path, tmp_path: Path, text: str) -> None:
    file = tmp_path / "values.yaml"
    file.write_text(text, encoding="utf-8", newline="")
    mine, theirs = ours(text), seen(chart, [file])
    assert same(mine, theirs), (mine, theirs)


def test_every_recipe_shipped_is_read_as_helm_reads_it(chart: Path) -> None:
    files = [file for file in sorted(RECIPES.rglob("*.yaml")) if file.name != "pipeline.yaml"]
    assert files
    for file in files:
        assert same(load(file).data, seen(chart, [file])), file
