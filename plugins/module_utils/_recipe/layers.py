# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Merge recipe layers as Helm merges `-f` files: mappings deeply, all other values are replaced."""

from __future__ import annotations

import copy
import typing as t
from collections.abc import Sequence, Set
from dataclasses import dataclass

from ansible_collections.mlops.eks.plugins.module_utils._recipe.source import KeyPath, Source

Values = dict[str, t.Any]


def merge(base: Values, over: Values) -> Values:
    """Return `base` with `over` on top. `None` is kept, as it deletes chart defaults only."""
    merged = dict(base)
    for key, value in over.items():
        below = merged.get(key)
        merged[key] = merge(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
    return merged


def coalesce(defaults: Values, given: Values) -> Values:
    """Return the values that templates see: `given` over `defaults`, where a `None` in `given` deletes a default.

    A `None` without a default stays. A `None` in the defaults counts as absent, except at the top level.
    Source: helm `pkg/chart/common/util/coalesce.go`; tests/unit compares with helm.
    """
    kept = {key: value for key, value in given.items() if value is not None or key not in defaults}
    return _under(_without_none(defaults), kept, dropped=given.keys() - kept.keys())


def _under(defaults: Values, given: Values, dropped: Set[str] = frozenset()) -> Values:
    seen = {key: value for key, value in defaults.items() if key not in given and key not in dropped}
    for key, value in given.items():
        below = defaults.get(key)
        if isinstance(value, dict) and isinstance(below, dict):
            seen[key] = _under(below, value)
        elif value is not None or key not in defaults:
            seen[key] = copy.deepcopy(value)
    return seen


def _without_none(defaults: Values) -> Values:
    """Return a copy without the keys whose value is `None`, in mappings at any depth."""
    return {
        key: _without_none(value) if isinstance(value, dict) else copy.deepcopy(value)
        for key, value in defaults.items()
        if value is not None
    }


@dataclass(frozen=True, kw_only=True)
class Layers:
    """The ordered sources of one step's values; later ones override earlier ones."""

    sources: tuple[Source, ...]

    @property
    def values(self) -> Values:
        """The merged values, chart defaults not included."""
        merged: Values = {}
        for source in self.sources:
            merged = merge(merged, source.data)
        return merged

    def at(self, path: KeyPath) -> str:
        """Return `file:line` of the value at `path` in the layer that sets it."""
        for source in reversed(self.sources):
            if path and _has(source.data, path):
                return source.at(path)
        # It is a default of the chart, or missing: the layer with the longest part of the path, preferably a file.
        nearest = max(reversed(self.sources), key=lambda one: (_depth(one.data, path), bool(one.lines)), default=None)
        return nearest.at(path) if nearest else "values"


def _depth(data: t.Any, path: KeyPath) -> int:
    """Return how many parts of `path` exist in `data`."""
    for depth, part in enumerate(path):
        inside = isinstance(data, list) and isinstance(part, int) and part < len(data)
        if not inside and not (isinstance(data, dict) and part in data):
            return depth
        data = data[part]
    return len(path)


def _has(data: t.Any, path: KeyPath) -> bool:
    return _depth(data, path) == len(path)


def layers(sources: Sequence[Source]) -> Layers:
    """Return the layers of one step."""
    return Layers(sources=tuple(sources))
