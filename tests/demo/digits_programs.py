# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Where the programs of the digits image are."""

from __future__ import annotations

from pathlib import Path

PROGRAMS = Path(__file__).resolve().parents[2] / "containers" / "digits"
