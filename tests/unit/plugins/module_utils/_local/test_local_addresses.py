# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

from __future__ import annotations

import ipaddress
from pathlib import Path

import pytest

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import ConflictError
from ansible_collections.mlops.eks.plugins.module_utils._local.addresses import (
    BLOCKS,
    MAX_NODES,
    POOL,
    Addresses,
    derive,
    recorded,
)


def test_same_name_same_addresses() -> None:
    assert derive("local", []) == derive("local", [])
    assert derive("local", []) != derive("other", [])


def test_everything_follows_from_the_index() -> None:
    addresses = Addresses(index=1)
    assert str(addresses.link) == "198.18.0.4/30"
    assert (addresses.host, addresses.control_plane) == ("198.18.0.5", "198.18.0.6")
    assert (addresses.pods, addresses.services) == ("10.65.0.0/16", "10.129.0.0/16")
    assert addresses.api_service == "10.129.0.1"
    assert addresses.server == "https://198.18.0.6:6443"


@pytest.mark.parametrize("index", [0, 1, 63, 64, BLOCKS - 1])
def test_ranges_never_overlap(index: int) -> None:
    addresses = Addresses(index=index)
    assert addresses.link.subnet_of(POOL)
    assert not ipaddress.ip_network(addresses.pods).overlaps(ipaddress.ip_network(addresses.services))


def test_several_nodes_have_a_block_ranges_and_addresses_of_their_own() -> None:
    addresses = Addresses(index=16, nodes=3)
    assert str(addresses.block) == "198.18.0.64/26"
    assert str(addresses.link) == "198.18.0.64/30"
    assert str(addresses.nodes_network) == "198.18.0.96/27"
    assert [addresses.node(number) for number in addresses.numbers] == ["198.18.0.66", "198.18.0.98", "198.18.0.99"]
    assert addresses.hop(1) == "198.18.0.97"
    assert [addresses.node_pods(number) for number in addresses.numbers] == [
        "10.80.1.0/24", "10.80.2.0/24", "10.80.3.0/24",
    ]  # fmt: skip
    assert Addresses(index=16).node_pods(1) == "10.80.0.0/16"


@pytest.mark.parametrize("name", ["a", "local", "nodes3"])
def test_a_block_of_several_nodes_lies_in_the_pool_and_meets_no_other(name: str) -> None:
    several = derive(name, [], nodes=MAX_NODES)
    assert several.block.subnet_of(POOL)
    assert ipaddress.ip_address(several.hop(MAX_NODES)) in several.nodes_network
    one = derive("one", [several.block])
    assert not one.block.overlaps(several.block)
    assert not derive(name, [several.link], nodes=3).block.overlaps(several.block)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"nodes": 3}'])
def test_a_broken_record_counts_as_none(tmp_path: Path, text: str) -> None:
    record = tmp_path / "cluster.json"
    assert recorded(record) is None
    record.write_text(text, encoding="utf-8")
    assert recorded(record) is None


def test_a_record_from_before_there_were_several_nodes_means_one(tmp_path: Path) -> None:
    record = tmp_path / "cluster.json"
    record.write_text('{"schema": 1, "index": 7}', encoding="utf-8")
    assert recorded(record) == Addresses(index=7, nodes=1)


def test_a_taken_block_is_passed_over() -> None:
    first = derive("local", [])
    second = derive("local", [first.link])
    assert second.index != first.index
    assert derive("local", [ipaddress.IPv4Network(f"{first.control_plane}/32")]) == second


def test_a_full_pool_is_refused() -> None:
    with pytest.raises(ConflictError, match=r"Cluster 'local': no free /30 in 198\.18\.0\.0/15"):
        derive("local", [POOL])
