# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Secrets among the values of a chart: found by `writeOnly: true` in its schema, and replaced by references.

A reference is what stands in the environment of a container, `{secretKeyRef: {name: …, key: …}}`.
"""

from __future__ import annotations

import re
import typing as t
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._core.libraries import jsonschema
from ansible_collections.mlops.eks.plugins.module_utils._recipe.chart import Chart
from ansible_collections.mlops.eks.plugins.module_utils._recipe.layers import Layers, Values, coalesce
from ansible_collections.mlops.eks.plugins.module_utils._recipe.source import KeyPath

_ILLEGAL = re.compile(r"[^-._a-zA-Z0-9]")
Schema = Mapping[str, t.Any]


@dataclass(frozen=True, kw_only=True)
class SplitValues:
    """Values and the secrets that were among them.

    `values` has references in their places, `overlay` the same without what needed no change. `secrets` is the content
    of the Secret that these refer to, by its keys; `references` are those that a recipe had itself: the dotted key, and
    name and key of the Secret.
    """

    values: Values
    overlay: Values = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    references: tuple[tuple[str, str, str], ...] = ()


def split_secrets(layers: Layers, chart: Chart, name: str) -> SplitValues:
    """Take the secrets out of the values of `chart`; Secret `name` is to hold them.

    Raises:
        InvalidInputError: a secret is a number.
    """
    values = layers.values
    if chart.schema is None:
        return SplitValues(values=values)
    walk = _Walk(chart.schema, layers, name)
    split = walk.visit(values, [chart.schema], ())
    return SplitValues(
        values=split, overlay=_changed(values, split), secrets=walk.secrets, references=tuple(walk.references)
    )


def require_references(split: SplitValues, chart: Chart) -> None:
    """Make sure that the chart takes a reference where it is to get one.

    Raises:
        InvalidInputError: it takes only text, which everybody could read who may read Helm's release.
    """
    if not split.secrets or chart.schema is None:
        return
    for error in jsonschema.Draft7Validator(chart.schema).iter_errors(coalesce(chart.defaults, split.values)):
        key = ".".join(map(str, error.absolute_path))
        raise InvalidInputError(
            f"chart {chart.ref}: {key} is marked as a secret (writeOnly), but may not be "
            "{secretKeyRef: {name: …, key: …}}: as text it would be readable in the release. Leave it out and name "
            "a Secret by another key of the chart, or let its schema and templates take a reference."
        )


class _Walk:
    """One walk through values and schema side by side."""

    def __init__(self, root: Schema, layers: Layers, name: str) -> None:
        self._root, self._layers, self._name = root, layers, name
        self.secrets: dict[str, str] = {}
        self.references: list[tuple[str, str, str]] = []

    def visit(self, value: t.Any, schemas: list[t.Any], path: KeyPath, *, marked: bool = False) -> t.Any:
        """Return `value`, itself where nothing in it is a secret."""
        found = list(self._all(schemas))
        marked = marked or any(schema.get("writeOnly") is True for schema in found)
        if marked and (reference := _reference(value)):
            self.references.append((_dotted(path), *reference))
            return value
        if isinstance(value, dict):
            pairs = {
                key: self.visit(one, _under(found, key), (*path, key), marked=marked) for key, one in value.items()
            }
            return pairs if any(pairs[key] is not one for key, one in value.items()) else value
        if isinstance(value, list):
            rules = [schema["items"] for schema in found if isinstance(schema.get("items"), dict)]
            items = [self.visit(one, rules, (*path, at), marked=marked) for at, one in enumerate(value)]
            return items if any(one is not before for one, before in zip(items, value, strict=True)) else value
        return self._leaf(value, path) if marked else value

    def _leaf(self, value: t.Any, path: KeyPath) -> t.Any:
        if value is None or value == "" or isinstance(value, bool):
            return value
        if not isinstance(value, str):
            raise InvalidInputError(f"{self._layers.at(path)}: {_dotted(path)}: a secret is text: write it in quotes.")
        key = _ILLEGAL.sub("_", _dotted(path)).lstrip(".") or "_"
        while key in self.secrets:
            key += "_"
        self.secrets[key] = value
        return {"secretKeyRef": {"name": self._name, "key": key}}

    def _all(self, schemas: list[t.Any], seen: frozenset[str] = frozenset()) -> Iterator[Schema]:
        """Yield the schemas, and those that they refer to or are made of."""
        for schema in schemas:
            if not isinstance(schema, dict):
                continue
            yield schema
            target = schema.get("$ref")
            if isinstance(target, str) and target not in seen:
                yield from self._all([self._resolve(target)], seen | {target})
            for word in ("allOf", "anyOf", "oneOf"):
                yield from self._all(list(schema.get(word) or ()), seen)
            yield from self._all([schema.get(word) for word in ("then", "else")], seen)

    def _resolve(self, target: str) -> t.Any:
        """Return what a reference within the schema means; what is elsewhere is not looked for."""
        node: t.Any = self._root if target.startswith("#") else None
        for part in target.lstrip("#").split("/")[1:]:
            node = node.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(node, dict) else None
        return node


def _under(schemas: list[Schema], key: str) -> list[t.Any]:
    """Return the schemas for what stands under `key`."""
    found = []
    for schema in schemas:
        named = [(schema.get("properties") or {}).get(key)]
        named += [rule for form, rule in (schema.get("patternProperties") or {}).items() if re.search(form, key)]
        found += [rule for rule in named if rule is not None] or [schema.get("additionalProperties")]
    return found


def _reference(value: t.Any) -> tuple[str, str] | None:
    ref = value.get("secretKeyRef") if isinstance(value, dict) and len(value) == 1 else None
    if not isinstance(ref, dict) or not all(isinstance(ref.get(one), str) for one in ("name", "key")):
        return None
    # An optional one may be absent.
    return None if ref.get("optional") else (ref["name"], ref["key"])


def _changed(old: Values, new: Values) -> Values:
    """Return what of `new` is to be laid over `old`; lists are replaced whole."""
    return {
        key: _changed(old[key], value) if isinstance(value, dict) and isinstance(old[key], dict) else value
        for key, value in new.items()
        if value is not old[key]
    }


def _dotted(path: KeyPath) -> str:
    return ".".join(map(str, path))
