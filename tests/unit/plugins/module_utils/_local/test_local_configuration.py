# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

from __future__ import annotations

import dataclasses
import json
import tomllib
from pathlib import Path

import pytest

from ansible_collections.mlops.eks.plugins.module_utils._local import certificates, configuration, node_configuration
from ansible_collections.mlops.eks.plugins.module_utils._local.addresses import Addresses
from ansible_collections.mlops.eks.plugins.module_utils._local.components import Builder, Component
from ansible_collections.mlops.eks.plugins.module_utils._local.layout import Layout
from ansible_collections.mlops.eks.plugins.module_utils._local.node_configuration import HostFacts

ADDRESSES = Addresses(index=1)
HOST = HostFacts(cgroup_v2=False, can_lower_oom_score=False, bridge_netfilter=True)
PROGRAMS = {
    name: f"/bin/{name}"
    for name in (
        "etcd", "containerd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "coredns", "kube-proxy",
        "kubelet",
    )
}  # fmt: skip


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    layout = Layout(name="local", state_dir=tmp_path)
    leaves = certificates.leaves(layout, ADDRESSES)
    layout.root.mkdir()
    certificates.ensure_pki(layout.root / "pki", leaves)
    return layout


THREE = Addresses(index=16, nodes=3)


@pytest.fixture
def three(tmp_path: Path) -> Layout:
    layout = Layout(name="three", state_dir=tmp_path)
    layout.root.mkdir()
    certificates.ensure_pki(layout.root / "pki", certificates.leaves(layout, THREE))
    return layout


def test_same_inputs_same_bytes(layout: Layout) -> None:
    assert configuration.files(layout, ADDRESSES, HOST) == configuration.files(layout, ADDRESSES, HOST)


def test_every_file_is_below_the_clusters_directory(layout: Layout) -> None:
    assert all(path.is_relative_to(layout.root) for path in configuration.files(layout, ADDRESSES, HOST))


def test_kubelet_follows_the_host() -> None:
    node = Layout(name="local").node(1)
    on_v1 = json.loads(node_configuration.kubelet(node, ADDRESSES, HOST))
    assert on_v1["failCgroupV1"] is False
    assert on_v1["oomScoreAdj"] == 0
    on_v2 = json.loads(
        node_configuration.kubelet(node, ADDRESSES, dataclasses.replace(HOST, cgroup_v2=True, can_lower_oom_score=True))
    )
    assert not {"failCgroupV1", "oomScoreAdj"} & on_v2.keys()
    assert on_v2["cgroupRoot"] == "/mlops-eks-local"


@pytest.mark.parametrize("able", [True, False])
def test_containerd_restricts_oom_scores_where_it_must(able: bool) -> None:
    host = dataclasses.replace(HOST, can_lower_oom_score=able)
    parsed = tomllib.loads(node_configuration.containerd(Layout(name="local").node(1), host))
    cri = parsed["plugins"]["io.containerd.grpc.v1.cri"]
    assert cri["restrict_oom_score_adj"] is not able
    assert cri["sandbox_image"] == node_configuration.PAUSE_IMAGE
    assert cri["netns_mounts_under_state_dir"]


def test_kube_proxy_masquerades_only_where_bridges_are_not_filtered() -> None:
    node = Layout(name="local").node(1)
    for filtered in (True, False):
        host = dataclasses.replace(HOST, bridge_netfilter=filtered)
        parsed = json.loads(node_configuration.kube_proxy(node, ADDRESSES, host))
        assert parsed["iptables"]["masqueradeAll"] is not filtered


def test_networks_of_two_clusters_have_names_and_leases_of_their_own() -> None:
    one, two = (json.loads(node_configuration.cni(Layout(name=name).node(1), ADDRESSES)) for name in ("a", "b"))
    assert one["name"] != two["name"]
    assert one["plugins"][0]["ipam"]["dataDir"] != two["plugins"][0]["ipam"]["dataDir"]


def test_kubeconfig_names_are_the_clusters(layout: Layout) -> None:
    config = json.loads(configuration.kubeconfig(layout, ADDRESSES, "admin"))
    assert config["current-context"] == "local"
    assert [entry["name"] for entry in config["clusters"] + config["users"] + config["contexts"]] == ["local"] * 3
    assert config["clusters"][0]["cluster"]["server"] == "https://198.18.0.6:6443"


def rows(layout: Layout, addresses: Addresses = ADDRESSES) -> dict[str, Component]:
    return {row.name: row for row in Builder(layout=layout, addresses=addresses, programs=PROGRAMS).all()}


def test_every_component_once_control_plane_first(layout: Layout) -> None:
    names = list(rows(layout))
    assert sorted(names) == sorted(PROGRAMS)
    assert names.index("etcd") < names.index("kube-apiserver") < names.index("kubelet")
    assert names.index("containerd") < names.index("kubelet")


def test_each_further_node_has_its_own_processes_in_its_own_namespace(three: Layout) -> None:
    found = rows(three, THREE)
    assert list(found) == [
        *rows(three), "containerd-2", "kube-proxy-2", "kubelet-2", "containerd-3", "kube-proxy-3", "kubelet-3",
    ]  # fmt: skip
    assert found["kubelet-2"].netns == three.node(2).netns_path
    assert found["etcd"].netns == three.netns_path
    assert f"--root-dir={three.root}/nodes/2/kubelet" in found["kubelet-2"].argv
    assert {row.name for row in found.values() if row.precedes_api} == {
        "etcd", "kube-apiserver", "containerd", "containerd-2", "containerd-3",
    }  # fmt: skip


def test_nodes_share_no_file_address_or_credential(three: Layout) -> None:
    files = configuration.files(three, THREE, HOST)
    kubelets = [json.loads(files[three.node(number).config("kubelet.json")]) for number in THREE.numbers]
    for key in (
        "address", "cgroupRoot", "containerRuntimeEndpoint", "podLogsDir", "tlsCertFile", "volumePluginDir",
    ):  # fmt: skip
        assert len({settings[key] for settings in kubelets}) == 3, key
    assert len({files[three.config(f"{three.node(number).named('kubelet')}.kubeconfig")] for number in (1, 2, 3)}) == 3
    networks = [json.loads(node_configuration.cni(three.node(number), THREE)) for number in THREE.numbers]
    assert len({json.dumps(network["plugins"][0]["ipam"]["ranges"]) for network in networks}) == 3


def test_only_a_cluster_of_several_nodes_is_hasty_about_lost_ones(layout: Layout, three: Layout) -> None:
    assert "--node-monitor-grace-period=12s" in rows(three, THREE)["kube-controller-manager"].argv
    assert "--default-unreachable-toleration-seconds=8" in rows(three, THREE)["kube-apiserver"].argv
    for row in rows(layout).values():
        assert not [word for word in row.argv if "grace-period" in word or "toleration" in word]
    assert "nodeLeaseDurationSeconds" not in json.loads(node_configuration.kubelet(layout.node(1), ADDRESSES, HOST))


def test_flags_are_written_as_go_programs_read_them(layout: Layout) -> None:
    argv = rows(layout)["kube-apiserver"].argv
    assert "--allow-privileged=true" in argv
    assert "--requestheader-allowed-names=front-proxy-client" in argv
    assert f"--service-cluster-ip-range={ADDRESSES.services}" in argv


def test_identity_changes_with_what_a_component_reads(layout: Layout) -> None:
    kubelet = rows(layout)["kubelet"]
    before = kubelet.identity()
    layout.config("kubelet.json").parent.mkdir()
    layout.config("kubelet.json").write_text("{}", encoding="utf-8")
    assert kubelet.identity() != before
    assert dataclasses.replace(kubelet, argv=(*kubelet.argv, "--v=4")).identity() != kubelet.identity()
