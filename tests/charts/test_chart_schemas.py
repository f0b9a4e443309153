"""The schemas: they take what the charts come with, and refuse what cannot be meant."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema
import pytest
import yaml
from chart_cases import CASE_IDS, CASES, CHARTS, NAMES, WORK, HelmError, Render, at, having, program

from ansible_collections.mlops.eks.plugins.module_utils._recipe.layers import coalesce

every_chart = pytest.mark.parametrize("chart", NAMES)


@pytest.fixture(scope="session")
def generate() -> ModuleType:
    """The program that writes the schemas."""
    return program("generate", CHARTS / "generate.py")


@cache
def schema(chart: str) -> dict[str, Any]:
    return dict(json.loads((CHARTS / chart / "values.schema.json").read_text()))


def resolved(chart: str, node: dict[str, Any]) -> dict[str, Any]:
    """Return a node of a schema with what it refers to."""
    if "$ref" not in node:
        return node
    assert node.keys() <= {"$ref", "description"}, "draft 7 ignores what stands beside a reference"
    return {**resolved(chart, schema(chart)["definitions"][node["$ref"].rpartition("/")[2]]), **node}


SHARED = """
types: {text: {type: string}, words: {type: array}, unused: {type: number}}
mixins:
  naming: {name: {type: text, default: "", doc: What it is called.}}
  work: {WORK: {doc: What to run., keys: {command: {type: words, default: [a], doc: The words.}}}}
examples: {name: "y", image: unused, WORK: {command: [b]}}
"""
OWN = """
{description: d, keywords: [k], until: completed, mixins: [naming, work], work: train, defaults: {name: x}}
"""


def test_derived_files_are_up_to_date(generate: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert generate.main(["--check"]) == 0, capsys.readouterr().out


def test_a_derived_file_out_of_date_is_noticed_and_written(
    generate: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chart = tmp_path / "group" / "chart"
    chart.mkdir(parents=True)
    (chart / "ci").mkdir()
    (tmp_path / "keys.yaml").write_text(SHARED)
    (chart / "keys.yaml").write_text(OWN)
    (chart / "README.md").write_text(f"# chart\n{generate.START}\n{generate.END}\nmore\n")
    monkeypatch.setattr(generate, "CHARTS", tmp_path)
    assert generate.main(["--check"]) == 1
    assert generate.main([]) == 0
    assert generate.main(["--check"]) == 0
    written = json.loads((chart / "values.schema.json").read_text())
    shown = {key: value for key, value in written["properties"].items() if key not in generate.HELM_KEYS}
    assert shown == {
        "name": {"description": "What it is called.", "$ref": "#/definitions/text"},
        "train": {
            "description": "What to run.",
            "type": "object",
            "additionalProperties": False,
            "properties": {"command": {"description": "The words.", "$ref": "#/definitions/words"}},
        },
    }
    assert written["definitions"] == {"text": {"type": "string"}, "words": {"type": "array"}}
    assert written["additionalProperties"] is False
    assert yaml.safe_load((chart / "values.yaml").read_text()) == {"name": "x", "train": {"command": ["a"]}}
    command = {"default": ["a"], "blank": []}
    assert json.loads((chart / "defaults.json").read_text()) == {
        "name": {"default": "x"},
        "train": {"keys": {"command": command}},
    }
    everything = yaml.safe_load((chart / "ci" / "everything-values.yaml").read_text())
    assert everything == {"name": "y", "train": {"command": ["b"]}}
    assert '| `name` | string | `"x"` | What it is called. |' in (chart / "README.md").read_text()
    assert (chart / "README.md").read_text().endswith("\nmore\n")


@every_chart
def test_schema_is_draft_7_and_takes_the_defaults(chart: str) -> None:
    jsonschema.Draft7Validator.check_schema(schema(chart))
    jsonschema.Draft7Validator(schema(chart)).validate(yaml.safe_load((CHARTS / chart / "values.yaml").read_text()))


@pytest.mark.parametrize(("chart", "values"), CASES, ids=CASE_IDS)
def test_python_takes_what_helm_takes(chart: str, values: Path) -> None:
    """The engine validates with the same schema before Helm does, blank keys taken away."""
    defaults = yaml.safe_load((CHARTS / chart / "values.yaml").read_text())
    whole = coalesce(defaults, yaml.safe_load(values.read_text()))
    jsonschema.Draft7Validator(schema(chart)).validate(whole)


def _walk(chart: str, node: dict[str, Any] | None = None, path: str = "") -> list[tuple[str, dict[str, Any]]]:
    """Every property of a schema with its path; items of lists are spelled `key[]`.

    What is secret may be a text or a reference to one: a key of its own, not a group of keys.
    """
    found = []
    for name, reference in (schema(chart) if node is None else node).get("properties", {}).items():
        child = resolved(chart, reference)
        key = f"{path}.{name}".lstrip(".")
        found += [(key, child), *([] if child.get("writeOnly") else _walk(chart, child, key))]
        if isinstance(child.get("items"), dict):
            found += _walk(chart, resolved(chart, child["items"]), f"{key}[]")
    return found


@every_chart
def test_every_object_is_closed_and_every_key_explained(chart: str) -> None:
    assert schema(chart)["additionalProperties"] is False
    for key, node in _walk(chart):
        assert node.get("description"), key
        if "properties" in node and not node.get("writeOnly"):
            assert node["additionalProperties"] is False, key


@every_chart
def test_schema_and_defaults_have_the_same_keys(chart: str) -> None:
    defaults = yaml.safe_load((CHARTS / chart / "values.yaml").read_text())
    assert set(schema(chart)["properties"]) == set(defaults) | {"common", "global"}


@every_chart
def test_readme_has_a_row_for_every_key(chart: str) -> None:
    text = (CHARTS / chart / "README.md").read_text()
    rows = [line.split("`")[1] for line in text.splitlines() if line.startswith("| `")]
    keys = {key for key, node in _walk(chart) if "const" not in node and key not in ("common", "global")}
    groups = {key for key, node in _walk(chart) if "properties" in node and not node.get("writeOnly")}
    assert len(rows) == len(set(rows))
    assert set(rows) <= keys
    assert keys - groups <= set(rows)
    assert len(text.split("<!-- values")[0].split()) > 60, "a README says more than its table"


@every_chart
def test_the_fullest_case_uses_every_key(chart: str) -> None:
    values = yaml.safe_load((CHARTS / chart / "ci" / "everything-values.yaml").read_text())
    used = set()

    def collect(node: Any, path: str) -> None:
        if isinstance(node, dict):
            for name, child in node.items():
                used.add(f"{path}.{name}".lstrip("."))
                collect(child, f"{path}.{name}".lstrip("."))
        elif isinstance(node, list):
            for child in node:
                collect(child, f"{path}[]")

    collect(values, "")
    # A budget takes one of its two keys. A list that is the program's environment elsewhere is shown in full there.
    either = {"server.disruption_budget.max_unavailable", "env[].valueFrom", "mpirun.env[].valueFrom"}
    missing = {key for key, node in _walk(chart) if "const" not in node} - used - {"common", "global"} - either
    assert not missing


# What is refused: path, value, and what Helm's message must hold.
REFUSED = [
    pytest.param("imag", "x", "additional properties 'imag' not allowed", id="typo"),
    pytest.param("WORK.comand", ["x"], "additional properties 'comand' not allowed", id="typo-inside"),
    pytest.param("my_key", "x", "additional properties 'my_key' not allowed", id="key-of-ones-own-outside-vars"),
    pytest.param("run", {"id": "x"}, "additional properties 'id' not allowed", id="id-of-a-run"),
    pytest.param("shell_options", "-e; reboot", "does not match pattern", id="shell-options-with-a-command"),
    pytest.param("resources.node_type", [""], "minLength", id="blank-node-type-in-a-list"),
    pytest.param("network_policy", "yes", "got string, want boolean", id="flag-in-quotes"),
    pytest.param("WORK.command", "python3", "/command': got string, want array", id="wrong-type"),
    pytest.param("WORK.env", [{"value": "x"}], "missing property 'name'", id="missing-required"),
    pytest.param(
        "WORK.env", [{"name": "X", "value": 1}], "/env/0/value': got number, want null or string", id="number-in-env"
    ),
    pytest.param("pvc", [{"name": "pv-fsx"}], "missing property 'mount_path'", id="claim-without-mount"),
    pytest.param("tolerations", [{"effect": "NoShedule"}], "value must be one of 'NoSchedule'", id="bad-effect"),
    pytest.param("resources.limits", {"memory": "4 GB"}, "does not match pattern", id="bad-quantity"),
    pytest.param("resources.limits", {"memory": None}, "got null, want number or string", id="no-quantity"),
    pytest.param("pre_script", "pip install x", "/pre_script': got string, want array", id="script-not-a-list"),
    pytest.param("git", {"repo_url": "a b"}, "does not match pattern", id="bad-url"),
    pytest.param(
        "resources.resources",
        {"limits": {}},
        "requests, limits and node_type stand directly under resources",
        id="resources-twice",
    ),
    pytest.param(
        "resources.resources",
        None,
        "requests, limits and node_type stand directly under resources",
        id="resources-null",
    ),
]


@pytest.mark.parametrize(("path", "value", "message"), REFUSED)
def test_refused_by_helm_and_by_python(path: str, value: object, message: str, render: Render) -> None:
    chart = "data-prep/data-process"
    values = at(chart, path, value)
    with pytest.raises(HelmError) as refused:
        render(chart, values)
    assert "values don't meet the specifications of the schema" in str(refused.value)
    assert message in str(refused.value)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft7Validator(schema(chart)).validate(values)


@every_chart
@pytest.mark.parametrize(("path", "value", "message"), REFUSED)
def test_refused_in_every_chart_that_has_the_key(chart: str, path: str, value: object, message: str) -> None:
    """Helm takes the same schema, so that it need not be asked again for each chart."""
    parent = path.replace("WORK", WORK.get(chart, "WORK")).rpartition(".")[0] or path
    if parent in {key for key, _node in _walk(chart)} or path in ("imag", "my_key"):
        assert not jsonschema.Draft7Validator(schema(chart)).is_valid(at(chart, path, value))


@every_chart
def test_a_typo_is_refused_by_helm(chart: str, render: Render) -> None:
    with pytest.raises(HelmError, match="additional properties 'imag' not allowed"):
        render(chart, at(chart, "imag", "x"))


@every_chart
def test_vars_is_the_one_open_map(chart: str) -> None:
    """For templates of the recipe; beside it, keys are refused as `my_key` is above."""
    mine = {"my_key": {"deep": [1, {"two": None}]}, "image": 3}
    jsonschema.Draft7Validator(schema(chart)).validate({"vars": mine})


# What only the whole of the values can tell: path, value, message.
FAILED = [
    pytest.param("WORK.command", [], "there is nothing to run: set WORK.command or pre_script", id="nothing-to-run"),
    pytest.param(
        "WORK.env",
        [{"name": "X", "value": "1", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}],
        "WORK.env[0] (X) has both value and valueFrom: keep one",
        id="value-twice",
    ),
    pytest.param(
        "resources.requests",
        {"example.com/gpu": 8},
        "resources.requests has example.com/gpu: 8 but resources.limits has none: Kubernetes wants the two equal",
        id="accelerator-without-limit",
    ),
]


@pytest.mark.parametrize("chart", having("script", "work", "resources"))
@pytest.mark.parametrize(("path", "value", "message"), FAILED)
def test_refused_by_the_templates(chart: str, path: str, value: object, message: str, render: Render) -> None:
    with pytest.raises(HelmError) as refused:
        render(chart, at(chart, path, value), {"pre_script": [], "inline_script": []})
    assert message.replace("WORK", WORK[chart]) in str(refused.value)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("server.ports", [], "server.ports is empty"),
        ("server.autoscaling", {"minReplicas": 3}, "server.autoscaling.maxReplicas (1) is less than minReplicas (3)"),
        ("server.ports", [{"name": "http", "value": "0"}], "does not match pattern"),
        ("server.ports", [{"name": "a-name-that-is-too-long", "value": 1}], "maxLength"),
        ("server.resources", {"limits": {}}, "resources stands at the top level"),
        ("server.disruption_budget", {"min_available": 1, "max_unavailable": 1}, "maxProperties"),
    ],
)
def test_a_server_is_refused(path: str, value: object, message: str, render: Render) -> None:
    chart = "serving/generic-server"
    with pytest.raises(HelmError) as refused:
        render(chart, at(chart, path, value))
    assert message in str(refused.value)
