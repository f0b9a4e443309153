"""What a chart costs by hand: a few short files; charts/generate.py and the library write the rest."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
from chart_cases import CHARTS, NAMES, program

README = "# a\n\ntext\n<!-- values -->\n\n| row |\n\n<!-- /values -->\n"


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The program; tests of faults have a module of this name, too."""
    monkeypatch.syspath_prepend(CHARTS)
    return program("charts_table", CHARTS / "table.py")


@pytest.mark.parametrize("chart", NAMES)
def test_a_chart_is_small(chart: str, table: ModuleType) -> None:
    lines, files, generated = table.cost(CHARTS / chart)
    assert files <= 5
    assert lines <= 90
    assert generated > 3 * lines


def test_what_is_written_by_hand_is_counted(table: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    chart = tmp_path / "group" / "chart"
    (chart / "ci").mkdir(parents=True)
    (chart / "charts").symlink_to(CHARTS / "common")
    (chart / "values.yaml").write_text("a: 1\nb: 2\n")
    (chart / "ci" / "minimal-values.yaml").write_text("a: 1\n")
    (chart / "README.md").write_text(README)
    derived = {chart / "values.yaml": "a: 1\nb: 2\n", chart / "README.md": README}
    monkeypatch.setattr(table.generate, "outputs", lambda _chart: derived)
    monkeypatch.setattr(table.generate, "table", lambda _chart: "| row |")
    # Of the README the title and the text, and the values file in ci.
    assert table.cost(chart) == (4, 2, 7)
    (chart / "templates").mkdir()
    (chart / "templates" / "more.yaml").write_text("x\n" * 80)
    assert table.cost(chart) == (84, 3, 7)
