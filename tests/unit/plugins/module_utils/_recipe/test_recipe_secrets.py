"""Secrets among values: found by the schema at any depth, and replaced by references."""

from __future__ import annotations

import json
import typing as t
from pathlib import Path

import pytest
from fakes.helm import mirror, seen

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._recipe.chart import CATALOGUE, Chart, find
from ansible_collections.mlops.eks.plugins.module_utils._recipe.layers import Values, coalesce, layers, merge
from ansible_collections.mlops.eks.plugins.module_utils._recipe.marked_secrets import (
    SplitValues,
    require_references,
    split_secrets,
)
from ansible_collections.mlops.eks.plugins.module_utils._recipe.schema import resolve, validate
from ansible_collections.mlops.eks.plugins.module_utils._recipe.source import Source

MARKED = {"type": ["string", "object"], "writeOnly": True}
NAMES = sorted(str(path.parent.relative_to(CATALOGUE)) for path in CATALOGUE.glob("*/*/Chart.yaml"))


def chart(schema: t.Any, defaults: Values | None = None) -> Chart:
    return Chart(
        ref="team/app",
        path=Path("/nowhere"),
        name="app",
        version="1",
        digest="0",
        serves=False,
        defaults=defaults or {},
        schema=schema,
    )


def split(schema: t.Any, values: Values) -> SplitValues:
    return split_secrets(layers([Source(name="values", data=values)]), chart(schema), "app-secrets")


def ref(key: str) -> Values:
    return {"secretKeyRef": {"name": "app-secrets", "key": key}}


@pytest.mark.parametrize(
    ("schema", "values", "left", "secrets"),
    [
        ({"properties": {"a": MARKED}}, {"a": "s", "b": "t"}, {"a": ref("a"), "b": "t"}, {"a": "s"}),
        (
            {"properties": {"a": {"properties": {"b": MARKED}}}},
            {"a": {"b": "s", "c": 1}},
            {"a": {"b": ref("a.b"), "c": 1}},
            {"a.b": "s"},
        ),
        (
            {"properties": {"a": {"items": {"properties": {"b": MARKED}}}}},
            {"a": [{"b": "s"}, {"c": 1}, {"b": "t"}]},
            {"a": [{"b": ref("a.0.b")}, {"c": 1}, {"b": ref("a.2.b")}]},
            {"a.0.b": "s", "a.2.b": "t"},
        ),
        ({"additionalProperties": MARKED}, {"x/y": "s"}, {"x/y": ref("x_y")}, {"x_y": "s"}),
        ({"additionalProperties": MARKED}, {"a b": "s", "a/b": "t"}, {"a b": ref("a_b"), "a/b": ref("a_b_")}, None),
        ({"patternProperties": {"_token$": MARKED}}, {"hf_token": "s"}, {"hf_token": ref("hf_token")}, None),
        (
            {"properties": {"a": {"$ref": "#/definitions/s~1t"}}, "definitions": {"s/t": MARKED}},
            {"a": "s"},
            {"a": ref("a")},
            {"a": "s"},
        ),
        ({"allOf": [{"properties": {"a": {"anyOf": [{}, MARKED]}}}]}, {"a": "s"}, {"a": ref("a")}, {"a": "s"}),
        # All that is in a marked mapping or list.
        (
            {"properties": {"a": {"writeOnly": True}}},
            {"a": {"b": ["s", True]}},
            {"a": {"b": [ref("a.b.0"), True]}},
            None,
        ),
        # Endless, if one followed it.
        ({"$ref": "#", "properties": {"a": {"$ref": "#"}}}, {"a": {"a": "s"}}, {"a": {"a": "s"}}, {}),
        ({"properties": {"a": MARKED}}, {"a": ""}, {"a": ""}, {}),
        ({"properties": {"a": MARKED}}, {"a": None}, {"a": None}, {}),
        ({"properties": {"a": {"writeOnly": False}}}, {"a": "s"}, {"a": "s"}, {}),
        (None, {"a": "s"}, {"a": "s"}, {}),
    ],
)
def test_secrets_are_replaced(schema: t.Any, values: Values, left: Values, secrets: dict[str, str] | None) -> None:
    found = split(schema, values)
    assert found.values == left
    assert merge(values, found.overlay) == left
    assert secrets in (None, found.secrets)


def test_nothing_is_laid_over_values_without_a_secret() -> None:
    found = split({"properties": {"a": MARKED}}, {"b": {"c": [1]}})
    assert (found.overlay, found.secrets, found.references) == ({}, {}, ())


def test_what_is_a_reference_already_stays_and_is_known() -> None:
    mine = {"secretKeyRef": {"name": "mine", "key": "token"}}
    optional = {"secretKeyRef": {"name": "mine", "key": "token", "optional": True}}
    found = split({"properties": {"a": MARKED, "b": MARKED}}, {"a": mine, "b": optional["secretKeyRef"]})
    assert found.references == (("a", "mine", "token"),)
    assert found.values["a"] == mine


def test_a_secret_is_no_number() -> None:
    with pytest.raises(InvalidInputError, match=r"a\.b: a secret must be text. Write it in quotes") as caught:
        split({"properties": {"a": {"properties": {"b": MARKED}}}}, {"a": {"b": 471100}})
    assert "471100" not in str(caught.value)


def test_a_chart_that_takes_only_text_is_refused() -> None:
    schema = {"properties": {"auth": {"properties": {"password": {"type": "string", "writeOnly": True}}}}}
    found = split(schema, {"auth": {"password": "hunter22"}})
    with pytest.raises(InvalidInputError, match=r"chart team/app: auth.password is marked as a secret") as caught:
        require_references(found, chart(schema))
    assert "hunter22" not in str(caught.value)
    require_references(split(schema, {"auth": {}}), chart(schema))


@pytest.mark.parametrize("rule", [{"pattern": "^hf_"}, {"minLength": 20}, {"type": "integer"}, {"enum": ["a"]}])
def test_a_wrong_secret_is_not_shown(rule: Values) -> None:
    schema = {"properties": {"a": {**MARKED, **rule}}}
    where = layers([Source(name="values", data={"a": "hunter22"})])
    with pytest.raises(InvalidInputError, match=r"a: (does not satisfy|expected|found) ") as caught:
        validate({"a": "hunter22"}, schema, where=where, chart="team/app")
    assert "hunter22" not in str(caught.value)


@pytest.mark.parametrize("name", NAMES)
def test_our_charts_take_references(name: str) -> None:
    found = find(name)
    schema: t.Any = found.schema
    marked = {key: "hunter22" for key, rule in schema["properties"].items() if _whole(schema, rule).get("writeOnly")}
    assert "hf_token" in marked
    done = split_secrets(layers([Source(name="values", data=marked)]), found, "x-secrets")
    assert set(done.secrets) == set(marked)
    require_references(done, found)


def _whole(schema: t.Any, rule: t.Any) -> t.Any:
    return resolve(schema, rule["$ref"]) if "$ref" in rule else rule


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [4711, ["hunter22"], {"hunter": "hunter22"}, {"secretKeyRef": "hunter22"}])
def test_a_wrong_secret_of_our_charts_is_not_shown(name: str, value: t.Any) -> None:
    found, where = find(name), layers([Source(name="values", data={"hf_token": value})])
    with pytest.raises(InvalidInputError) as caught:
        validate(coalesce(found.defaults, where.values), t.cast(t.Any, found.schema), where=where, chart=name)
    assert "hf_token" in str(caught.value)
    assert not any(text in str(caught.value) for text in ("hunter22", "4711"))


def test_helm_sees_the_references(tmp_path: Path) -> None:
    """A recipe is given to Helm as it is: the layer over it must hide every secret of it."""
    schema = {"properties": {"a": MARKED, "b": {"properties": {"c": {"items": MARKED}}}}}
    recipe = {"a": "hunter22", "b": {"c": ["hunter23"], "d": 1}, "e": [1]}
    file, over = tmp_path / "recipe.yaml", tmp_path / "over.json"
    file.write_text(json.dumps(recipe), encoding="utf-8")
    found = split(schema, recipe)
    over.write_text(json.dumps(found.overlay), encoding="utf-8")
    shown = seen(mirror(tmp_path, {"a": ""}), [file, over])
    assert shown == found.values == {"a": ref("a"), "b": {"c": [ref("b.c.0")], "d": 1}, "e": [1]}
