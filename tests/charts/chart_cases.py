"""The charts, the values files that come with them, and how to look into what they render."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

ROOT = Path(__file__).resolve().parents[2]
CHARTS = ROOT / "charts"
GOLDEN = ROOT / "tests" / "golden" / "charts"
# The charts that have values of their own, as <group>/<chart>.
NAMES = sorted(str(path.parent.relative_to(CHARTS)) for path in CHARTS.glob("*/*/Chart.yaml"))
# Every values file that comes with a chart, as (chart, path).
CASES = [(name, path) for name in NAMES for path in sorted((CHARTS / name / "ci").glob("*-values.yaml"))]
CASE_IDS = [f"{name}-{path.name.removesuffix('-values.yaml')}" for name, path in CASES]

# The smallest values that render, by chart: what negatives and scripts start from.
MINIMAL: dict[str, dict[str, Any]] = {
    "data-prep/data-process": {"image": "image:1", "process": {"command": ["true"]}},
    "serving/generic-server": {
        "image": {"name": "image:1"},
        "server": {"command": ["true"], "ports": [{"name": "http", "value": 80}]},
    },
    "training/mpijob-distributed": {"image": "image:1", "train": {"command": ["true"]}},
    "training/pytorchjob-distributed": {"image": "image:1", "train": {"command": ["true"]}},
}
# The key under which a chart's program stands, where it is not `train`.
WORK = {"data-prep/data-process": "process", "serving/generic-server": "server"}

Document = dict[str, Any]


class HelmError(Exception):
    """Helm refused: the message is what it wrote on standard error."""


class Render(Protocol):
    """Renders a chart, by name, with layers of values (mappings, or files), to its documents."""

    def __call__(self, chart: str, *layers: dict[str, Any] | Path, release: str = "demo") -> list[Document]: ...


def of_kind(documents: list[Document], kind: str) -> Document:
    """Return the one document of a kind."""
    (found,) = [document for document in documents if document["kind"] == kind]
    return found


def scripts(documents: list[Document]) -> dict[str, str]:
    """Return the texts of the ConfigMap, by file name."""
    return dict(of_kind(documents, "ConfigMap")["data"])


def pod_templates(documents: list[Document]) -> list[Document]:
    """Return every pod template of every workload."""
    found = []
    for document in documents:
        spec = document.get("spec", {})
        replicas = spec.get("mpiReplicaSpecs") or spec.get("pytorchReplicaSpecs") or {}
        found += [
            template for template in (spec.get("template"), *(one["template"] for one in replicas.values())) if template
        ]
    return found
