# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

from __future__ import annotations

import ipaddress

import pytest

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import ConflictError
from ansible_collections.mlops.eks.plugins.module_utils._local.addresses import BLOCKS, POOL, Addresses, derive


def test_same_name_same_addresses() -> None:
    assert derive("local", []) == derive("local", [])
    assert derive("local", []) != derive("other", [])


def test_everything_follows_from_the_index() -> None:
    addresses = Addresses(index=1)
    assert str(addresses.link) == "198.18.0.4/30"
    assert (addresses.host, addresses.node) == ("198.18.0.5", "198.18.0.6")
    assert (addresses.pods, addresses.services) == ("10.65.0.0/16", "10.129.0.0/16")
    assert addresses.api_service == "10.129.0.1"
    assert addresses.server == "https://198.18.0.6:6443"


@pytest.mark.parametrize("index", [0, 1, 63, 64, BLOCKS - 1])
def test_ranges_never_overlap(index: int) -> None:
    addresses = Addresses(index=index)
    assert addresses.link.subnet_of(POOL)
    assert not ipaddress.ip_network(addresses.pods).overlaps(ipaddress.ip_network(addresses.services))


def test_a_taken_block_is_passed_over() -> None:
    first = derive("local", [])
    second = derive("local", [first.link])
    assert second.index != first.index
    assert derive("local", [ipaddress.IPv4Network(f"{first.node}/32")]) == second


def test_a_full_pool_is_refused() -> None:
    with pytest.raises(ConflictError, match=r"Cluster 'local': no free /30 in 198\.18\.0\.0/15"):
        derive("local", [POOL])
