"""The charts, the values files that come with them, and how to look into what they render."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

import yaml

ROOT = Path(__file__).resolve().parents[2]
CHARTS = ROOT / "charts"
GOLDEN = ROOT / "tests" / "golden" / "charts"
# The keys.yaml of each chart that has values of its own, by <group>/<chart>.
KEYS: dict[str, dict[str, Any]] = {
    str(path.parent.relative_to(CHARTS)): yaml.safe_load(path.read_text())
    for path in sorted(CHARTS.glob("*/*/keys.yaml"))
}
NAMES = list(KEYS)
# Every values file that comes with a chart, as (chart, path).
CASES = [(name, path) for name in NAMES for path in sorted((CHARTS / name / "ci").glob("*-values.yaml"))]
CASE_IDS = [f"{name}-{path.name.removesuffix('-values.yaml')}" for name, path in CASES]

Document = dict[str, Any]


def having(*mixins: str) -> list[str]:
    """Return the charts that have all of these mixins of charts/keys.yaml."""
    return [name for name, keys in KEYS.items() if {*mixins} <= {*keys["mixins"]}]


# The key of each chart's program, of the charts that have one.
WORK = {name: str(KEYS[name]["work"]) for name in having("work")}


def _minimal(chart: str) -> dict[str, Any]:
    values = dict(yaml.safe_load((CHARTS / chart / "ci" / "minimal-values.yaml").read_text()))
    if chart in WORK:
        values[WORK[chart]] = {**values.get(WORK[chart], {}), "command": ["true"], "args": []}
    return values


# The smallest values that render, by chart: what negatives and scripts start from. The recipe's program does nothing.
MINIMAL = {name: _minimal(name) for name in NAMES}


def at(chart: str, path: str, value: object) -> dict[str, Any]:
    """Return the smallest values with one changed, at a dotted path; WORK stands for the key of the program."""
    values = deepcopy(MINIMAL[chart])
    node = values
    *parents, last = path.replace("WORK", WORK.get(chart, "WORK")).split(".")
    for parent in parents:
        node = node.setdefault(parent, {})
    node[last] = value
    return values


def image(chart: str, name: str | None, digest: str = "") -> dict[str, Any]:
    """Return a layer that names the image."""
    if chart in having("server_image"):
        return {"image": {"name": name, "digest": digest}}
    return {"image": name, "image_digest": digest}


def node_type(chart: str, value: object) -> dict[str, Any]:
    """Return a layer that says on which instance types the work runs; some charts have a key of their own for it."""
    own = KEYS[chart].get("keys", {}).get("resources", {}).get("keys", {})
    return {"resources": {next((key for key in own if key.endswith("_instance_type")), "node_type"): value}}


def program(name: str, path: Path) -> ModuleType:
    """Return a program that is in no package, loaded anew under a name that no other module has."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class HelmError(Exception):
    """Helm refused: the message is what it wrote on standard error."""


class Render(Protocol):
    """Renders a chart, by name, with layers of values (mappings, or files), to its documents."""

    def __call__(self, chart: str, *layers: dict[str, Any] | Path, release: str = "demo") -> list[Document]: ...


def objects(text: str) -> list[Document]:
    """Return the objects of a rendered manifest, with the items of lists, as Helm creates them."""
    documents = [document for document in yaml.safe_load_all(text) if document]
    return [one for document in documents for one in (document["items"] if document["kind"] == "List" else [document])]


def of_kind(documents: list[Document], kind: str) -> Document:
    """Return the one document of a kind."""
    (found,) = [document for document in documents if document["kind"] == kind]
    return found


def scripts(documents: list[Document]) -> dict[str, str]:
    """Return the texts of all ConfigMaps, by file name."""
    found: dict[str, str] = {}
    for document in documents:
        if document["kind"] == "ConfigMap":
            assert not found.keys() & document["data"].keys()
            found |= document["data"]
    return found


def pod_templates(node: Any) -> list[Document]:
    """Return every pod template, in the order of the documents, however deep it stands: a spec with containers.

    KServe has metadata and spec of a pod in one map, and in the place of a container maybe a model.
    """
    return list(_pod_templates(node))


def _pod_templates(node: Any) -> Iterator[Document]:
    if isinstance(node, list):
        for item in node:
            yield from _pod_templates(item)
    elif isinstance(node, dict):
        spec = node.get("spec")
        if isinstance(spec, dict) and "containers" in spec:
            yield node
        elif {"labels", "annotations"} <= node.keys() and {"containers", "model"} & node.keys():
            metadata = {key: node[key] for key in ("labels", "annotations")}
            containers = node["containers"] if "containers" in node else [node["model"]]
            yield {"metadata": metadata, "spec": {**node, "containers": containers}}
        else:
            yield from _pod_templates(list(node.values()))
