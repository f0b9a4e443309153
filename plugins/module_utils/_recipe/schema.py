# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Validate values against `values.schema.json` of the chart; errors have file and line."""

from __future__ import annotations

import re
import typing as t
from collections.abc import Iterator, Mapping, Set

from ansible_collections.mlops.eks.plugins.module_utils._core.bounds import SCHEMA_REFERENCES
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._core.libraries import jsonschema, referencing
from ansible_collections.mlops.eks.plugins.module_utils._core.nearest import did_you_mean
from ansible_collections.mlops.eks.plugins.module_utils._core.text import shown
from ansible_collections.mlops.eks.plugins.module_utils._recipe.layers import Layers, Values
from ansible_collections.mlops.eks.plugins.module_utils._recipe.source import LONGEST_KEY, dotted

# Errors that are shown. More mean that the file is for another chart.
_SHOWN = 5
_TYPES = {
    "object": "a mapping",
    "array": "a list",
    "string": "a string",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}


def validate(values: Values, schema: Mapping[str, t.Any], *, where: Layers, chart: str) -> None:
    """Check `values` (chart defaults included) against `schema`.

    Raises:
        InvalidInputError: for each error its file, line, key and value, and the nearest known key.
    """
    try:
        # An empty registry: the schema of a chart must not cause a request, or read a file.
        errors = list(_bounded()(schema, registry=referencing.Registry()).iter_errors(values))
    except RecursionError:
        message = "its references are circular or nested too deeply"
        raise InvalidInputError(
            f"chart {chart}: its values.schema.json cannot be used: {message}. Correct it."
        ) from None
    except (re.error, jsonschema.exceptions.UnknownType, referencing.exceptions.Unresolvable, _EndlessError) as error:
        raise InvalidInputError(
            f"chart {chart}: its values.schema.json cannot be used: {error}. Correct it."
        ) from error
    problems = sorted({line for error in errors for line in _lines(error, where, schema)})
    if problems:
        more = f" (and {len(problems) - _SHOWN} more)" if len(problems) > _SHOWN else ""
        raise InvalidInputError("; ".join(problems[:_SHOWN]) + more + f" [chart {chart}]", problems=problems)


class _EndlessError(Exception):
    """A schema has more references than `SCHEMA_REFERENCES`."""


def _bounded() -> t.Any:
    """Return a validator that follows at most `SCHEMA_REFERENCES` references."""
    left = iter(range(SCHEMA_REFERENCES))

    def follow(
        validator: t.Any, reference: str, instance: t.Any, schema: t.Any
    ) -> Iterator[jsonschema.ValidationError]:
        if next(left, None) is None:
            raise _EndlessError(f"more than {SCHEMA_REFERENCES} references would have to be followed")
        try:
            yield from jsonschema.Draft7Validator.VALIDATORS["$ref"](validator, reference, instance, schema) or ()
        except referencing.exceptions.Unresolvable:
            # Helm resolves references to other files, and validates the values as well.
            if str(reference).startswith("#"):
                raise

    extend: t.Any = jsonschema.validators.extend
    return extend(jsonschema.Draft7Validator, {"$ref": follow})


def resolve(root: Mapping[str, t.Any], target: str) -> t.Any:
    """Return the target of a `$ref` within the schema `root`; `None` for one in another file."""
    node: t.Any = root if target.startswith("#") else None
    for part in target.lstrip("#").split("/")[1:]:
        node = node.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(node, dict) else None
    return node


def keys_of(schema: Mapping[str, t.Any] | None, group: str) -> Set[str]:
    """Return the keys that a chart's schema lists in a group."""
    rule = _whole(((schema or {}).get("properties") or {}).get(group), schema or {})
    return set(rule.get("properties") or ())


def _lines(error: jsonschema.ValidationError, where: Layers, root: Mapping[str, t.Any]) -> Iterator[str]:
    if error.validator in ("anyOf", "oneOf") and error.context:
        # The error of the deepest branch is clearer than "not valid under any of the given schemas".
        nested = max(error.context, key=lambda branch: len(branch.absolute_path))
        if len(nested.absolute_path) > len(error.absolute_path):
            yield from _lines(nested, where, root)
            return
    path = tuple(error.absolute_path)
    if error.validator == "additionalProperties" and isinstance(error.instance, dict):
        yield from _unknown_keys(error, path, where, root)
        return
    yield f"{where.at(path)}: {dotted(path) or 'the values'}: {_message(error, secret=_is_secret(error, root))}"


def _unknown_keys(
    error: jsonschema.ValidationError, path: tuple[str | int, ...], where: Layers, root: Mapping[str, t.Any]
) -> Iterator[str]:
    properties = t.cast(Mapping[str, t.Any], error.schema).get("properties", {})
    # Do not suggest keys that are listed only to be refused, or that Helm adds.
    known = [
        key for key, rule in properties.items() if key not in ("common", "global") and "const" not in _whole(rule, root)
    ]
    for key in t.cast(Mapping[str, t.Any], error.instance):
        if key in properties:
            continue
        at, named = where.at((*path, key)), shown(dotted((*path, key)), LONGEST_KEY)
        nested = t.cast(t.Any, error.instance)[key]
        misplaced = [name for name in nested if name in known] if isinstance(nested, dict) else []
        if misplaced:
            right = ", ".join(dotted((*path, name)) for name in misplaced)
            yield f"{at}: unknown key {named}. Its content belongs one level up: write {right}."
        else:
            yield f"{at}: unknown key {named}.{did_you_mean(str(key), known)}"


def _whole(rule: t.Any, root: Mapping[str, t.Any]) -> Mapping[str, t.Any]:
    """Return the schema of a key, also where it is a reference; the empty one for `true`, which allows anything."""
    found = resolve(root, str(rule.get("$ref", ""))) or rule if isinstance(rule, dict) else {}
    return found if isinstance(found, dict) else {}


def _is_secret(error: jsonschema.ValidationError, root: Mapping[str, t.Any]) -> bool:
    """Return whether the value, or one that it is a part of, is marked as a secret."""
    node: t.Any = root
    for part in error.absolute_schema_path:
        # The path names no references.
        while isinstance(node, dict) and "$ref" in node:
            node = resolve(root, str(node["$ref"]))
        if isinstance(node, dict) and node.get("writeOnly"):
            return True
        try:
            node = node[part]
        except (KeyError, IndexError, TypeError):
            return False
    return False


def _message(error: jsonschema.ValidationError, *, secret: bool) -> str:
    found = "a secret that is not shown" if secret else shown(error.instance)
    rule = t.cast(t.Any, error.validator_value)
    if error.validator == "type":
        wanted = [rule] if isinstance(rule, str) else list(rule)
        return f"expected {' or '.join(_TYPES.get(one, one) for one in wanted)}, found {found}."
    if error.validator == "enum":
        return f"expected one of {', '.join(map(str, rule))}, found {found}.{_close(error.instance, rule)}"
    if error.validator == "required":
        missing = [key for key in rule if key not in t.cast(t.Any, error.instance)]
        return f"missing {', '.join(map(repr, missing))}."
    if error.validator == "const":
        # Charts of the collection refuse a known mistake this way; the description has the correct key.
        return str(t.cast(Mapping[str, t.Any], error.schema).get("description", f"expected {rule!r}."))
    if error.validator == "pattern":
        return f"found {found}, which does not match {rule!r}."
    return (
        f"{error.message}."
        if len(error.message) < 200 and not secret
        else f"does not satisfy {error.validator} of the schema."
    )


def _close(instance: t.Any, rule: t.Sequence[t.Any]) -> str:
    return did_you_mean(instance, map(str, rule)) if isinstance(instance, str) else ""
