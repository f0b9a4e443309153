# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""YAML text made into nodes that know their lines, within bounds: no document may cost more than a person could write.

A few lines of aliases of aliases stand for billions of values, and brackets in brackets overflow a stack.
"""

from __future__ import annotations

import functools
import typing as t
from collections.abc import Callable

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._core.libraries import yaml
from ansible_collections.mlops.eks.plugins.module_utils._core.scalars import (
    HelmConstructor,
    add_helm_resolvers,
    helm_constructors,
    key_text,
)

if t.TYPE_CHECKING:
    from yaml.composer import Composer
else:
    # The real base is added by `_reader`.
    Composer = object

# Characters of a document with its aliases written out, and of the file. Kubernetes stores no object that is larger.
LARGEST = 1 << 20
# What a value costs beside its characters.
_EACH = 16
# Levels of mappings and lists in each other; Kubernetes' own objects have less than twenty.
DEEPEST = 64


class Extent(t.NamedTuple):
    """How large a value is, aliases written out: characters, and levels below it."""

    size: int
    height: int


class Nodes(HelmConstructor, Composer):
    """Composes events into nodes, and nodes into the values Helm sees. `name` is the file's, for messages."""

    name = ""
    # Of whatever scans.
    peek_event: Callable[[], yaml.Event]

    def __init__(self) -> None:
        self._extents: dict[yaml.Node, Extent] = {}
        self._depth = 0

    def compose_node(self, parent: yaml.Node | None, index: t.Any) -> yaml.Node | None:
        """Return the next node, unless the document becomes too large with it."""
        event = self.peek_event()
        self._check(Extent(0, self._depth), event)
        if not isinstance(event, yaml.AliasEvent):
            # An anchor may be set anew.
            self.anchors.pop(getattr(event, "anchor", None), None)
        self._depth += 1
        node = super().compose_node(parent, index)
        self._depth -= 1
        if node is not None and not isinstance(event, yaml.AliasEvent):
            self._extents[node] = self._extent(node)
        if node is not None and node not in self._extents:
            raise self.refusal(event, "an alias stands inside of what it stands for. Write out what is meant.")
        if node is not None:
            self._check(self._extents[node], event)
        return node

    def _extent(self, node: yaml.Node) -> Extent:
        if isinstance(node, yaml.ScalarNode):
            if any("\ud800" <= char <= "\udfff" for char in node.value if char > "\x7f"):
                raise self.refusal(node, "it has half of a surrogate pair. Write the character itself.")
            return Extent(_EACH + len(node.value), 0)
        pairs = isinstance(node, yaml.MappingNode)
        parts = [part for pair in node.value for part in pair] if pairs else node.value
        inside = [self._extents[part] for part in parts]
        return Extent(_EACH + sum(one.size for one in inside), 1 + max((one.height for one in inside), default=0))

    def _check(self, extent: Extent, event: yaml.Event) -> None:
        if extent.size > LARGEST:
            said = f"with its aliases written out it is larger than {LARGEST >> 20} MiB. Use fewer aliases."
            raise self.refusal(event, said)
        if extent.height > DEEPEST:
            raise self.refusal(event, f"values are nested more than {DEEPEST} levels deep. Make them flatter.")

    def refusal(self, place: yaml.Event | yaml.Node, said: str) -> InvalidInputError:
        """Return the error that something is wrong at a place."""
        mark = t.cast(yaml.Mark, place.start_mark)
        return InvalidInputError(f"{self.name}:{mark.line + 1}: {said}")

    def key(self, node: yaml.Node) -> str:
        """Return a key as the values have it."""
        if not isinstance(node, yaml.ScalarNode):
            raise yaml.MarkedYAMLError(None, None, "found a mapping or a list where a key must stand", node.start_mark)
        key = self.construct_object(node)
        if key is None:
            raise self.refusal(node, "a key is null. Quote it, or remove the line.")
        return key_text(key)


def nodes(text: str, name: str) -> Nodes:
    """Return what composes and constructs the one document of `text`."""
    found = _reader(libyaml=_has_libyaml())(text)
    found.name = name
    return found


def _has_libyaml() -> bool:
    return hasattr(yaml, "CSafeLoader")


@functools.cache
def _reader(*, libyaml: bool) -> Callable[[str], Nodes]:
    """Return the class of readers. libyaml is many times as fast, and Helm's parser was translated from it."""
    given: t.Any = yaml
    plain = (given.reader.Reader, given.scanner.Scanner, given.parser.Parser)
    parsers = (given.cyaml.CParser,) if libyaml else plain
    bases = (Nodes, given.composer.Composer, given.constructor.SafeConstructor, given.resolver.Resolver)

    def begin(self: t.Any, text: str) -> None:
        parsers[0].__init__(self, text)
        for base in (*parsers[1:], *bases):
            base.__init__(self)

    tables = {"yaml_implicit_resolvers": {}, "yaml_constructors": helm_constructors()}
    reader: t.Any = type("Reader", (*bases, *parsers), {"__init__": begin, **tables})
    add_helm_resolvers(reader)
    return t.cast(Callable[[str], Nodes], reader)
