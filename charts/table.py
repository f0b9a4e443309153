#!/usr/bin/env python
"""Print what each chart costs and what was proven of it: `python charts/table.py`.

keys          keys that a recipe may set
hand-written  lines of keys.yaml, templates, README without its table, and values files that are not generated;
              not the program that a chart carries in files/, which is what it runs
files         how many files that are
generated     lines that charts/generate.py writes
rendered      values files in `ci/` with a reviewed rendering in tests/golden
dry-run       those of them that an API server with the operators' definitions took
executed      tests that ran the chart on a cluster and checked the result

Tests recorded the last two (tests/chart_proofs.py). A proof of what the chart rendered before a change does not count.
"""

from __future__ import annotations

import sys
from pathlib import Path

import generate

sys.path.insert(0, str(generate.CHARTS.parent / "tests"))
import chart_proofs

HEAD = ("chart", "keys", "hand-written", "files", "generated", "rendered", "dry-run", "executed")
# What a new chart may cost.
LINES, FILES = 90, 5


def cost(chart: Path) -> tuple[int, int, int]:
    """Return hand-written lines, their files, and generated lines."""
    derived = {path: len(text.splitlines()) for path, text in generate.outputs(chart).items()}
    readme, link = chart / "README.md", chart / "charts"
    # The table with the two marks and the blank lines around it.
    table = len(generate.table(chart).splitlines()) + 4
    by_hand = {readme: derived.pop(readme) - table}
    for path in chart.rglob("*"):
        if path.is_file() and path not in {*derived, readme} and not {link, chart / "files"} & {*path.parents}:
            by_hand[path] = len(path.read_text().splitlines())
    return sum(by_hand.values()), len(by_hand), sum(derived.values()) + table


def row(chart: Path) -> tuple[str, ...]:
    """Return the cells of a chart."""
    name = str(chart.relative_to(generate.CHARTS))
    cases = [path.name.removesuffix("-values.yaml") for path in (chart / "ci").glob("*-values.yaml")]
    counts = (
        sum(1 for _ in generate.rows(generate.schema(chart), generate.default({"keys": generate.keys(chart)}))),
        *cost(chart),
        sum((chart_proofs.GOLDEN / name / f"{case}.yaml").is_file() for case in cases),
        len(chart_proofs.current(name, "dry-run")),
        len(chart_proofs.current(name, "executed")),
    )
    return name, *map(str, counts)


def table() -> str:
    """Return the table, with the sums in the last line."""
    found = [row(chart) for chart in generate.charts()]
    sums = (str(sum(map(int, column))) for column in list(zip(*found, strict=True))[1:])
    printed = [HEAD, *found, (f"{len(found)} charts", *sums)]
    widths = [max(map(len, column)) for column in zip(*printed, strict=True)]
    return "\n".join(
        "  ".join([first.ljust(widths[0]), *map(str.rjust, cells, widths[1:])]) for first, *cells in printed
    )


def main() -> int:
    """Print the table. Returns the exit status."""
    common = (path for path in (generate.CHARTS / "common").rglob("*") if path.suffix in (".tpl", ".py"))
    library = [generate.CHARTS / "keys.yaml", *common]
    shared = sum(len(path.read_text().splitlines()) for path in library)
    costly = [chart for chart in generate.charts() if cost(chart)[0] > LINES or cost(chart)[1] > FILES]
    print(table())
    print(
        f"Shared by all: {shared} hand-written lines in {len(library)} files, keys.yaml and the library chart common."
    )
    if costly:
        names = ", ".join(str(chart.relative_to(generate.CHARTS)) for chart in costly)
        print(f"More than {LINES} hand-written lines or {FILES} files: {names}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
