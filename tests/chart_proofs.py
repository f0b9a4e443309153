# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""What tests proved of a chart, kept in tests/charts/proven.json for the table of charts/table.py.

Only `pytest --record-proofs` writes it. A proof is about what the chart rendered then: it is kept with a digest of the
golden files, and does not count when they have changed.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
from pathlib import Path
from typing import Literal

GOLDEN = Path(__file__).parent / "golden" / "charts"
PROVEN = Path(__file__).parent / "charts" / "proven.json"

# `dry-run`: an API server with the operators' definitions took a values file of the chart, the case.
# `executed`: a test, the case, ran the chart on a cluster and checked the result.
Kind = Literal["dry-run", "executed"]
Proofs = dict[str, dict[str, dict[str, str]]]


def read() -> Proofs:
    """Return the recorded proofs: chart, kind, case, digest."""
    return dict(json.loads(PROVEN.read_text(encoding="utf-8") or "{}")) if PROVEN.is_file() else {}


def digest(chart: str, kind: Kind, case: str) -> str:
    """Return the digest of what a proof is about: the rendering of one values file, or of all of the chart."""
    files = [GOLDEN / chart / f"{case}.yaml"] if kind == "dry-run" else sorted((GOLDEN / chart).glob("*.yaml"))
    total = hashlib.sha256()
    for file in files:
        total.update(file.read_bytes())
    return total.hexdigest()[:16]


def record(chart: str, kind: Kind, case: str) -> None:
    """Write down a proof; several tests may do it at once."""
    seen = digest(chart, kind, case)
    with PROVEN.open("a", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        found = read()
        found.setdefault(chart, {}).setdefault(kind, {})[case] = seen
        file.truncate(0)
        file.write(json.dumps(found, indent=1, sort_keys=True) + "\n")


def current(chart: str, kind: Kind) -> list[str]:
    """Return the cases that are proven of the chart as it renders today."""
    cases = read().get(chart, {}).get(kind, {})
    known = [case for case in cases if kind == "executed" or (GOLDEN / chart / f"{case}.yaml").is_file()]
    return [case for case in known if cases[case] == digest(chart, kind, case)]
