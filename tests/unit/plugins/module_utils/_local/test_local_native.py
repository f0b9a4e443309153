# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

from __future__ import annotations

import json
import time
import typing as t
from pathlib import Path

import pytest

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import ConflictError, InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._local import (
    api,
    containerd,
    images,
    native,
    preflight,
    processes,
)
from ansible_collections.mlops.eks.plugins.module_utils._local.layout import Layout


@pytest.fixture
def request_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> t.Any:
    """Return a maker of requests for the cluster `c`, made with three nodes on a machine that lacks nothing."""
    for check in ("check_user", "check_packages"):
        monkeypatch.setattr(preflight, check, lambda: None)
    monkeypatch.setattr(preflight, "check_programs", lambda programs: None)
    monkeypatch.setattr(native, "_is_built", lambda request: True)
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "cluster.json").write_text(json.dumps({"schema": 1, "index": 16, "nodes": 3}), encoding="utf-8")

    def make(nodes: int | None) -> native.Request:
        return native.Request.of({
            "name": "c", "state": "present", "nodes": nodes, "namespace": None, "state_dir": str(tmp_path),
            "images": [], "cache_dir": str(tmp_path), "tools_dir": None,
        })  # fmt: skip

    return make


@pytest.mark.parametrize("check", [True, False])
def test_another_number_of_nodes_is_refused(request_of: t.Any, check: bool) -> None:
    with pytest.raises(ConflictError, match="number of nodes is 3 and cannot be changed to 2; remove it first"):
        native.ensure(request_of(2), check=check, say=print)


@pytest.mark.parametrize("nodes", [None, 3])
def test_the_same_number_of_nodes_or_none_is_accepted(request_of: t.Any, nodes: int | None) -> None:
    assert native.wanted(request_of(nodes), print).addresses.nodes == 3


@pytest.mark.parametrize("nodes", [-1, 0, 17])
def test_impossible_numbers_of_nodes_are_refused(request_of: t.Any, nodes: int) -> None:
    with pytest.raises(InvalidInputError, match=f"nodes is {nodes}: a native cluster has 1 to 16 nodes"):
        native.ensure(request_of(nodes), check=True, say=print)


@pytest.mark.parametrize(("answers", "state"), [([False, True], "running"), ([False] * 2, "unhealthy")])
def test_one_late_answer_does_not_make_a_component_unhealthy(
    request_of: t.Any, monkeypatch: pytest.MonkeyPatch, answers: list[bool], state: str
) -> None:
    made, left = native.wanted(request_of(3), print), iter(answers)
    monkeypatch.setattr(processes, "state", lambda component, layout: "running")
    monkeypatch.setattr(api, "is_healthy", lambda url: next(left))
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    (proxy,) = (component for component in made.components if component.name == "kube-proxy")
    assert made._state(proxy) == state
    assert not list(left)


def test_images_are_brought_to_every_node_that_lacks_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    archives = [
        containerd.Archive(path=tmp_path / name, name=name, digest=f"sha256:{name}") for name in ("small", "large")
    ]
    for size, archive in enumerate(archives):
        archive.path.write_bytes(b"x" * size)
    there = {1: {"small": "sha256:small"}, 2: {"large": "sha256:older"}}
    imported: list[tuple[str, str]] = []
    monkeypatch.setattr(containerd, "present", lambda node: there[node.number])
    monkeypatch.setattr(containerd, "import_archive", lambda node, archive: imported.append((node.name, archive.name)))
    nodes = [Layout(name="c").node(number) for number in (1, 2)]
    wanted = images.Images(nodes=nodes, archives=archives)

    assert wanted.observe(lambda node: node.is_first) == {
        "small": "sha256:small", "large": "absent", "small on c-2": "absent", "large on c-2": "absent",
    }  # fmt: skip
    wanted.bring(print)

    assert imported == [("c-2", "small"), ("c-1", "large"), ("c-2", "large")]


def test_too_few_inotify_instances_are_raised_and_more_are_left_alone(tmp_path: Path) -> None:
    limit = tmp_path / "limit"
    for before, after in (("128\n", "1024"), ("8192\n", "8192\n")):
        limit.write_text(before, encoding="ascii")
        preflight.raise_inotify_instances(limit)
        assert limit.read_text(encoding="ascii") == after
        assert preflight.inotify_instances(limit) == preflight.INOTIFY_INSTANCES


def test_a_limit_that_cannot_be_raised_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = tmp_path / "limit"
    limit.write_text("128\n", encoding="ascii")

    def refuse(*arguments: object, **options: object) -> None:
        raise OSError("Read-only file system")

    monkeypatch.setattr(Path, "write_text", refuse)
    with pytest.raises(
        InvalidInputError, match=r"Only 128 .*Read-only.*sysctl -w fs\.inotify\.max_user_instances=1024"
    ):
        preflight.raise_inotify_instances(limit)
