# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Convert the arguments of a task to the types of JSON, as Helm would read them from a file."""

from __future__ import annotations

import datetime
import math
import typing as t
from collections.abc import Mapping, Set

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._core.scalars import LEAST, MOST, key_text

_Date = (datetime.date, datetime.time)


def plain_arguments(value: t.Any, name: str = "") -> t.Any:
    """Return `value` with the types of JSON only. `name` is its path, for messages.

    A date becomes its text, as Helm reads it and Ansible passes it to a module. A set becomes a list. An integer of
    more than 64 bits becomes a float.

    Raises:
        InvalidInputError: JSON has no such value, or two keys become the same text.
    """
    if isinstance(value, Mapping):
        return _mapping(value, name)
    if isinstance(value, (list, tuple, Set)):
        items = sorted(value, key=str) if isinstance(value, Set) else value
        return [plain_arguments(entry, f"{name}[{index}]") for index, entry in enumerate(items)]
    if isinstance(value, str):
        return str(value)
    if isinstance(value, _Date):
        return value.isoformat()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        return _number(value, name)
    raise InvalidInputError(f"{name}: a value of type {_type(value)} cannot be used. Write it as text, in quotes.")


def _mapping(value: Mapping[t.Any, t.Any], name: str) -> dict[str, t.Any]:
    plain: dict[str, t.Any] = {}
    for key, entry in value.items():
        if key is None:
            raise InvalidInputError(f"{name or 'arguments'}: a key is null. Quote it, or remove the line.")
        text = key_text(plain_arguments(key, name))
        where = f"{name}.{text}" if name else text
        if text in plain:
            raise InvalidInputError(f"{where}: two keys become {text!r} as text. Keep one of them.")
        plain[text] = plain_arguments(entry, where)
    return plain


def _number(value: int | float, name: str) -> int | float:
    if isinstance(value, int) and LEAST <= value <= MOST:
        return int(value)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if math.isfinite(number):
        return number
    raise InvalidInputError(f"{name}: {number} is not a number that Helm or JSON has. Write it as text, in quotes.")


def _type(value: t.Any) -> str:
    # The tagged types of Ansible derive from builtin types.
    return next((one.__name__ for one in type(value).__mro__ if one.__module__ == "builtins"), "object")
