# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""What tests/reference_recipes.py recorded, and how it finds, renders and counts recipes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import reference_recipes as reference

from ansible_collections.mlops.eks.plugins.module_utils._recipe.chart import CATALOGUE

CHARTS = sorted(CATALOGUE.glob("*/*/Chart.yaml"))
ROWS: list[reference.Row] = json.loads(reference.RESULTS.read_text(encoding="utf-8"))
README = """Install it:

    helm install --debug my-run   \\
        charts/machine-learning/{chart}     \\
        -f examples/elsewhere/{file} -n team
"""
GOOD = "image:\nprocess: {command: [echo]}\npre_script: [mkdir /tmp/a, mkdir -p /tmp/b]\n"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A reference system with a recipe that renders, one that is refused, and one that no README names."""
    place = tmp_path / "examples" / "group" / "model"
    place.mkdir(parents=True)
    (place / "README.md").write_text(
        README.format(chart="data-prep/data-process", file="good.yaml")
        + README.format(chart="training/pytorchjob-distributed", file="twice.yaml")
        + README.format(chart="training/pytorchjob-distributed", file="wrong.yaml")
    )
    (place / "good.yaml").write_text(GOOD)
    (place / "lost.yaml").write_text(GOOD)
    (place / "twice.yaml").write_text("image: a:1\nimage: b:1\ntrain: {command: [echo]}\n")
    (place / "wrong.yaml").write_text("image: a:1\ntrain: {comand: [echo]}\n")
    return tmp_path


def test_each_recipe_is_rendered_with_the_chart_and_name_of_its_readme(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good, lost, twice, wrong = reference.recipes(checkout)
    assert (good.chart, good.release) == ("data-prep/data-process", "my-run")
    assert (lost.chart, lost.release) == ("", "demo")
    row = reference.rendered(good, runs=checkout / "runs")
    assert (row["step"], row["helm"], row["plain_shell"]) == (reference.BLANK, reference.RENDERED, "")
    good.path.write_text(good.path.read_text().replace(":\n", ": a:1\n", 1))
    monkeypatch.setitem(reference.PLAIN_SHELL, "examples/group/*/good.yaml", "removes what is not there")
    row = reference.rendered(good, runs=checkout / "runs")
    assert (row["step"], row["plain_shell"]) == (reference.RENDERED, "removes what is not there")
    rows = [row, *(reference.rendered(one, runs=checkout / "runs") for one in (twice, wrong))]
    assert reference.refused(rows[1]) == "a key twice in one mapping: keep one of them"
    assert [line.partition(": ")[0] for line in reference.failures(rows)] == ["examples/group/model/wrong.yaml"]
    assert "unknown key 'train.comand'. Did you mean 'command'?" in reference.failures(rows)[0]
    assert "| all | 3 | 1 | 0 | 2 | 2 |" in reference.table(rows)


def test_a_recipe_that_no_readme_names_is_a_failure(checkout: Path) -> None:
    (lost,) = [one for one in reference.recipes(checkout) if one.path.name == "lost.yaml"]
    assert reference.failures([reference.rendered(lost, runs=checkout)])


def test_recipes_that_need_a_plain_shell_are_explained() -> None:
    text = (reference.PAGE.parent / "recipes.md").read_text(encoding="utf-8")
    assert sum(bool(row["plain_shell"]) for row in ROWS) == 7
    for name in reference.PLAIN_SHELL:
        assert any(part in text for part in (name.removeprefix("examples/"), f"{Path(name).parent.name}/*.yaml"))


def test_every_recipe_is_rendered_or_refused_for_a_known_reason() -> None:
    assert reference.failures(ROWS) == []
    assert {row["chart"] for row in ROWS} <= {str(path.parent.relative_to(CATALOGUE)) for path in CHARTS}
    refused = [row["recipe"] for row in ROWS if reference.refused(row)]
    assert (len(ROWS), len(refused)) == (142, 11)


def test_the_page_says_what_was_recorded() -> None:
    text = reference.PAGE.read_text(encoding="utf-8")
    assert reference.page(ROWS, text) == text, "python tests/reference_recipes.py DIRECTORY writes it"
