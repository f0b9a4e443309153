# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Read YAML files with the line of every value, for error messages."""

from __future__ import annotations

import json
import typing as t
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._core.libraries import yaml
from ansible_collections.mlops.eks.plugins.module_utils._core.scalars import TAG
from ansible_collections.mlops.eks.plugins.module_utils._core.text import shown
from ansible_collections.mlops.eks.plugins.module_utils._recipe.reader import DEEPEST, LARGEST, Nodes, nodes

KeyPath = tuple[str | int, ...]
# Characters shown of a key.
LONGEST_KEY = 120


def dotted(path: KeyPath) -> str:
    """Return a key path for a message, such as `env[0].name`. A long or unprintable key is quoted."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            name = part if part.isprintable() and len(part) <= LONGEST_KEY else shown(part)
            text += f".{name}" if text else name
    return text


def strings(value: t.Any, path: KeyPath = (), *, keys: bool = False) -> Iterator[tuple[KeyPath, str]]:
    """Yield every string in `value` with its path; with `keys`, the keys of mappings too."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if keys:
                yield (*path, key), str(key)
            yield from strings(inner, (*path, key), keys=keys)
    elif isinstance(value, (list, tuple)):
        for index, inner in enumerate(value):
            yield from strings(inner, (*path, index), keys=keys)


@dataclass(frozen=True, kw_only=True)
class Source:
    """One YAML mapping and the line of each of its values.

    `lines` maps a key path such as `("train", "env", 0, "name")` to its 1-based line; the root is `()`.
    """

    name: str
    data: dict[str, t.Any]
    lines: dict[KeyPath, int] = field(default_factory=dict)

    def at(self, path: KeyPath) -> str:
        """Return `file:line` of the value at `path`, or of its nearest parent in the file."""
        while path and path not in self.lines:
            path = path[:-1]
        line = self.lines.get(path)
        return self.name if line is None else f"{self.name}:{line}"

    @contextmanager
    def errors_at(self, path: KeyPath, *, key: str = "") -> Iterator[None]:
        """Prefix an `InvalidInputError` of the block with `file:line` of the value at `path`, and with `key`."""
        try:
            yield
        except InvalidInputError as error:
            message = f"{key}: {error}" if key else str(error)
            raise InvalidInputError(f"{self.at(path)}: {message}", **error.details) from error

    def below(self, path: KeyPath) -> Source:
        """Return the mapping at `path` as a source, with the same file and lines."""
        data: t.Any = self.data
        for part in path:
            data = data[part]
        lines = {key[len(path) :]: line for key, line in self.lines.items() if key[: len(path)] == path}
        return Source(name=self.name, data=data, lines=lines)


def inline(name: str, data: Mapping[str, t.Any]) -> Source:
    """Return the values of the option `name` as a source, with the bounds of a file.

    Raises:
        InvalidInputError: they are too large, or nested too deeply.
    """
    try:
        length = len(json.dumps(data, default=str))
    except (RecursionError, ValueError):
        length = -1
    if length > LARGEST:
        raise InvalidInputError(f"{name}: larger than {LARGEST >> 20} MiB. Large data belongs on /fsx or /efs.")
    if length < 0 or _deeper(data, DEEPEST):
        raise InvalidInputError(f"{name}: values are nested more than {DEEPEST} levels deep. Make them flatter.")
    return Source(name=name, data=dict(data))


def _deeper(value: t.Any, levels: int) -> bool:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return levels < 0 or any(_deeper(one, levels - 1) for one in inside)


def load(path: Path, *, called: str | None = None, empty: bool = False) -> Source:
    """Read one YAML mapping; with `empty`, an empty file is an empty mapping.

    Raises:
        InvalidInputError: the file is missing, unreadable, too large, empty, not YAML, not a mapping, or has a key
            twice.
    """
    name = called or str(path)
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except FileNotFoundError:
        raise InvalidInputError(
            f"{name}: no such file. Check the path; relative paths start at {Path.cwd()}."
        ) from None
    except (OSError, ValueError) as error:
        raise InvalidInputError(f"{name}: cannot be read: {error}.") from error
    if len(data) > LARGEST:
        raise InvalidInputError(
            f"{name}: it is larger than {LARGEST >> 20} MiB. Is it the right file? Large data belongs on /fsx or /efs."
        )
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidInputError(f"{name}:{line}: cannot be read as text: {error}. Save it as UTF-8.") from error
    return parse(text, name=name, empty=empty)


def parse(text: str, *, name: str, empty: bool = False) -> Source:
    """Read one YAML mapping from `text`; errors as `load`."""
    _refuse_control_characters(text, name)
    reader = nodes(text, name)
    try:
        node = reader.get_single_node()
        if node is None and empty:
            return Source(name=name, data={})
        if node is None:
            raise InvalidInputError(f"{name}: the file is empty. It must hold a YAML mapping of values.")
        if not isinstance(node, yaml.MappingNode):
            kind = "a list" if isinstance(node, yaml.SequenceNode) else "a single value"
            raise reader.refusal(node, f"found {kind} where a YAML mapping (key: value) must stand.")
        lines: dict[KeyPath, int] = {}
        _walk(reader, node, (), lines)
        return Source(name=name, data=reader.construct_document(node), lines=lines)
    except yaml.MarkedYAMLError as error:
        raise InvalidInputError(_explain(error, name)) from error
    except ValueError as error:
        # An escape beyond Unicode; raised without libyaml only.
        raise InvalidInputError(f"{name}: not readable as YAML: {error}.") from error


def _refuse_control_characters(text: str, name: str) -> None:
    found = yaml.reader.Reader.NON_PRINTABLE.search(text)
    if found:
        before = text[: found.start()]
        where = f"{name}:{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"
        raise InvalidInputError(f"{where}: YAML allows no character U+{ord(found[0]):04X}. Remove it.")


def _explain(error: yaml.MarkedYAMLError, name: str) -> str:
    mark = error.problem_mark or error.context_mark
    where = name if mark is None else f"{name}:{mark.line + 1}:{mark.column + 1}"
    return f"{where}: not valid YAML: {error.problem}. Check indentation, colons and quotes on this line."


def _walk(reader: Nodes, node: yaml.Node, path: KeyPath, lines: dict[KeyPath, int]) -> None:
    """Record the line of every value below `node`, and refuse duplicate keys."""
    lines.setdefault(path, node.start_mark.line + 1)
    if isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            _walk(reader, item, (*path, index), lines)
        return
    if not isinstance(node, yaml.MappingNode):
        return
    seen: dict[str, int] = {}
    for key_node, value_node in node.value:
        key, line = reader.key(key_node), key_node.start_mark.line + 1
        if key in seen and key_node.tag != f"{TAG}merge":
            message = f"key {shown(key)} is already on line {seen[key]}. Keep one of them."
            raise reader.refusal(key_node, message)
        seen[key] = line
        lines.setdefault((*path, key), line)
        _walk(reader, value_node, (*path, key), lines)
