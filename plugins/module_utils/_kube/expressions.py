# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""`condition=Ready` and `jsonpath={.status.phase}=Done`, spelled as in `kubectl wait --for`."""

from __future__ import annotations

import re
import typing as t
from dataclasses import dataclass

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document

_CONDITION = re.compile(r"condition=(?P<type>[^=]+)(?:=(?P<value>.+))?")
_JSONPATH = re.compile(r"jsonpath='?\{\.?(?P<path>[^.}][^}]*)\}'?(?:==?(?P<value>.+))?")
_PART = re.compile(r"\.?((?:[\w/:-]|\\.)+)|\[(\d+)\]|\['([^']+)'\]")


@dataclass(frozen=True, kw_only=True)
class Expression:
    """A question about one object, answered by `holds`."""

    text: str
    condition: str | None = None
    path: tuple[str | int, ...] = ()
    value: str | None = None

    def holds(self, entry: Document) -> bool:
        """Return whether the object satisfies the expression."""
        if self.condition is not None:
            found = condition(entry, self.condition)
            if found is None or _stale(entry, found):
                return False
            return str(found.get("status", "")).lower() == (self.value or "true").lower()
        at = lookup(entry, self.path)
        if self.value is None:
            return at is not None
        return at is not None and _text(at) == self.value.strip("'\"")


def parse(text: str) -> Expression:
    """Return the expression that `text` spells.

    Raises:
        InvalidInputError: it is neither form.
    """
    if match := _CONDITION.fullmatch(text.strip()):
        return Expression(text=text, condition=match["type"], value=match["value"])
    match = _JSONPATH.fullmatch(text.strip())
    # Anything beyond keys and indices, such as a filter, would be a question that never comes true.
    if match and re.fullmatch(f"(?:{_PART.pattern})+", match["path"]):
        parts = [int(index) if index else key or quoted for key, index, quoted in _PART.findall(match["path"])]
        path = tuple(re.sub(r"\\(.)", r"\1", part) if isinstance(part, str) else part for part in parts)
        return Expression(text=text, path=path, value=match["value"])
    raise InvalidInputError(
        f"{text!r} is no wait expression: write condition=TYPE[=VALUE] or jsonpath={{.status.phase}}=VALUE, "
        "the path made of keys and [indices]."
    )


def _stale(entry: Document, found: Document) -> bool:
    """Return whether the condition speaks of an earlier generation of the object, as kubectl asks too."""
    seen = found.get("observedGeneration") or (entry.get("status") or {}).get("observedGeneration")
    return seen is not None and int(seen) < int(entry["metadata"].get("generation") or 0)


def condition(entry: Document, kind: str) -> Document | None:
    """Return the condition of type `kind` (case does not matter, as in kubectl), or `None`."""
    for found in (entry.get("status") or {}).get("conditions") or []:
        if str(found.get("type", "")).lower() == kind.lower():
            return t.cast(Document, found)
    return None


def is_true(entry: Document, kind: str) -> bool:
    """Return whether condition `kind` is True."""
    found = condition(entry, kind)
    return found is not None and found.get("status") == "True"


def lookup(entry: t.Any, path: tuple[str | int, ...]) -> t.Any:
    """Return the value at `path`, or `None` when any part is missing."""
    for part in path:
        if isinstance(part, int):
            entry = entry[part] if isinstance(entry, list) and part < len(entry) else None
        else:
            entry = entry.get(part) if isinstance(entry, dict) else None
        if entry is None:
            return None
    return entry


def _text(value: t.Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
