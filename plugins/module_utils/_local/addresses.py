# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Addresses of a native cluster, derived from its name so that clusters and re-runs agree without asking.

The host reaches the cluster over a /30 taken from 198.18.0.0/15, which RFC 2544 sets aside for tests inside one
machine. Pods and services live in the cluster's own network namespace, so their ranges could even be equal; they
differ so that a reader of two clusters' output can tell them apart.
"""

from __future__ import annotations

import dataclasses
import hashlib
import ipaddress
from collections.abc import Iterable

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import ConflictError

POOL = ipaddress.IPv4Network("198.18.0.0/15")
BLOCKS = POOL.num_addresses // 4
TRIES = 64


@dataclasses.dataclass(frozen=True, kw_only=True)
class Addresses:
    """Everything that follows from the number of the /30 block, `index`."""

    index: int

    @property
    def link(self) -> ipaddress.IPv4Network:
        """The /30 between host and cluster."""
        return ipaddress.IPv4Network((int(POOL.network_address) + 4 * self.index, 30))

    @property
    def host(self) -> str:
        """Host's end of the link."""
        return str(self.link[1])

    @property
    def node(self) -> str:
        """Cluster's end: API server, node and DNS address."""
        return str(self.link[2])

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
        return f"https://{self.node}:6443"


def derive(name: str, taken: Iterable[ipaddress.IPv4Network]) -> Addresses:
    """Return the first block, in an order fixed by `name`, that overlaps nothing `taken`.

    Raises:
        ConflictError: none of the first `TRIES` blocks is free.
    """
    used = list(taken)
    for attempt in range(TRIES):
        digest = hashlib.sha256(f"{name}:{attempt}".encode()).digest()
        addresses = Addresses(index=int.from_bytes(digest[:4], "big") % BLOCKS)
        if not any(addresses.link.overlaps(network) for network in used):
            return addresses
    raise ConflictError(f"Cluster {name!r}: no free /30 in {POOL}; remove routes into that range")
