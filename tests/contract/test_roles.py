# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Every role says the same thing in its defaults, its argument specs and its README, and has a scenario."""

from __future__ import annotations

import json
import re
import typing as t
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
ROLES = sorted(path.name for path in (ROOT / "roles").iterdir() if (path / "meta").is_dir())


def specs(role: str) -> dict[str, dict[str, t.Any]]:
    """Return the options of the role's `main`, by name."""
    text = (ROOT / "roles" / role / "meta" / "argument_specs.yml").read_text(encoding="utf-8")
    options: dict[str, dict[str, t.Any]] = yaml.safe_load(text)["argument_specs"]["main"]["options"]
    return options


def words(option: dict[str, t.Any]) -> str:
    """Return an option's description as Markdown: `C(x)`, `V(x)`, `O(x)` and `E(x)` become code."""
    description = option["description"]
    text = description if isinstance(description, str) else " ".join(description)
    return re.sub(r"\b[CVOE]\(([^)]*)\)", r"`\1`", text)


def value(option: dict[str, t.Any]) -> str:
    """Return an option's default as a cell of the table."""
    if option.get("required"):
        return "required"
    default = option["default"]
    return f"`{default if isinstance(default, str) and default else json.dumps(default)}`"


def table(role: str) -> str:
    """Return the table of variables that the role's README must hold."""
    rows = [f"| `{name}` | {value(option)} | {words(option)} |" for name, option in specs(role).items()]
    return "\n".join(["| variable | default | what it is |", "|---|---|---|", *rows])


@pytest.mark.parametrize("role", ROLES)
def test_defaults_are_those_of_the_argument_specs(role: str) -> None:
    text = (ROOT / "roles" / role / "defaults" / "main.yml").read_text(encoding="utf-8")
    assert yaml.safe_load(text) == {
        name: option["default"] for name, option in specs(role).items() if not option.get("required")
    }


@pytest.mark.parametrize("role", ROLES)
def test_every_variable_begins_with_the_name_of_the_role(role: str) -> None:
    assert [name for name in specs(role) if not name.startswith(f"{role}_")] == []


@pytest.mark.parametrize("role", ROLES)
def test_readme_has_the_table_of_variables(role: str) -> None:
    readme = (ROOT / "roles" / role / "README.md").read_text(encoding="utf-8")
    assert table(role) in readme, f"roles/{role}/README.md must hold this table:\n\n{table(role)}\n"


@pytest.mark.parametrize("role", ROLES)
def test_every_role_has_a_molecule_scenario(role: str) -> None:
    converge = ROOT / "extensions" / "molecule" / role / "converge.yml"
    assert f"mlops.eks.{role}" in converge.read_text(encoding="utf-8")
