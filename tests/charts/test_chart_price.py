"""What a chart costs by hand: a few short files; charts/generate.py and the library write the rest."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from chart_cases import CHARTS, NAMES

FILES, LINES = 5, 90
# What is no part of a chart's shape: the Ray Serve applications that the charts of model-prep exist to write.
CONTENT = {
    "model-prep/rayserve-tnx-autocausalengine/files/tnx_autocausal.py",
    "model-prep/rayserve-vllm-asyncllmengine/files/vllm_asyncllmengine.py",
}
DERIVED = {"Chart.yaml", "values.yaml", "values.schema.json", "defaults.json", "ci/everything-values.yaml"}


def by_hand(chart: Path) -> dict[str, int]:
    """The lines of each file that a person writes; of the README what stands around the derived table."""
    found = {}
    for path in sorted(chart.rglob("*")):
        name = str(path.relative_to(chart))
        content = str(path.relative_to(CHARTS)) in CONTENT
        if path.is_file() and name not in DERIVED and not content and not name.startswith("charts/"):
            text = re.sub(r"<!-- values: .*<!-- /values -->", "", path.read_text(), flags=re.DOTALL)
            found[name] = len(text.splitlines())
    return found


@pytest.mark.parametrize("chart", NAMES)
def test_a_chart_is_small(chart: str) -> None:
    found = by_hand(CHARTS / chart)
    assert {"keys.yaml", "templates/all.yaml", "README.md", "ci/minimal-values.yaml"} <= found.keys()
    assert len(found) <= FILES, found
    assert sum(found.values()) <= LINES, found
