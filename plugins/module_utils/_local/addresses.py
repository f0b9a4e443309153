# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Addresses of a native cluster, derived from its name, so that re-runs get the same ones.

The host reaches the cluster over a /30 from 198.18.0.0/15, which RFC 2544 reserves for tests. Pods and services live
in the cluster's own network namespace. Their ranges differ between clusters only to make output easier to read.

A cluster of several nodes takes a /26: its first /30 is the link to the first node, and its second half is the network
between the nodes. Each node has a /24 of the pods' range.
"""

from __future__ import annotations

import dataclasses
import hashlib
import ipaddress
import json
from collections.abc import Iterable
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import ConflictError

POOL = ipaddress.IPv4Network("198.18.0.0/15")
BLOCKS = POOL.num_addresses // 4
TRIES = 64
# The network between the nodes could hold more; the machine could not.
MAX_NODES = 16


@dataclasses.dataclass(frozen=True, kw_only=True)
class Addresses:
    """Addresses derived from `index`, the number of the first /30 of the block, and the number of nodes."""

    index: int
    nodes: int = 1

    @property
    def numbers(self) -> range:
        """The nodes' numbers."""
        return range(1, self.nodes + 1)

    @property
    def block(self) -> ipaddress.IPv4Network:
        """The cluster's part of the pool."""
        return ipaddress.IPv4Network((int(POOL.network_address) + 4 * self.index, 30 if self.nodes == 1 else 26))

    @property
    def link(self) -> ipaddress.IPv4Network:
        """The /30 between host and first node."""
        return next(self.block.subnets(new_prefix=30))

    @property
    def host(self) -> str:
        """Host's end of the link."""
        return str(self.link[1])

    @property
    def control_plane(self) -> str:
        """Cluster's end of the link: address of API server, DNS and first node."""
        return str(self.link[2])

    @property
    def nodes_network(self) -> ipaddress.IPv4Network:
        """The network between the nodes of a cluster with several nodes."""
        return list(self.block.subnets(new_prefix=27))[1]

    def node(self, number: int) -> str:
        """Return a node's InternalIP."""
        return self.control_plane if number == 1 else self.hop(number)

    def hop(self, number: int) -> str:
        """Return a node's address in the network between the nodes; the first node is the gateway."""
        return str(self.nodes_network[number])

    def node_pods(self, number: int) -> str:
        """Return the range of the pod addresses of one node."""
        if self.nodes == 1:
            return self.pods
        return str(list(ipaddress.IPv4Network(self.pods).subnets(new_prefix=24))[number])

    @property
    def pods(self) -> str:
        """Range of pod addresses."""
        return f"10.{64 + self.index % 64}.0.0/16"

    @property
    def services(self) -> str:
        """Range of service addresses."""
        return f"10.{128 + self.index % 64}.0.0/16"

    @property
    def api_service(self) -> str:
        """Address of the service `kubernetes.default`: the first of the range."""
        return str(ipaddress.IPv4Network(self.services)[1])

    @property
    def server(self) -> str:
        """URL of the API server, as the host reaches it."""
        return f"https://{self.control_plane}:6443"


def recorded(path: Path) -> Addresses | None:
    """Return the addresses recorded in `path`, a cluster's `cluster.json`, or `None` if it is missing or incomplete."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        return Addresses(index=record["index"], nodes=record.get("nodes", 1))
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def derive(name: str, taken: Iterable[ipaddress.IPv4Network], *, nodes: int = 1) -> Addresses:
    """Return the first free block for that many nodes, in an order that `name` determines.

    Raises:
        ConflictError: none of the first `TRIES` blocks is free.
    """
    used = list(taken)
    for attempt in range(TRIES):
        digest = hashlib.sha256(f"{name}:{attempt}".encode()).digest()
        index = int.from_bytes(digest[:4], "big") % BLOCKS
        # A /26 starts at every sixteenth /30.
        addresses = Addresses(index=index if nodes == 1 else index - index % 16, nodes=nodes)
        if not any(addresses.block.overlaps(network) for network in used):
            return addresses
    size = addresses.block.prefixlen
    raise ConflictError(f"Cluster {name!r}: no free /{size} in {POOL}; remove routes into that range")
