"""Arguments of a task: what Ansible's YAML reader makes, and what Helm is to see."""

from __future__ import annotations

import datetime
import typing as t
from pathlib import Path

import pytest
from ansible.parsing.dataloader import DataLoader
from fakes.helm import mirror, same, seen

from ansible_collections.mlops.eks.plugins.module_utils._core.arguments import plain_arguments
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._core.files import to_json

BIG = 10**5000
READ_ALIKE = """
date: 2026-11-22
dates: [2026-11-22, "2026-11-22"]
2026-11-23: key
2: number
true: truth
large: 18446744073709551616
least: -9223372036854775808
text: {nested: 1.5, none: null}
"""


def test_the_same_as_helm_reads_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "by-hand.yaml").write_text(READ_ALIKE, encoding="utf-8")
    found = plain_arguments(DataLoader().load(READ_ALIKE))
    (tmp_path / "ours.yaml").write_text(to_json(found), encoding="utf-8")
    chart = mirror(tmp_path, {})
    by_hand = seen(chart, [tmp_path / "by-hand.yaml"])
    assert by_hand is not None
    assert by_hand["date"] == "2026-11-22"
    assert same(seen(chart, [tmp_path / "ours.yaml"]), by_hand)


def test_nothing_of_ansible_is_left() -> None:
    found = plain_arguments(DataLoader().load("a: text\nb: [1, 2.5, yes, null]\nc: {d: e}\n"))
    assert found == {"a": "text", "b": [1, 2.5, True, None], "c": {"d": "e"}}
    assert {type(value) for value in (found, *found, *found.values(), *found["b"])} == {
        dict, list, str, int, float, bool, type(None)
    }  # fmt: skip


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (datetime.datetime(2026, 11, 22, 10, tzinfo=datetime.UTC), "2026-11-22T10:00:00+00:00"),
        ({"b", "a"}, ["a", "b"]),
        (("a", 1), ["a", 1]),
        (2**64, float(2**64)),
        ({1.0: "whole", 1.5: "part", False: "no"}, {"1": "whole", "1.5": "part", "false": "no"}),
    ],
)
def test_what_json_lacks_becomes_what_is_nearest(value: t.Any, plain: t.Any) -> None:
    found = plain_arguments({"values": value})["values"]
    assert (found, type(found)) == (plain, type(plain))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (b"\xff", "values.key: a value of type bytes cannot be used. Write it as text, in quotes."),
        (float("nan"), "values.key: nan is not a number that Helm or JSON has."),
        (float("-inf"), "values.key: -inf is not a number"),
        ([1, BIG], "values.key[1]: inf is not a number"),
        ({None: 1}, "values.key: a key is null. Quote it, or remove the line."),
        ({1: "a", "1": "b"}, "values.key.1: two keys become '1' as text. Keep one of them."),
        ({b"k": 1}, "values.key: a value of type bytes cannot be used"),
        (object(), "values.key: a value of type object cannot be used"),
    ],
)
def test_what_has_no_meaning_is_refused_by_name(value: t.Any, words: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        plain_arguments({"values": {"key": value}})
    assert str(caught.value).startswith(words)
