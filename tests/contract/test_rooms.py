"""What playbooks, charts and pipelines promise; for roles see test_roles.py."""

from __future__ import annotations

import json
import subprocess
import sys
import typing as t
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
CHARTS = sorted(str(path.parent.relative_to(ROOT / "charts")) for path in (ROOT / "charts").glob("*/*/Chart.yaml"))
PIPELINES = sorted(str(path.parent.relative_to(ROOT)) for path in (ROOT / "recipes").rglob("pipeline.yaml"))


def read(path: Path) -> t.Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_playbooks_are_well_formed() -> None:
    playbooks = sorted(str(path) for path in (ROOT / "playbooks").glob("*.yml"))
    assert playbooks
    command = [str(Path(sys.executable).parent / "ansible-playbook"), "-i", "localhost,", "--syntax-check", *playbooks]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr


@pytest.mark.parametrize("chart", CHARTS)
def test_a_chart_is_complete(chart: str) -> None:
    path = ROOT / "charts" / chart
    schema = json.loads((path / "values.schema.json").read_text(encoding="utf-8"))
    assert schema["additionalProperties"] is False
    assert list((path / "ci").glob("*-values.yaml"))
    readme = (path / "README.md").read_text(encoding="utf-8")
    # The library chart and what Helm passes to all charts are no values of it.
    for key in schema["properties"].keys() - {"common", "global"}:
        assert key in readme, f"README.md does not explain {key}"
    meta = read(path / "Chart.yaml")
    assert meta["name"] == path.name
    assert meta["version"]


@pytest.mark.parametrize("chart", CHARTS)
def test_a_chart_has_golden_renders(chart: str) -> None:
    cases = {path.name.removesuffix("-values.yaml") for path in (ROOT / "charts" / chart / "ci").glob("*-values.yaml")}
    golden = {path.stem for path in (ROOT / "tests/golden/charts" / chart).glob("*.yaml")}
    assert cases <= golden


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_a_pipeline_has_its_readme(pipeline: str) -> None:
    assert (ROOT / pipeline / "README.md").is_file()
