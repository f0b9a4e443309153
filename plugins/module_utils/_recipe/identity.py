# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The identity of a step: two steps with the same identity are the same step."""

from __future__ import annotations

import hashlib
import json
import typing as t


def identity(*, chart_digest: str, values: dict[str, t.Any], release: str, namespace: str) -> str:
    """Return the SHA-256 (64 hexadecimal digits) of chart content, merged values, release and namespace."""
    parts = {"chart": chart_digest, "values": values, "release": release, "namespace": namespace}
    return hashlib.sha256(json.dumps(parts, sort_keys=True, separators=(",", ":"), default=str).encode()).hexdigest()
