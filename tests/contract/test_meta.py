# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""What `meta/` declares is what the plugins are: groups by shared options, Python packages by imports."""

from __future__ import annotations

import ast
import configparser
import importlib
import re
import sys
import typing as t
from pathlib import Path

import pytest
import yaml

from ansible_collections.mlops.eks.plugins.module_utils._core.libraries import REQUIREMENTS

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted(path.stem for path in (ROOT / "plugins" / "modules").glob("*.py"))
GROUPS: dict[str, list[str]] = yaml.safe_load((ROOT / "meta" / "runtime.yml").read_text(encoding="utf-8"))[
    "action_groups"
]
# What `module_defaults: {group/mlops.eks.<group>: ...}` is for; a module that lacks one of them refuses the defaults.
SHARED = {"eks": {"kubeconfig", "context"}, "local": {"cache_dir"}}
# Packages by the name they are imported by; ansible-core brings some of its own.
DISTRIBUTIONS = {"yaml": "pyyaml"}
OF_ANSIBLE = {"ansible", "ansible_collections", "cryptography", "jinja2"}


def options(module: str) -> set[str]:
    found = importlib.import_module(f"ansible_collections.mlops.eks.plugins.modules.{module}")
    spec: dict[str, t.Any] = found.ARGUMENT_SPEC
    return set(spec)


@pytest.mark.parametrize("group", SHARED)
def test_a_group_has_exactly_the_modules_with_its_options(group: str) -> None:
    assert GROUPS[group] == [module for module in MODULES if options(module) >= SHARED[group]]


def test_every_group_is_known() -> None:
    assert GROUPS.keys() == SHARED.keys()


def imports(file: Path) -> set[str]:
    """Return the top-level names that a Python file imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    return found


def test_execution_environments_get_what_the_plugins_import() -> None:
    meta = yaml.safe_load((ROOT / "meta" / "execution-environment.yml").read_text(encoding="utf-8"))
    text = (ROOT / meta["dependencies"]["python"]).read_text(encoding="utf-8")
    declared = {match[0].lower() for match in re.findall(r"^([\w-]+)(.*)$", text, re.MULTILINE)}
    imported = set().union(*(imports(file) for file in (ROOT / "plugins").rglob("*.py")))
    foreign = imported - sys.stdlib_module_names - OF_ANSIBLE
    assert declared == {DISTRIBUTIONS.get(name, name) for name in foreign}
    # What a task names when a library is missing.
    assert set(REQUIREMENTS.values()) <= set(text.splitlines())


def test_documented_helm_is_the_one_that_is_tested() -> None:
    text = (ROOT / "docs" / "execution-environment.md").read_text(encoding="utf-8")
    pinned = re.search(r"helm\.sh/helm/v4 (v\S+)", (ROOT / "tools" / "helm" / "go.mod").read_text(encoding="utf-8"))
    assert pinned is not None
    assert f"ARG HELM={pinned[1]}\n" in text


def test_documented_environment_has_the_settings_of_the_project() -> None:
    text = (ROOT / "docs" / "execution-environment.md").read_text(encoding="utf-8")
    settings = configparser.ConfigParser()
    settings.read(ROOT / "ansible.cfg", encoding="utf-8")
    assert f"internal_poll_interval = {settings['defaults']['internal_poll_interval']}\\n" in text
    assert f"ANSIBLE_CALLBACKS_ENABLED={settings['defaults']['callbacks_enabled']}\n" in text
