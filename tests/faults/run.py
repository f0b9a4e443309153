# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Inject faults and write what came of them: `python tests/faults/run.py --fault 'sigkill@installed' --seed 7`."""

from __future__ import annotations

import argparse
import concurrent.futures
import dataclasses
import fnmatch
import json
import os
import statistics
import sys
import tempfile
import time
import typing as t
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "cluster"), str(HERE.parents[1] / ".venv" / "collections")]

import hostile
import interrupt
import nodes
import pairs
from fault import Batch, Fault, Result, Setting

RESULTS = HERE / "results.json"
SOURCES = (interrupt, pairs, hostile, nodes)


def known() -> list[Fault]:
    """Return every fault."""
    return [fault for source in SOURCES for fault in source.faults()]


def planned(pattern: str) -> list[Batch]:
    """Return what to run: without a pattern several faults in one run where they can be, else each for itself."""
    together = [batch for source in SOURCES for batch in source.batches()] if pattern == "*" else []
    covered = {name for batch in together for name in batch.names}
    alone = [fault for fault in known() if fnmatch.fnmatch(fault.name, pattern) and fault.name not in covered]
    # Those that wait the longest begin first.
    return [Batch(names=(fault.name,), run=_alone(fault)) for fault in alone] + together


def _alone(fault: Fault) -> Callable[[Setting], dict[str, Result]]:
    return lambda setting: {fault.name: fault.run(setting)}


def inject(batch: Batch, *, kubeconfig: str, seed: int, kept: Path) -> dict[str, dict[str, t.Any]]:
    """Run one batch and return the rows of its faults."""
    directory = Path(tempfile.mkdtemp(prefix=f"{batch.names[0].replace('@', '-')}-", dir=kept))
    begun = time.monotonic()
    setting = Setting(
        kubeconfig=kubeconfig, directory=directory, seed=seed, say=lambda line: print(f"  {line}", flush=True)
    )
    try:
        found = batch.run(setting)
    except AssertionError as error:
        # What was waited for did not come.
        result = Result(injected=0, recovered=0, violations=(str(error)[-1500:],), seconds=())
        found = dict.fromkeys(batch.names, result)
    for name, result in found.items():
        verdict = "ok" if not result.violations else f"VIOLATED, see {directory}"
        print(f"{name}: {result.injected} injected, {result.recovered} recovered: {verdict}", flush=True)
    for violation in next(iter(found.values())).violations:
        print(f"  {violation}", flush=True)
    print(f"{len(found)} faults in {time.monotonic() - begun:.0f} s", flush=True)
    return {name: {**dataclasses.asdict(result), "seed": seed} for name, result in found.items()}


def arguments() -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fault", default="*", help="name of a fault; shell wildcards are allowed")
    parser.add_argument("--seed", type=int, default=4, help="decides whatever is random")
    parser.add_argument("--jobs", type=int, default=3, help="faults at once")
    parser.add_argument("--list", action="store_true", help="list the faults and end")
    parser.add_argument("--write", action="store_true", help=f"write the rows to {RESULTS.name}; others stay")
    return parser.parse_args()


def main() -> int:
    """Inject the chosen faults; the exit code says whether all was well."""
    asked = arguments()
    chosen = planned(asked.fault)
    if asked.list or not chosen:
        print("\n".join(f"{fault.name}: {fault.group}: {fault.how}" for fault in known()))
        return 0 if asked.list else 2
    kubeconfig = os.environ["MLOPS_EKS_TEST_KUBECONFIG"]
    kept = Path(tempfile.mkdtemp(prefix="faults-"))
    print(f"{len(chosen)} runs, seed {asked.seed}, directories in {kept}", flush=True)
    rows: dict[str, dict[str, t.Any]] = {}
    with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
        made = [pool.submit(inject, batch, kubeconfig=kubeconfig, seed=asked.seed, kept=kept) for batch in chosen]
        for done in concurrent.futures.as_completed(made):
            rows |= done.result()
            if asked.write:
                _write(rows)
    injected = sum(row["injected"] for row in rows.values())
    violated = [name for name, row in rows.items() if row["violations"]]
    median = statistics.median([s for row in rows.values() for s in row["seconds"]] or [0.0])
    print(f"{injected} injected, median {median:.1f} s to go on, violated: {', '.join(violated) or 'none'}")
    return 1 if violated else 0


def _write(rows: dict[str, dict[str, t.Any]]) -> None:
    """Merge rows into the results, in the order of the faults."""
    before = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    both = {**before, **rows}
    text = json.dumps({fault.name: both[fault.name] for fault in known() if fault.name in both}, indent=1)
    RESULTS.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
