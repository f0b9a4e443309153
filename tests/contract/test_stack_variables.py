"""What preflight knows of the stack's variables is what Terraform declares: names, types and defaults."""

from __future__ import annotations

import json
import re
import typing as t
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.mlops.eks.plugins.module_utils._aws.shape import ANY, FLAG, NUMBER, STACK, TEXT
from ansible_collections.mlops.eks.plugins.module_utils._aws.stack import DEFAULTS

TERRAFORM = Path(__file__).resolve().parents[2] / "terraform"
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\w.-]+|[(){}\[\]=,:]|#[^\n]*')
_SIMPLE = {"string": TEXT, "number": NUMBER, "bool": FLAG}


class Declared(t.NamedTuple):
    """A type, and the default that goes with it."""

    shape: t.Any
    default: t.Any


def declared(directory: Path) -> dict[str, Declared]:
    """The variables of a module by name."""
    found = {}
    for file in sorted(directory.glob("variables*.tf")):
        for name, block in re.findall(r'^variable "(\w+)" \{\n(.*?)^\}', file.read_text(), re.MULTILINE | re.DOTALL):
            kind = re.search(r"^  type += (.*?)(?=^  \w+ +=|^  \w+ \{|\Z)", block, re.MULTILINE | re.DOTALL)
            default = re.search(r"^  default += (.*?)(?=^  \w+ +=|^  \w+ \{|\Z)", block, re.MULTILINE | re.DOTALL)
            assert kind, f"{file}: {name} has no type"
            found[name] = Declared(
                of(tokens(kind[1])).shape,
                merged(of(tokens(kind[1])), literal(tokens(default[1])) if default else None),
            )
    return found


def tokens(text: str) -> list[str]:
    return [token for token in _TOKEN.findall(text) if not token.startswith("#")][::-1]


def of(rest: list[str]) -> Declared:
    """A type expression, taken off the end of reversed tokens; the default is that of its attributes."""
    word = rest.pop()
    if word in _SIMPLE:
        return Declared(_SIMPLE[word], None)
    assert rest.pop() == "("
    if word == "object":
        inner = attributes(rest)
        found = Declared(
            {k: v.shape for k, v in inner.items()}, {k: v.default for k, v in inner.items() if v.default is not None}
        )
    elif word == "optional":
        found = of(rest)
        if rest[-1] == ",":
            rest.pop()
            found = Declared(found.shape, merged(found, literal(rest)))
    else:
        inside = of(rest).shape
        found = Declared({ANY: inside} if word == "map" else [inside], None)
    assert rest.pop() == ")", word
    return found


def attributes(rest: list[str]) -> dict[str, Declared]:
    assert rest.pop() == "{"
    found = {}
    while (name := rest.pop()) != "}":
        assert rest.pop() == "="
        found[name] = of(rest)
        if rest[-1] == ",":
            rest.pop()
    return found


def literal(rest: list[str]) -> t.Any:
    word = rest.pop()
    if word == "{":
        found = {}
        while (name := rest.pop()) != "}":
            rest.pop()
            found[name] = literal(rest)
        return found
    if word == "[":
        entries = []
        while rest[-1] != "]":
            entries.append(literal(rest))
            if rest[-1] == ",":
                rest.pop()
        rest.pop()
        return entries
    return json.loads(word)


def merged(kind: Declared, default: t.Any) -> t.Any:
    """A default completed by the defaults of the type's attributes."""
    if isinstance(default, dict) and isinstance(kind.default, dict):
        return {**kind.default, **default}
    return default


def differences(known: t.Any, there: t.Any, where: str) -> Iterator[str]:
    if isinstance(known, dict) and isinstance(there, dict):
        for key in sorted(known.keys() ^ there.keys()):
            yield f"{where}.{key} is {'not in Terraform' if key in known else 'not known'}"
        for key in known.keys() & there.keys():
            yield from differences(known[key], there[key], f"{where}.{key}")
    elif isinstance(known, list) and isinstance(there, list):
        yield from differences(known[0], there[0], f"{where}[]")
    elif known != there:
        yield f"{where} is {known}, in Terraform {there}"


def test_the_shape_is_what_the_stack_declares() -> None:
    there = {name: entry.shape for name, entry in declared(TERRAFORM / "stacks" / "cluster").items()}
    assert list(differences(STACK, there, "variables")) == []


@pytest.mark.parametrize("module", DEFAULTS)
def test_defaults_are_those_of_the_modules(module: str) -> None:
    there = declared(TERRAFORM / "modules" / module)
    for name, default in DEFAULTS[module].items():
        found = there[name].default
        assert (found if not isinstance(default, dict) else {key: found[key] for key in default}) == default, name
