# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Directory for files that can be created again."""

from __future__ import annotations

import os
from pathlib import Path


def cache_dir() -> Path:
    """Return MLOPS_EKS_CACHE, else `mlops-eks` in XDG_CACHE_HOME or `~/.cache`."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("MLOPS_EKS_CACHE") or Path(base) / "mlops-eks")
