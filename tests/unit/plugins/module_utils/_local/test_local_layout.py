# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.mlops.eks.plugins.module_utils._core.cache import cache_dir
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._local.layout import Layout


@pytest.mark.parametrize("name", ["a", "local", "team-1", "a" * 32])
def test_names_fit_what_is_named_after_them(name: str) -> None:
    layout = Layout(name=name)
    assert len(layout.link) <= 15
    assert len(str(layout.node(16).containerd_socket)) + len(".ttrpc") <= 107


@pytest.mark.parametrize("name", ["", "A", "a_b", "-a", "a-", "a.b", "a/b", "a" * 33, "..", "a\n"])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(InvalidInputError, match=r"^cluster name "):
        Layout(name=name)


def test_clusters_share_nothing() -> None:
    one, two = Layout(name="a"), Layout(name="a-b")
    for attribute in ("root", "lock", "kubeconfig", "netns", "netns_path", "cgroup", "link"):
        assert getattr(one, attribute) != getattr(two, attribute)


def test_nodes_share_nothing_and_a_cluster_cannot_be_named_like_a_node() -> None:
    cluster = Layout(name="a")
    nodes = [cluster.node(number) for number in (1, 2, 3)]
    for attribute in ("name", "root", "netns", "netns_path", "cgroup", "containerd_socket"):
        assert len({getattr(node, attribute) for node in nodes}) == 3
    assert nodes[0].root == cluster.root
    assert nodes[0].netns == cluster.netns
    with pytest.raises(InvalidInputError, match=r"^cluster name "):
        Layout(name=nodes[1].netns.removeprefix("mlops-eks-"))


def test_cache_is_found_as_documented(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("MLOPS_EKS_CACHE", raising=False)
    assert cache_dir() == Path("/home/me/.cache/mlops-eks")
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert cache_dir() == Path("/x/mlops-eks")
    monkeypatch.setenv("MLOPS_EKS_CACHE", "/y")
    assert cache_dir() == Path("/y")
