# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""YAML text made into nodes that know their lines, within bounds: no document may cost more than a person could write.

A few lines of aliases of aliases stand for billions of values, and brackets in brackets overflow a stack.
"""

from __future__ import annotations

import functools
import typing as t
from collections.abc import Callable

import yaml
from yaml.composer import Composer
from yaml.constructor import ConstructorError
from yaml.parser import Parser
from yaml.reader import Reader
from yaml.scanner import Scanner

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._core.scalars import HelmConstructor, HelmResolver, key_text

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


class Nodes(Composer, HelmConstructor, HelmResolver):
    """Composes events into nodes, and nodes into the values Helm sees. `name` is the file's, for messages."""

    name = ""
    # Of whatever scans.
    peek_event: Callable[[], yaml.Event]

    def __init__(self) -> None:
        Composer.__init__(self)
        HelmConstructor.__init__(self)
        HelmResolver.__init__(self)
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
            raise ConstructorError(None, None, "found a mapping or a list where a key must stand", node.start_mark)
        key = self.construct_object(node)
        if key is None:
            raise self.refusal(node, "a key is null. Quote it, or remove the line.")
        return key_text(key)


class _Plain(Nodes, Reader, Scanner, Parser):
    """Scans in Python."""

    def __init__(self, text: str) -> None:
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)
        Nodes.__init__(self)


def nodes(text: str, name: str) -> Nodes:
    """Return what composes and constructs the one document of `text`."""
    found = _quick()(text) if yaml.__with_libyaml__ else _Plain(text)
    found.name = name
    return found


@functools.cache
def _quick() -> Callable[[str], Nodes]:
    """Return a reader on libyaml: many times as fast, with the grammar that Helm's parser was translated from."""
    from yaml._yaml import CParser

    class Quick(Nodes, CParser):
        def __init__(self, text: str) -> None:
            CParser.__init__(self, text)
            Nodes.__init__(self)

    return Quick
