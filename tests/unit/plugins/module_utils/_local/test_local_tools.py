# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._local import go_build, toolchain, tools

GO_MOD = """\
module mlops.eks/tools/x

go 1.26.0

tool example.org/x/cmd/x

require (
\texample.org/x v1.35.3
\texample.org/x/sub v0.1.0 // indirect
)
"""
ROW = tools.Tool(name="x", binaries={"x": "example.org/x/cmd/x"}, version_of="example.org/x", ldflags="-X v={version}")


@pytest.fixture
def tools_dir(tmp_path: Path) -> Path:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "go.mod").write_text(GO_MOD, encoding="utf-8")
    (tmp_path / "x" / "go.sum").write_text("sum\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("row", tools.TOOLS.values(), ids=lambda row: row.name)
def test_every_row_matches_its_module(row: tools.Tool) -> None:
    directory = tools.source_dir(row)
    go_mod = (directory / "go.mod").read_text(encoding="utf-8")
    listed = set(re.findall(r"^(?:tool)?\s+([\w./-]+)$", go_mod, re.MULTILINE))
    assert f"module mlops.eks/tools/{row.name}\n" in go_mod
    assert set(row.binaries.values()) == listed
    assert tools.ldflags(row, go_mod).startswith("-s -w")
    assert set(row.links) <= row.binaries.keys()


def test_every_module_has_a_row() -> None:
    modules = {path.parent.name for path in (tools.COLLECTION / "tools").glob("*/go.mod")}
    assert modules == set(tools.TOOLS)


def test_version_is_stamped_from_the_module() -> None:
    assert tools.ldflags(ROW, GO_MOD) == "-s -w -X v=v1.35.3"
    assert tools.required_version("example.org/x", GO_MOD) == "v1.35.3"
    with pytest.raises(InvalidInputError, match=r"does not require example\.org/y"):
        tools.required_version("example.org/y", GO_MOD)


def test_identity_changes_with_module_sums_sources_and_flags(tools_dir: Path) -> None:
    directory = tools_dir / "x"
    seen = [tools.identity(ROW, directory)]
    (directory / "go.sum").write_text("other\n", encoding="utf-8")
    seen.append(tools.identity(ROW, directory))
    (directory / "main.go").write_text("package main\n", encoding="utf-8")
    seen.append(tools.identity(ROW, directory))
    seen.append(tools.identity(dataclasses.replace(ROW, ldflags="-X w={version}"), directory))
    seen.append(tools.identity(dataclasses.replace(ROW, binaries={"y": "example.org/x/cmd/x"}), directory))
    assert len(set(seen)) == len(seen)
    assert tools.identity(ROW, directory) == seen[2]
    assert all(re.fullmatch("[0-9a-f]{12}", one) for one in seen)


def test_unknown_tool_and_missing_module_are_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="Tool 'kubernets' is unknown: choose among coredns, etcd"):
        tools.tool("kubernets")
    with pytest.raises(InvalidInputError, match="does not exist; give `tools_dir`"):
        tools.source_dir(ROW, tmp_path)


@pytest.mark.parametrize(
    ("answer", "version"),
    [("go version go1.26.8 linux/amd64", (1, 26, 8)), ("go version go1.27 linux/arm64", (1, 27)), ("nonsense", (0,))],
)
def test_toolchain_version(answer: str, version: tuple[int, ...]) -> None:
    assert toolchain.parse_version(answer) == version


@pytest.mark.parametrize(
    ("existing", "given", "ours"),
    [
        ((), {}, {"GOCACHE": "gocache", "GOPATH": "gopath"}),
        (("user/build", "user/mod"), {}, {}),
        (("user/build",), {}, {"GOPATH": "gopath"}),
        (("user/build", "user/mod", "ours/gocache"), {}, {"GOCACHE": "gocache"}),
        ((), {"GOCACHE": "mine", "GOMODCACHE": "mine"}, {}),
    ],
)
def test_caches_of_go_are_ours_unless_the_user_has_some(
    existing: tuple[str, ...],
    given: dict[str, str],
    ours: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in existing:
        (tmp_path / name).mkdir(parents=True)
    for name in ("GOCACHE", "GOPATH", "GOMODCACHE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    go = tmp_path / "go"
    go.write_text(f"#!/bin/sh\nprintf '%s\\n' {tmp_path}/user/build {tmp_path}/user/mod\n", encoding="utf-8")
    go.chmod(0o755)
    environ = toolchain.environment(go, tmp_path / "ours")
    found = {name: value for name in ("GOCACHE", "GOPATH", "GOMODCACHE") if (value := environ.get(name))}
    assert found == {**given, **{name: str(tmp_path / "ours" / value) for name, value in ours.items()}}


def test_needed_go_version() -> None:
    assert tools.go_version(GO_MOD) == (1, 26, 0)
    assert toolchain.parse_version(f"go{toolchain.VERSION}") >= tools.go_version(GO_MOD)


@pytest.mark.parametrize(
    ("package", "name"),
    [("go.etcd.io/etcd/server/v3", "server"), ("helm.sh/helm/v4/cmd/helm", "helm"), ("x/cmd/op.v1", "op.v1")],
)
def test_go_names_programs(package: str, name: str) -> None:
    assert go_build._default_name(package) == name


def test_progress_counts_packages_and_keeps_the_complaint() -> None:
    said: list[str] = []
    progress = go_build._Progress("build x (1 of 2)", said.append)
    for line in ("go: downloading a v1", "internal/abi", "k8s.io/api/core/v1", "# k8s.io/x", "a.go:1:2: undefined: y"):
        progress.line(line)
    progress.beat(5.2)
    assert said == ["build x (1 of 2): started", "build x (1 of 2): 2 packages compiled, 5 s"]
    assert progress.complaint == "a.go:1:2: undefined: y"


def test_download_answers_are_several_documents() -> None:
    assert go_build._documents('{"Path": "a"}\n{"Path": "b"}\n') == [{"Path": "a"}, {"Path": "b"}]
