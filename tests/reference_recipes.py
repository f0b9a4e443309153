# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Render every recipe of the reference system: `python tests/reference_recipes.py DIRECTORY`.

DIRECTORY is a checkout of amazon-eks-machine-learning-with-terraform-and-kubeflow. Each recipe is rendered as a step
does it (values checked, chart rendered; only the image may be blank) and by plain `helm template`, with the chart and
the release name of its README. Prints the table, and writes it into docs/charts.md and the rows to RESULTS.

Exits with 1 when a recipe is neither rendered nor refused for a reason of `REFUSALS`.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import re
import subprocess
import sys
import tempfile
import textwrap
import typing as t
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import conftest  # noqa: F401  (makes the collection importable)
from fakes.kube import FakeKube

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import EksError
from ansible_collections.mlops.eks.plugins.module_utils._helm.cli import Helm, find_helm
from ansible_collections.mlops.eks.plugins.module_utils._plan.images import require_images
from ansible_collections.mlops.eks.plugins.module_utils._plan.plan import make_draft, render
from ansible_collections.mlops.eks.plugins.module_utils._plan.task import Task
from ansible_collections.mlops.eks.plugins.module_utils._recipe.chart import CATALOGUE, find
from ansible_collections.mlops.eks.plugins.module_utils._recipe.layers import layers
from ansible_collections.mlops.eks.plugins.module_utils._recipe.source import load

RESULTS = Path(__file__).parent / "recipes" / "reference.json"
PAGE = Path(__file__).parents[1] / "docs" / "charts.md"
BEGIN, END = "<!-- reference recipes: begin -->\n", "<!-- reference recipes: end -->\n"
RENDERED, BLANK = "rendered", "rendered, image blank"
# Why a recipe may be refused, by a part of the message, which has the remedy.
REFUSALS = {
    "resources.resources": "`resources.resources`: write its content directly under `resources`",
    "is already on line": "a key twice in one mapping: keep one of them",
}
_COMMAND = re.compile(r"helm (?:install|upgrade|template)[^\n`]*")
_CHART = re.compile(r"charts/machine-learning/([\w-]+/[\w-]+)")
_RELEASE = re.compile(r"helm \S+ +(?:--\S+ +)*([a-z][a-z0-9-]*)")
# Recipes with a line that fails and that the reference's plain shell passes over (all scripts were read): what it does.
# docs/recipes.md has the lines, and what to do.
PLAIN_SHELL = {
    "examples/training/nemo-megatron/*/peft.yaml": "removes files that a first run does not have",
    "examples/legacy/maskrcnn/train-maskrcnn-tensorpack.yaml": "changes to a directory that its image does not have",
    "examples/training/neuronx-distributed-training/llama3_70b/compile.yaml": "clones again in a restarted pod",
    "examples/training/neuronx-distributed-training/llama3_70b/pretrain.yaml": "clones again in a restarted pod",
}


class Recipe(t.NamedTuple):
    """A recipe, and what its README installs with it."""

    name: str
    path: Path
    chart: str
    release: str


class Row(t.TypedDict):
    """What became of a recipe: `step` and `helm` are RENDERED, BLANK or a refusal; `plain_shell` a reason or empty."""

    recipe: str
    chart: str
    step: str
    helm: str
    plain_shell: str


def recipes(root: Path) -> Iterator[Recipe]:
    """Yield the recipes below `examples`, each with the command of a README beside or above it that names the file."""
    for path in sorted((root / "examples").rglob("*.yaml")):
        commands = (one for directory in path.parents for one in _commands(directory) if f"/{path.name}" in one)
        command = next(commands, "")
        chart, release = _CHART.search(command), _RELEASE.search(command)
        yield Recipe(
            name=str(path.relative_to(root)),
            path=path,
            chart=chart[1] if chart else "",
            release=release[1] if release else "demo",
        )


def _commands(directory: Path) -> list[str]:
    page = directory / "README.md"
    return _COMMAND.findall(page.read_text(encoding="utf-8").replace("\\\n", " ")) if page.is_file() else []


def rendered(recipe: Recipe, *, runs: Path) -> Row:
    """Return what becomes of a recipe."""
    return {
        "recipe": recipe.name,
        "chart": recipe.chart,
        "step": _by_step(recipe, runs),
        "helm": _by_helm(recipe),
        "plain_shell": next((why for name, why in PLAIN_SHELL.items() if fnmatch.fnmatch(recipe.name, name)), ""),
    }


def _by_step(recipe: Recipe, runs: Path) -> str:
    """Return how a step ends that would install the recipe."""
    try:
        chart = find(recipe.chart)
        task = Task(
            cluster="reference",
            namespace="reference",
            run_id="reference",
            release=recipe.release,
            step=recipe.path.stem.replace("_", "-"),
            chart=recipe.chart,
            recipes=(str(recipe.path),),
            runs_dir=runs,
        )
        helm = Helm(binary=find_helm(), kubeconfig="", context=None, namespace="reference")
        plan = render(task, make_draft(task, chart), helm, FakeKube())
    except EksError as error:
        return str(error).replace(f"{recipe.path}", recipe.name)
    try:
        require_images(plan.workload, lambda: layers([load(recipe.path)]), chart)
    except EksError:
        return BLANK
    return RENDERED


def _by_helm(recipe: Recipe) -> str:
    command = [find_helm(), "template", recipe.release, str(CATALOGUE / recipe.chart), "-f", str(recipe.path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return RENDERED
    lines = [line for line in done.stderr.splitlines() if line.strip() and "level=" not in line]
    return " ".join(line.strip() for line in lines).replace(f"{CATALOGUE}/", "")


def refused(row: Row) -> str:
    """Return why a step refuses a recipe: a reason of `REFUSALS`, or the whole message of an unexpected one."""
    if row["step"] in (RENDERED, BLANK):
        return ""
    return next((why for part, why in REFUSALS.items() if part in row["step"]), row["step"])


def failures(rows: Sequence[Row]) -> list[str]:
    """Return what is wrong: recipes without a chart, and those that are refused for no reason of `REFUSALS`."""
    found = [f"{row['recipe']}: step: {row['step']}" for row in rows if refused(row) not in ("", *REFUSALS.values())]
    return found + [
        f"{row['recipe']}: helm: {row['helm']}" for row in rows if row["helm"] != RENDERED and not refused(row)
    ]


def table(rows: Sequence[Row]) -> str:
    """Return the counts of each chart and in all, and the refusals, in Markdown."""
    lines = [
        "| chart | recipes | rendered by a step | of them with a blank image | refused by a step | rendered by helm |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for chart in [*sorted({row["chart"] for row in rows}), ""]:
        own = [row for row in rows if chart in ("", row["chart"])]
        counts = (
            len(own),
            sum(not refused(row) for row in own),
            sum(row["step"] == BLANK for row in own),
            sum(bool(refused(row)) for row in own),
            sum(row["helm"] == RENDERED for row in own),
        )
        lines.append(f"| {chart or 'all'} | {' | '.join(map(str, counts))} |")
    reasons = Counter(why for row in rows if (why := refused(row)))
    notes = [f"* {count} refused: {why}." for why, count in reasons.most_common()]
    plain = sum(bool(row["plain_shell"]) for row in rows)
    notes.append(
        f"* {plain} have a line that fails and that the reference's plain shell passes over: they need a blank "
        "`shell_options`, see [recipes.md](recipes.md#recipes-that-need-shell_options)."
    )
    return "\n".join([*lines, "", *(textwrap.fill(note, 120, subsequent_indent="  ") for note in notes)]) + "\n"


def page(rows: Sequence[Row], text: str) -> str:
    """Return the text of a page with the table between its markers."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table(rows)}\n{END}{after}"


def main() -> int:
    """Render all recipes and write the results. Returns the exit status."""
    parser = argparse.ArgumentParser(description="Render every recipe of the reference system.")
    parser.add_argument("directory", type=Path, help="a checkout of the reference system")
    directory = parser.parse_args().directory.resolve()
    with tempfile.TemporaryDirectory() as runs, ThreadPoolExecutor(2) as pool:
        rows = list(pool.map(partial(rendered, runs=Path(runs)), recipes(directory)))
    if not rows:
        parser.error(f"{directory}: no recipes in its directory examples.")
    RESULTS.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(rows, PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    print(table(rows))
    wrong = failures(rows)
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
