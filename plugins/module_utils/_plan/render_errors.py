# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Errors of `helm template`, with file, line and key of the recipe value that caused them."""

from __future__ import annotations

import json
import re
import typing as t
from collections.abc import Mapping

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import EksError, InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._recipe.chart import Chart
from ansible_collections.mlops.eks.plugins.module_utils._recipe.layers import Layers
from ansible_collections.mlops.eks.plugins.module_utils._recipe.source import KeyPath, dotted, strings

# Forms of Helm 4.2.4: `fail` and `required`; a value that is evaluated by `tpl`; any other action of a template.
_REFUSED = re.compile(r"execution error at \([^)]*\): (?P<why>.+)")
_EVALUATED = re.compile(
    r"(?:tpl function execution for|cannot parse template) (?P<text>\"(?:[^\"\\]|\\.)*\"): "
    r"template: gotpl:[\d:]+ (?:executing \"gotpl\" at )?(?P<why>.+)"
)
_ACTION = re.compile(
    r"template: (?P<at>[^\s:]+:\d+)[\d:]*: executing \"[^\"]*\" at (?P<why><[^>]*>: (?!error calling).+)"
)
_KEY = re.compile(r"[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*|\[\d+\])*")
_VALUE = re.compile(r"\.Values\.([\w.]+)")


def located(error: EksError, layered: Layers, chart: Chart) -> EksError:
    """Return `error` of `helm template` as one of the recipe: file, line, key and reason.

    The key is that of the value whose template fails, else the first one in the message. Without a key the error names
    the files. An error of another form is returned unchanged.
    """
    text = str(error.details.get("stderr", ""))
    if found := _last(_EVALUATED, text):
        path = next((path for path, value in strings(layered.values) if _quoted(value) == found["text"]), ())
        why = f"the template in this value fails: {found['why']}"
    elif found := _last(_REFUSED, text):
        path, why = _named(found["why"], {**chart.defaults, **layered.values}), found["why"]
    elif found := _last(_ACTION, text):
        path = next((_parts(name) for name in _VALUE.findall(found["why"])), ())
        why = f"{found['at']} fails: {found['why']}"
    else:
        return error
    where = layered.at(path) if path else ", ".join(source.name for source in layered.sources) or "values"
    key = dotted(path)
    message = why if not key or key in why else f"{key}: {why}"
    return InvalidInputError(f"{where}: {message} [chart {chart.ref}]", **error.details)


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Return the innermost of the errors that Helm lists from the outside to the inside."""
    return next(reversed(list(pattern.finditer(text))), None)


def _named(message: str, values: Mapping[str, t.Any]) -> KeyPath:
    """Return the first key of the values in a message; one with several parts takes precedence."""
    names = sorted(_KEY.findall(message), key=lambda name: "." not in name)
    return next((path for path in map(_parts, names) if path[0] in values), ())


def _parts(name: str) -> KeyPath:
    return tuple(int(part) if part.isdigit() else part for part in re.split(r"[.\[\]]+", name) if part)


def _quoted(text: str) -> str:
    """Return a text as Go's `%q` prints it."""
    return json.dumps(text, ensure_ascii=False)
