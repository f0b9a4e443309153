# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Compose YAML text into nodes with line numbers, with bounds on size and depth.

Without bounds, a few lines of nested aliases expand to billions of values, and nested brackets overflow the stack.
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

# Characters of a file, and of a document with its aliases expanded: the size limit of a Kubernetes object.
LARGEST = 1 << 20
# Size of a value in addition to its characters.
_EACH = 16
# Levels of nested mappings and lists; Kubernetes objects have fewer than 20.
DEEPEST = 64


class Extent(t.NamedTuple):
    """Size of a value with its aliases expanded: characters, and levels below it."""

    size: int
    height: int


class Nodes(HelmConstructor, Composer):
    """Composes events into nodes, and nodes into the values that Helm sees. `name` is the file name for messages."""

    name = ""
    # Provided by the scanner.
    peek_event: Callable[[], yaml.Event]

    def __init__(self) -> None:
        self._extents: dict[yaml.Node, Extent] = {}
        self._depth = 0

    def compose_node(self, parent: yaml.Node | None, index: t.Any) -> yaml.Node | None:
        """Return the next node; raise an error if the document becomes too large."""
        event = self.peek_event()
        self._check(Extent(0, self._depth), event)
        if not isinstance(event, yaml.AliasEvent):
            # An anchor may be redefined.
            self.anchors.pop(getattr(event, "anchor", None), None)
        self._depth += 1
        node = super().compose_node(parent, index)
        self._depth -= 1
        if node is not None and not isinstance(event, yaml.AliasEvent):
            self._extents[node] = self._extent(node)
        if node is not None and node not in self._extents:
            raise self.refusal(event, "an alias is inside the value that it refers to. Write out the value.")
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
            message = f"with its aliases expanded it is larger than {LARGEST >> 20} MiB. Use fewer aliases."
            raise self.refusal(event, message)
        if extent.height > DEEPEST:
            raise self.refusal(event, f"values are nested more than {DEEPEST} levels deep. Make them flatter.")

    def refusal(self, place: yaml.Event | yaml.Node, message: str) -> InvalidInputError:
        """Return an error at the line of `place`."""
        mark = t.cast(yaml.Mark, place.start_mark)
        return InvalidInputError(f"{self.name}:{mark.line + 1}: {message}")

    def key(self, node: yaml.Node) -> str:
        """Return a key as text."""
        if not isinstance(node, yaml.ScalarNode):
            raise yaml.MarkedYAMLError(None, None, "found a mapping or a list as a key", node.start_mark)
        key = self.construct_object(node)
        if key is None:
            raise self.refusal(node, "a key is null. Quote it, or remove the line.")
        return key_text(key)


def nodes(text: str, name: str) -> Nodes:
    """Return the reader of the only document in `text`."""
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
