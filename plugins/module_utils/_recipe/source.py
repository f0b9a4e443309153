# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""YAML files read with the line of every value, so that an error can point at it."""

from __future__ import annotations

import json
import math
import re
import typing as t
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError

KeyPath = tuple[str | int, ...]


class _Loader(yaml.SafeLoader):
    """Reads scalars and keys as Helm does: `1e-4` is a number, `12:30:00` and `2024-01-01` are strings, `y` is true.

    Source: sigs.k8s.io/yaml `goyaml.v2/resolve.go`; tests/unit compares with `helm template`.
    """

    # Nothing of YAML 1.1's own idea of scalars, nor of types that JSON lacks.
    yaml_implicit_resolvers = {}  # noqa: RUF012
    yaml_constructors = {  # noqa: RUF012
        tag: build
        for tag, build in yaml.SafeLoader.yaml_constructors.items()
        if tag is None or tag.rpartition(":")[2] in ("null", "bool", "str", "seq", "map")
    }

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[t.Hashable, t.Any]:
        """Return the mapping with string keys, as JSON has them."""
        mapping = super().construct_mapping(node, deep)
        return {key if isinstance(key, str) else _text(key): value for key, value in mapping.items()}

    def construct_number(self, node: yaml.ScalarNode) -> int | float | str:
        """Return an integer where Go's ParseInt with base 0 finds one, else a float; text where it fits in neither."""
        text = str(self.construct_scalar(node)).replace("_", "")
        octal = re.fullmatch(r"([-+]?)0([0-7]+)", text)
        try:
            return int(f"{octal[1]}0o{octal[2]}" if octal else text, 0)
        except ValueError:
            return float(text) if math.isfinite(float(text)) else text

    def construct_text(self, node: yaml.ScalarNode) -> str:
        """Return the scalar as it stands."""
        return str(self.construct_scalar(node))


def _text(key: t.Hashable) -> str:
    """Return a key that is no string as Go writes it: `1e3` is `1000`."""
    return json.dumps(int(key) if isinstance(key, float) and key.is_integer() else key)


_TAG = "tag:yaml.org,2002:"
_WHOLE = r"0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+"
_NUMBER = rf"[-+]?(?:{_WHOLE}|(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)?)"
for _tag, _pattern, _first in (
    ("bool", r"y|Y|yes|Yes|YES|n|N|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF", "yYnNtTfFoO"),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("float", _NUMBER, "-+.0123456789"),
    ("merge", r"<<", "<"),
):
    _Loader.add_implicit_resolver(f"{_TAG}{_tag}", re.compile(f"^(?:{_pattern})$"), list(_first))
_Loader.bool_values = {**yaml.SafeLoader.bool_values, "y": True, "n": False}
_Loader.add_constructor(f"{_TAG}int", _Loader.construct_number)
_Loader.add_constructor(f"{_TAG}float", _Loader.construct_number)
# `<<` merges as a key only; as a value it is text.
_Loader.add_constructor(f"{_TAG}merge", _Loader.construct_text)


@dataclass(frozen=True, kw_only=True)
class Source:
    """One YAML mapping and where each of its values stands.

    `lines` maps a key path such as `("train", "env", 0, "name")` to its 1-based line; the root is `()`.
    """

    name: str
    data: dict[str, t.Any]
    lines: dict[KeyPath, int] = field(default_factory=dict)

    def at(self, path: KeyPath) -> str:
        """Return `file:line` of the value at `path`, or of its nearest parent that the file has."""
        while path and path not in self.lines:
            path = path[:-1]
        line = self.lines.get(path)
        return self.name if line is None else f"{self.name}:{line}"

    def below(self, path: KeyPath) -> Source:
        """Return the mapping at `path` as a source of its own, whose values stand where they stand here."""
        data: t.Any = self.data
        for part in path:
            data = data[part]
        lines = {key[len(path) :]: line for key, line in self.lines.items() if key[: len(path)] == path}
        return Source(name=self.name, data=data, lines=lines)


def load(path: Path, *, shown: str | None = None, empty: bool = False) -> Source:
    """Read one YAML mapping; with `empty`, a file that says nothing is one too.

    Raises:
        InvalidInputError: the file is missing, unreadable, empty, not YAML, not a mapping, or says a key twice.
    """
    name = shown or str(path)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InvalidInputError(
            f"{name}: no such file. Check the path; relative paths start at {Path.cwd()}."
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"{name}: cannot be read as text: {error}.") from error
    return parse(text, name=name, empty=empty)


def parse(text: str, *, name: str, empty: bool = False) -> Source:
    """Read one YAML mapping from `text`; errors as `load`."""
    try:
        # It looks at the characters already here.
        loader = _Loader(text)
        node = loader.get_single_node()
        if node is None and empty:
            return Source(name=name, data={})
        if node is None:
            raise InvalidInputError(f"{name}: the file is empty. It must hold a YAML mapping of values.")
        if not isinstance(node, yaml.MappingNode):
            kind = "a list" if isinstance(node, yaml.SequenceNode) else "a single value"
            raise InvalidInputError(
                f"{name}:{node.start_mark.line + 1}: found {kind} where a YAML mapping (key: value) must stand."
            )
        lines: dict[KeyPath, int] = {}
        _walk(loader, node, (), lines, name)
        return Source(name=name, data=loader.construct_document(node), lines=lines)
    except yaml.YAMLError as error:
        raise InvalidInputError(_explain(error, name)) from error
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"{name}: not readable as YAML: {error}.") from error


def _explain(error: yaml.YAMLError, name: str) -> str:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    where = name if mark is None else f"{name}:{mark.line + 1}:{mark.column + 1}"
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    return f"{where}: not valid YAML: {problem}. Check indentation, colons and quotes on this line."


def _walk(loader: _Loader, node: yaml.Node, path: KeyPath, lines: dict[KeyPath, int], name: str) -> None:
    """Note the line of every value below `node` and refuse keys said twice."""
    lines.setdefault(path, node.start_mark.line + 1)
    if isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            _walk(loader, item, (*path, index), lines, name)
        return
    if not isinstance(node, yaml.MappingNode):
        return
    seen: dict[str, int] = {}
    for key_node, value_node in node.value:
        key, line = str(getattr(key_node, "value", "")), key_node.start_mark.line + 1
        if key in seen and key_node.tag != "tag:yaml.org,2002:merge":
            raise InvalidInputError(f"{name}:{line}: key {key!r} is already on line {seen[key]}. Keep one of them.")
        seen[key] = line
        lines.setdefault((*path, key), line)
        _walk(loader, value_node, (*path, key), lines, name)
