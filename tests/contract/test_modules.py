"""What every module promises: its documentation is its argument spec, each way in is the same. Groups: test_meta.py."""

from __future__ import annotations

import importlib
import itertools
import re
import typing as t
from pathlib import Path

import pytest
import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

ROOT = Path(__file__).resolve().parents[2]
PLUGINS = "ansible_collections.mlops.eks.plugins"
MODULES = sorted(path.stem for path in (ROOT / "plugins/modules").glob("*.py") if path.stem != "__init__")
ACTIONS = sorted(path.stem for path in (ROOT / "plugins/action").glob("*.py") if path.stem != "__init__")
# The same default said in two ways is the same default.
_PLAIN = {"type": "str", "required": False, "default": None, "choices": None, "elements": None, "aliases": None}


def module(name: str) -> t.Any:
    return importlib.import_module(f"{PLUGINS}.modules.{name}")


def documentation(name: str) -> dict[str, t.Any]:
    return t.cast(dict[str, t.Any], yaml.safe_load(module(name).DOCUMENTATION))


def options(name: str) -> dict[str, t.Any]:
    """The documented options, those of the fragments included."""
    found = documentation(name)
    merged: dict[str, t.Any] = {}
    for reference in found.get("extends_documentation_fragment", []):
        file, _, part = reference.removeprefix("mlops.eks.").partition(".")
        fragment = importlib.import_module(f"{PLUGINS}.doc_fragments.{file}").ModuleDocFragment
        merged |= yaml.safe_load(getattr(fragment, (part or "documentation").upper()))["options"]
    # As Ansible merges them: what a module leaves out of an option is the fragment's.
    return merged | {key: merged.get(key, {}) | own for key, own in (found.get("options") or {}).items()}


def meaning(option: dict[str, t.Any]) -> dict[str, t.Any]:
    found = {key: option.get(key, standard) for key, standard in _PLAIN.items()}
    default = found["default"]
    return {**found, "default": float(default) if found["type"] == "float" and default is not None else default}


@pytest.mark.parametrize("name", MODULES)
def test_options_are_the_argument_spec(name: str) -> None:
    spec = module(name).ARGUMENT_SPEC
    documented = options(name)
    assert sorted(documented) == sorted(spec)
    for key in spec:
        assert meaning(documented[key]) == meaning(spec[key]), key


@pytest.mark.parametrize("name", MODULES)
def test_documentation_is_complete(name: str) -> None:
    found = documentation(name)
    assert found["module"] == name
    assert found["short_description"]
    assert not found["short_description"].endswith(".")
    assert found["version_added"]
    assert found["author"]
    assert any(reference.startswith("mlops.eks._attributes") for reference in found["extends_documentation_fragment"])
    for key, option in options(name).items():
        assert option.get("description"), key
    for key, value in yaml.safe_load(module(name).RETURN).items():
        assert {"description", "returned", "type"} <= value.keys(), key


@pytest.mark.parametrize("name", MODULES)
def test_examples_pass_the_argument_spec(name: str) -> None:
    tasks = yaml.safe_load(module(name).EXAMPLES)
    mine = [task[f"mlops.eks.{name}"] for task in tasks if f"mlops.eks.{name}" in task]
    assert mine, "no example of the module itself"
    rules = getattr(module(name), "SPEC_RULES", {})
    for arguments in mine:
        checked = ArgumentSpecValidator(module(name).ARGUMENT_SPEC, **rules).validate(arguments)
        assert checked.error_messages == []
    for task in tasks:
        assert task["name"][0].isupper()


def test_every_module_has_an_action_that_shows_its_output() -> None:
    assert ACTIONS == MODULES


@pytest.mark.parametrize("name", ACTIONS)
def test_the_action_takes_what_the_module_takes(name: str) -> None:
    action = importlib.import_module(f"{PLUGINS}.action.{name}").ActionModule
    assert action.SPEC == module(name).ARGUMENT_SPEC
    assert getattr(module(name), "SPEC_RULES", {}) == action.SPEC_RULES
    assert "engine" in vars(action)


@pytest.mark.parametrize("name", MODULES)
def test_every_module_is_exercised(name: str) -> None:
    files = [*(ROOT / "tests").rglob("*.py"), *(ROOT / "tests").rglob("*.yml"), *(ROOT / "extensions").rglob("*.yml")]
    files += [*(ROOT / "roles").rglob("tasks/*.yml"), *(ROOT / "playbooks").glob("*.yml")]
    ours = Path(__file__).resolve()
    assert [file for file in files if file != ours and name in file.read_text(encoding="utf-8")]


@pytest.mark.parametrize("name", MODULES)
def test_a_module_is_a_thin_door(name: str) -> None:
    text = (ROOT / f"plugins/modules/{name}.py").read_text(encoding="utf-8")
    assert text.startswith(
        "#!/usr/bin/python\n# Copyright (c) 2026 mlops.eks contributors\n# GNU General Public License v3.0+"
    )
    code = text.split("ARGUMENT_SPEC = {", 1)[1]
    assert len([line for line in code.split("def main() -> None:", 1)[1].splitlines() if line.strip()]) <= 25


# What an option holds that is read with care where it is used, not by a rule for names.
READ_ELSEWHERE = {
    "backend": "Terraform checks it",
    "data": "checked with what else is declared of a Secret",
    "kustomization": "kustomize checks it",
    "patches": "kustomize checks them",
    "recipe_values": "checked against the chart's schema",
    "redact": "no message may quote a secret",
    "values": "checked against the chart's schema",
    "variables": "Terraform checks them",
}


def unruled(spec: dict[str, t.Any], rules: t.Mapping[str, t.Any]) -> t.Iterator[str]:
    for key, option in spec.items():
        kinds = {option["type"], option.get("elements", "str")} if option["type"] == "list" else {option["type"]}
        if kinds.isdisjoint({"str", "path", "dict"}) or "choices" in option or key in READ_ELSEWHERE:
            continue
        if key not in rules:
            yield key
        elif "options" in option:
            yield from (f"{key}.{inner}" for inner in unruled(option["options"], rules[key]))


@pytest.mark.parametrize("name", MODULES)
def test_every_text_has_a_rule(name: str) -> None:
    names = importlib.import_module(f"{PLUGINS}.module_utils._core.names")
    assert list(unruled(module(name).ARGUMENT_SPEC, names.OPTIONS[name])) == []
    assert names.OPTIONS[name].keys() <= module(name).ARGUMENT_SPEC.keys()


def test_no_secret_leaves_an_entry_point() -> None:
    """Whoever checks the options of a module takes secrets out of what it says, returns and raises."""
    lines = [
        (before, line)
        for path in (ROOT / "plugins/module_utils").rglob("*.py")
        for before, line in itertools.pairwise(path.read_text(encoding="utf-8").splitlines())
        if line.startswith("@checked(")
    ]
    assert len(lines) > 10
    assert {line: before for before, line in lines if before not in ("@redacted", "@errors_redacted")} == {}
    cluster = [name for name in MODULES if "api_retry_timeout" in module(name).ARGUMENT_SPEC]
    assert len(cluster) > 5
    assert [name for name in cluster if "redact" not in module(name).ARGUMENT_SPEC] == []


def test_every_entry_point_checks_its_options() -> None:
    """What a module calls begins with its rules: refused are a name and the host, whatever else is given."""
    names = importlib.import_module(f"{PLUGINS}.module_utils._core.names")
    assert sorted(names.OPTIONS) == MODULES
    entries = {
        found[1]
        for path in (ROOT / "plugins/module_utils").rglob("*.py")
        for found in re.finditer(r'(?:@checked|check_options)\("(\w+)"', path.read_text(encoding="utf-8"))
    }
    # A wait for an MPIJob is one for any workload, with the kind given.
    assert entries == names.OPTIONS.keys() - {"mpi_job_wait"}
