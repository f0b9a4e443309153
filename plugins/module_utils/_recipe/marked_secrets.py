# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Find secrets in the values of a chart by `writeOnly: true` in its schema, and replace them by references.

A reference is `{secretKeyRef: {name: …, key: …}}`, as in the environment of a container.
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
from ansible_collections.mlops.eks.plugins.module_utils._recipe.schema import resolve
from ansible_collections.mlops.eks.plugins.module_utils._recipe.source import KeyPath, dotted

_ILLEGAL = re.compile(r"[^-._a-zA-Z0-9]")
Schema = Mapping[str, t.Any]


@dataclass(frozen=True, kw_only=True)
class SplitValues:
    """Values without secrets, and the secrets.

    `values` holds references in place of secrets; `overlay` holds only the changed values. `secrets` is the content of
    the Secret that the references name. `references` are those of the recipe itself: dotted key, Secret, key.
    """

    values: Values
    overlay: Values = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    references: tuple[tuple[str, str, str], ...] = ()


def split_secrets(layers: Layers, chart: Chart, name: str) -> SplitValues:
    """Replace the secrets in the values of `chart` by references to Secret `name`.

    Raises:
        InvalidInputError: a secret is not text.
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
    """Check that the schema of the chart accepts references in place of secrets.

    Raises:
        InvalidInputError: it accepts only text, which anyone who may read the Helm release could read.
    """
    if not split.secrets or chart.schema is None:
        return
    for error in jsonschema.Draft7Validator(chart.schema).iter_errors(coalesce(chart.defaults, split.values)):
        key = dotted(tuple(error.absolute_path))
        raise InvalidInputError(
            f"chart {chart.ref}: {key} is marked as a secret (writeOnly), but may not be "
            "{secretKeyRef: {name: …, key: …}}: as text it would be readable in the release. Leave it out and name "
            "a Secret by another key of the chart, or let its schema and templates take a reference."
        )


class _Walk:
    """Walks through values and their schemas in parallel."""

    def __init__(self, root: Schema, layers: Layers, name: str) -> None:
        self._root, self._layers, self._name = root, layers, name
        self.secrets: dict[str, str] = {}
        self.references: list[tuple[str, str, str]] = []

    def visit(self, value: t.Any, schemas: list[t.Any], path: KeyPath, *, marked: bool = False) -> t.Any:
        """Return `value` with references; the same object if it holds no secret."""
        found = list(self._all(schemas))
        marked = marked or any(schema.get("writeOnly") is True for schema in found)
        if marked and (reference := _reference(value)):
            self.references.append((_joined(path), *reference))
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
            raise InvalidInputError(
                f"{self._layers.at(path)}: {dotted(path)}: a secret must be text. Write it in quotes."
            )
        key = _ILLEGAL.sub("_", _joined(path)).lstrip(".") or "_"
        while key in self.secrets:
            key += "_"
        self.secrets[key] = value
        return {"secretKeyRef": {"name": self._name, "key": key}}

    def _all(self, schemas: list[t.Any], seen: frozenset[str] = frozenset()) -> Iterator[Schema]:
        """Yield the schemas, and those that they reference or combine."""
        for schema in schemas:
            if not isinstance(schema, dict):
                continue
            yield schema
            target = schema.get("$ref")
            if isinstance(target, str) and target not in seen:
                yield from self._all([resolve(self._root, target)], seen | {target})
            for word in ("allOf", "anyOf", "oneOf"):
                yield from self._all(list(schema.get(word) or ()), seen)
            yield from self._all([schema.get(word) for word in ("then", "else")], seen)


def _under(schemas: list[Schema], key: str) -> list[t.Any]:
    """Return the schemas of the value at `key`."""
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
    # The Secret of an optional reference may be absent.
    return None if ref.get("optional") else (ref["name"], ref["key"])


def _changed(old: Values, new: Values) -> Values:
    """Return the values of `new` that differ from `old`; lists are replaced as a whole."""
    return {
        key: _changed(old[key], value) if isinstance(value, dict) and isinstance(old[key], dict) else value
        for key, value in new.items()
        if value is not old[key]
    }


def _joined(path: KeyPath) -> str:
    return ".".join(map(str, path))
