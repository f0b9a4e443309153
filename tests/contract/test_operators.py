# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The rows of operators agree with the modules that pin them, with each other and with the role's README."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest
import yaml

from ansible_collections.mlops.eks.plugins.module_utils._local import tools

ROLE = Path(__file__).resolve().parents[2] / "roles" / "cluster_addons"
ROWS: list[dict[str, t.Any]] = yaml.safe_load((ROLE / "vars" / "main.yml").read_text(encoding="utf-8"))[
    "__cluster_addons_rows"
]
NAMES = [row["name"] for row in ROWS]
each = pytest.mark.parametrize("row", ROWS, ids=NAMES)


@each
def test_the_version_is_the_one_that_is_built(row: dict[str, t.Any]) -> None:
    go_mod = (tools.source_dir(tools.tool(row["name"])) / "go.mod").read_text(encoding="utf-8")
    assert tools.required_version(row["module"], go_mod) == f"v{row['version']}"
    assert list(tools.tool(row["name"]).binaries) == [row["name"]]


@each
def test_a_row_comes_after_those_it_depends_on(row: dict[str, t.Any]) -> None:
    assert set(row["depends_on"]) <= set(NAMES[: NAMES.index(row["name"])])


@each
def test_rows_have_the_same_fields(row: dict[str, t.Any]) -> None:
    assert row.keys() == ROWS[0].keys()
    assert row["native"].keys() == ROWS[0]["native"].keys()


@each
def test_the_readme_has_the_row(row: dict[str, t.Any]) -> None:
    readme = (ROLE / "README.md").read_text(encoding="utf-8")
    assert f"| {row['name']} | {row['version']} | " in readme
