# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""What makes two steps the same step."""

from __future__ import annotations

import hashlib
import json
import typing as t


def identity(*, chart_digest: str, values: dict[str, t.Any], release: str, namespace: str) -> str:
    """Return the SHA-256 (64 hex) of what is installed: chart content, merged values, release and namespace."""
    parts = {"chart": chart_digest, "values": values, "release": release, "namespace": namespace}
    return hashlib.sha256(json.dumps(parts, sort_keys=True, separators=(",", ":"), default=str).encode()).hexdigest()
