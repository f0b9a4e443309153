# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Recipe layers merged as Helm merges `-f` files: mappings deeply, everything else by replacement."""

from __future__ import annotations

import copy
import typing as t
from collections.abc import Sequence
from dataclasses import dataclass

from ansible_collections.mlops.eks.plugins.module_utils._recipe.source import KeyPath, Source

Values = dict[str, t.Any]


def merge(base: Values, over: Values) -> Values:
    """Return `base` with `over` on top; `None` is kept, because only chart defaults are deleted by it."""
    merged = dict(base)
    for key, value in over.items():
        below = merged.get(key)
        merged[key] = merge(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
    return merged


def coalesce(defaults: Values, given: Values) -> Values:
    """Return what the chart sees: its `defaults` under the `given` values, where a given `None` deletes the key.

    Source: helm `pkg/chart/common/util/coalesce.go`.
    """
    seen = copy.deepcopy(defaults)
    for key, value in given.items():
        if value is None:
            seen.pop(key, None)
        elif isinstance(value, dict):
            below = seen.get(key)
            seen[key] = coalesce(below if isinstance(below, dict) else {}, value)
        else:
            seen[key] = copy.deepcopy(value)
    return seen


@dataclass(frozen=True, kw_only=True)
class Layers:
    """The ordered sources of one step's values; later wins."""

    sources: tuple[Source, ...]

    @property
    def values(self) -> Values:
        """The merged values, chart defaults not included."""
        merged: Values = {}
        for source in self.sources:
            merged = merge(merged, source.data)
        return merged

    def at(self, path: KeyPath) -> str:
        """Return `file:line` of the value at `path` in the layer that decides it."""
        for source in reversed(self.sources):
            if path in source.lines:
                return source.at(path)
        for source in reversed(self.sources):
            if path[:1] in source.lines:
                return source.at(path)
        return self.sources[-1].name if self.sources else "values"


def layers(sources: Sequence[Source]) -> Layers:
    """Return the layers of one step."""
    return Layers(sources=tuple(sources))
