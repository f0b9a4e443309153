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
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "cluster"), str(HERE.parent), str(HERE.parents[1] / ".venv" / "collections")]

import disks
import drains
import hostile
import interrupt
import losses
import nodes
import pairs
import servers
import stops
from fault import Batch, Fault, Result, Setting

RESULTS = HERE / "results.json"
SOURCES = (interrupt, pairs, stops, disks, drains, servers, hostile, nodes, losses)
Row = dict[str, t.Any]


def known() -> list[Fault]:
    """Return every fault."""
    return [fault for source in SOURCES for fault in source.faults()]


def planned(pattern: str, but: Collection[str] = ()) -> list[Batch]:
    """Return what to run: several faults in one run where all of them are asked for, else each for itself."""
    chosen = {fault.name: fault for fault in known() if fnmatch.fnmatch(fault.name, pattern) and fault.name not in but}
    together = [batch for batch in interrupt.batches() if chosen.keys() >= set(batch.names)]
    covered = {name for batch in together for name in batch.names}
    alone = [Batch(names=(name,), run=_alone(fault)) for name, fault in chosen.items() if name not in covered]
    # Those that wait the longest begin first.
    return alone + together


def _alone(fault: Fault) -> Callable[[Setting], dict[str, Result]]:
    return lambda setting: {fault.name: fault.run(setting)}


@dataclass(kw_only=True)
class Course:
    """The course of the harness: what is done and how far it is."""

    kubeconfig: str
    seed: int
    kept: Path
    batches: list[Batch]
    write: bool
    rows: dict[str, Row] = field(default_factory=dict)
    begun: float = field(default_factory=time.monotonic)
    done: int = 0

    def run(self, jobs: int) -> None:
        """Run every batch, `jobs` at once, and keep the rows of each as soon as it is over."""
        print(f"{len(self.batches)} runs, seed {self.seed}, directories in {self.kept}", flush=True)
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            made = {pool.submit(self._inject, batch): batch for batch in self.batches}
            for done in concurrent.futures.as_completed(made):
                rows = done.result()
                self.rows |= rows
                self.done += 1
                if self.write:
                    merge(rows)
                _tell(rows, self._progress())

    def _inject(self, batch: Batch) -> dict[str, Row]:
        """Run one batch and return the rows of its faults."""
        directory = Path(tempfile.mkdtemp(prefix=f"{batch.names[0].replace('@', '-')}-", dir=self.kept))
        setting = Setting(kubeconfig=self.kubeconfig, directory=directory, seed=self.seed, say=_say)
        try:
            found = batch.run(setting)
        except Exception as error:
            # What was waited for did not come, or something was not there at all: the other runs go on.
            said = f"{type(error).__name__}: {str(error)[:200]} … {str(error)[-1500:]}"
            result = Result(injected=0, recovered=0, violations=(said,), seconds=())
            found = dict.fromkeys(batch.names, result)
        return {name: {**dataclasses.asdict(result), "seed": self.seed} for name, result in found.items()}

    def _progress(self) -> str:
        took = time.monotonic() - self.begun
        left = took / self.done * (len(self.batches) - self.done)
        return f"{self.done} of {len(self.batches)} runs, {took / 60:.1f} min, about {left / 60:.1f} min to go"

    def summary(self) -> str:
        """Return the figures of all rows in one line."""
        injected = sum(row["injected"] for row in self.rows.values())
        median = statistics.median([s for row in self.rows.values() for s in row["seconds"]] or [0.0])
        return f"{injected} injected, median {median:.1f} s to go on, violated: {', '.join(self.violated) or 'none'}"

    @property
    def violated(self) -> list[str]:
        """The faults after which something was not as it should be."""
        return [name for name, row in self.rows.items() if row["violations"]]


def _say(line: str) -> None:
    print(f"  {line}", flush=True)


def _tell(rows: dict[str, Row], progress: str) -> None:
    """Print what came of a batch, and each violation once."""
    for name, row in rows.items():
        verdict = "VIOLATED" if row["violations"] else "ok"
        print(f"{name}: {row['injected']} injected, {row['recovered']} recovered: {verdict}", flush=True)
    for violation in dict.fromkeys(said for row in rows.values() for said in row["violations"]):
        _say(violation)
    print(f"== {progress}", flush=True)


def results() -> dict[str, Row]:
    """Return what was found so far, by fault."""
    found: dict[str, Row] = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    return found


def merge(rows: dict[str, Row]) -> None:
    """Merge rows into the results, in the order of the faults; a reader never finds a part of them."""
    both = {**results(), **rows}
    text = json.dumps({fault.name: both[fault.name] for fault in known() if fault.name in both}, indent=1)
    whole = RESULTS.with_suffix(".new")
    whole.write_text(text + "\n", encoding="utf-8")
    whole.replace(RESULTS)


def arguments() -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fault", default="*", help="name of a fault; shell wildcards are allowed")
    parser.add_argument("--seed", type=int, default=4, help="decides whatever is random")
    parser.add_argument("--jobs", type=int, default=3, help="runs at once")
    parser.add_argument("--list", action="store_true", help="list the faults and end")
    parser.add_argument("--missing", action="store_true", help=f"only those without a good row in {RESULTS.name}")
    parser.add_argument("--write", action="store_true", help=f"write each row to {RESULTS.name}; others stay")
    return parser.parse_args()


def main() -> int:
    """Inject the chosen faults; the exit code says whether all was well."""
    asked = arguments()
    good = [name for name, row in results().items() if not row["violations"]] if asked.missing else []
    chosen = planned(asked.fault, good)
    if asked.list or not chosen:
        print("\n".join(f"{fault.name}: {fault.group}: {fault.how}" for fault in known()))
        return 0 if asked.list else 2
    course = Course(
        kubeconfig=os.environ["MLOPS_EKS_TEST_KUBECONFIG"],
        seed=asked.seed,
        kept=Path(tempfile.mkdtemp(prefix="faults-")),
        batches=chosen,
        write=asked.write,
    )
    course.run(asked.jobs)
    print(course.summary())
    return 1 if course.violated else 0


if __name__ == "__main__":
    sys.exit(main())
