"""The table of charts: what a chart costs, and proofs that count as long as the chart renders the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import chart_proofs
import pytest
from chart_cases import NAMES, ROOT

CHART = "training/app"


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    golden = tmp_path / "golden"
    (golden / CHART).mkdir(parents=True)
    (golden / CHART / "minimal.yaml").write_text("a: 1\n")
    (golden / CHART / "everything.yaml").write_text("b: 1\n")
    monkeypatch.setattr(chart_proofs, "GOLDEN", golden)
    monkeypatch.setattr(chart_proofs, "PROVEN", tmp_path / "proven.json")
    return golden


def test_a_proof_counts_until_the_chart_renders_something_else(places: Path) -> None:
    assert chart_proofs.current(CHART, "dry-run") == []
    for case in ("minimal", "everything"):
        chart_proofs.record(CHART, "dry-run", case)
    chart_proofs.record(CHART, "executed", "tests/x.py::test_x")
    assert sorted(chart_proofs.current(CHART, "dry-run")) == ["everything", "minimal"]
    assert chart_proofs.current(CHART, "executed") == ["tests/x.py::test_x"]
    (places / CHART / "minimal.yaml").write_text("a: 2\n")
    assert chart_proofs.current(CHART, "dry-run") == ["everything"]
    assert chart_proofs.current(CHART, "executed") == []
    (places / CHART / "everything.yaml").unlink()
    assert chart_proofs.current(CHART, "dry-run") == []


def test_a_case_that_was_never_rendered_proves_nothing(places: Path) -> None:
    with pytest.raises(FileNotFoundError):
        chart_proofs.record(CHART, "dry-run", "nosuch")
    assert chart_proofs.read() == {}


def test_what_is_recorded_is_about_charts_there_are() -> None:
    assert set(chart_proofs.read()) <= set(NAMES)


def test_one_command_prints_the_table() -> None:
    command = [sys.executable, str(ROOT / "charts" / "table.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    head, *rows = done.stdout.splitlines()
    assert head.split() == ["chart", "keys", "hand-written", "files", "generated", "rendered", "dry-run", "executed"]
    assert [row.split()[0] for row in rows[: len(NAMES)]] == NAMES
    for row in rows[: len(NAMES)]:
        name, *cells = row.split()
        keys, by_hand, files, generated, rendered, dry_run, _executed = map(int, cells)
        assert 0 < by_hand < generated
        assert dry_run <= rendered == len(list((ROOT / "charts" / name / "ci").glob("*-values.yaml")))
        assert (keys > 20, files >= 4) == (True, True)
    sums = rows[len(NAMES)].split()
    assert sums[:3] == [str(len(NAMES)), "charts", str(sum(int(row.split()[1]) for row in rows[: len(NAMES)]))]
