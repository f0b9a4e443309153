# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Wait expressions: `condition=Ready` and `jsonpath={.status.phase}=Done`, as in `kubectl wait --for`."""

from __future__ import annotations

import operator
import re
import typing as t
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document

_CONDITION = re.compile(r"condition=(?P<type>[^=]+)(?:=(?P<value>.+))?")
_JSONPATH = re.compile(r"jsonpath='?\{(?P<path>.+?)\}'?(?:==?(?P<value>.+))?")
_KEY = r"(?:[\w/:-]|\\.)+"
_COMPARE = "[=!<>]=|<|>"
_OPERAND = r'"[^"]*"' + r"|'[^']*'|[\w.-]+"
_PART = re.compile(
    rf"""\.?(?P<key>{_KEY})
      | \[(?P<index>-?\d+)\]
      | \[(?P<quote>['"])(?P<quoted>.+?)(?P=quote)\]
      | \[\?\(@(?P<inner>(?:\.{_KEY})+)\s*(?:(?P<compare>{_COMPARE})\s*(?P<operand>{_OPERAND}))?\s*\)\]""",
    re.VERBOSE,
)
_COMPARISONS: Mapping[str, Callable[[t.Any, t.Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True, kw_only=True)
class Filter:
    """`[?(@.type=="Ready")]`: the entries of a list that satisfy the comparison, or without one, have the key."""

    path: Path
    compare: str = ""
    operand: str = ""

    def keeps(self, entry: t.Any) -> bool:
        """Return whether the filter keeps this entry of the list."""
        found = lookup(entry, self.path)
        if not self.compare or not found:
            return bool(found)
        left, right = _text(found[0]), self.operand
        if self.compare in ("==", "!="):
            return _COMPARISONS[self.compare](left, right)
        try:
            return _COMPARISONS[self.compare](float(left), float(right))
        except ValueError:
            return False


Path = tuple[str | int | Filter, ...]


@dataclass(frozen=True, kw_only=True)
class Expression:
    """A condition on one object; see `holds`."""

    text: str
    condition: str | None = None
    path: Path = ()
    value: str | None = None

    def holds(self, entry: Document) -> bool:
        """Return whether the object satisfies the expression."""
        if self.condition is not None:
            found = condition(entry, self.condition)
            if found is None or _stale(entry, found):
                return False
            return str(found.get("status", "")).lower() == (self.value or "true").lower()
        # A filter may keep several values, which kubectl refuses; here each of them must be equal.
        values = lookup(entry, self.path)
        return bool(values) and (self.value is None or {_text(one) for one in values} == {_unquoted(self.value)})


def parse(text: str) -> Expression:
    """Parse a wait expression.

    Raises:
        InvalidInputError: it is neither form.
    """
    if match := _CONDITION.fullmatch(text.strip()):
        return Expression(text=text, condition=match["type"], value=match["value"])
    match = _JSONPATH.fullmatch(text.strip())
    path = _path(match["path"]) if match else None
    if match and path:
        return Expression(text=text, path=path, value=match["value"])
    raise InvalidInputError(
        f"{text!r} is no wait expression: write condition=TYPE[=VALUE] or jsonpath={{.status.phase}}=VALUE, "
        'the path made of keys, [indices] and filters such as [?(@.type=="Ready")].'
    )


def _path(text: str) -> Path | None:
    """Return the parts of a path, `None` when a part is malformed."""
    parts: list[str | int | Filter] = []
    at = 0
    while match := _PART.match(text, at):
        parts.append(_part(match))
        at = match.end()
    return tuple(parts) if at == len(text) else None


def _part(match: re.Match[str]) -> str | int | Filter:
    if match["index"]:
        return int(match["index"])
    if match["inner"]:
        return Filter(
            path=_path(match["inner"]) or (),
            compare=match["compare"] or "",
            operand=_unquoted(match["operand"] or ""),
        )
    return match["quoted"] or re.sub(r"\\(.)", r"\1", match["key"])


def _unquoted(text: str) -> str:
    return text.strip("'\"")


def _stale(entry: Document, found: Document) -> bool:
    """Return whether the condition is of an earlier generation of the object, as in kubectl."""
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


def lookup(entry: t.Any, path: Path) -> list[t.Any]:
    """Return the values at `path`: none when a part is missing, several where a filter keeps several."""
    found = [entry]
    for part in path:
        found = [inner for outer in found for inner in _step(outer, part) if inner is not None]
    return found


def _step(entry: t.Any, part: str | int | Filter) -> list[t.Any]:
    if isinstance(part, str):
        return [entry.get(part)] if isinstance(entry, dict) else []
    if not isinstance(entry, list):
        return []
    if isinstance(part, int):
        return [entry[part]] if -len(entry) <= part < len(entry) else []
    return [one for one in entry if part.keeps(one)]


def _text(value: t.Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
