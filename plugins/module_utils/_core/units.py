# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Convert Kubernetes quantities to numbers.

Source: apimachinery `pkg/api/resource/quantity.go`, the suffixes of `Quantity`.
"""

from __future__ import annotations

import re

_SUFFIXES = {
    "": 1.0,
    "n": 1e-9,
    "u": 1e-6,
    "m": 1e-3,
    "k": 1e3,
    "M": 1e6,
    "G": 1e9,
    "T": 1e12,
    "P": 1e15,
    "E": 1e18,
    "Ki": 2.0**10,
    "Mi": 2.0**20,
    "Gi": 2.0**30,
    "Ti": 2.0**40,
    "Pi": 2.0**50,
    "Ei": 2.0**60,
}
_QUANTITY = re.compile(r"([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)([numkKMGTPE]?i?)")


def quantity(text: str | float) -> float:
    """Return a quantity as a number: `'500m'` is 0.5, `'1Gi'` is 1073741824.

    Raises:
        ValueError: `text` is not a quantity.
    """
    match = _QUANTITY.fullmatch(str(text))
    if match is None or match[2] not in _SUFFIXES:
        raise ValueError(f"{text!r} is not a Kubernetes quantity")
    return float(match[1]) * _SUFFIXES[match[2]]
