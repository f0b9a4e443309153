# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The text of every configuration file of a native cluster. Pure: same cluster and host, same bytes."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._local import node_configuration
from ansible_collections.mlops.eks.plugins.module_utils._local.addresses import Addresses
from ansible_collections.mlops.eks.plugins.module_utils._local.layout import Layout
from ansible_collections.mlops.eks.plugins.module_utils._local.node_configuration import HostFacts


def kubeconfig(layout: Layout, addresses: Addresses, user: str) -> str:
    """Return a self-contained kubeconfig for the client certificate `user`; all its names are the cluster's name."""
    name = layout.name

    def data(file: str) -> str:
        return base64.b64encode(layout.pki(file).read_bytes()).decode()

    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {"name": name, "cluster": {"server": addresses.server, "certificate-authority-data": data("ca.crt")}}
        ],
        "users": [
            {
                "name": name,
                "user": {"client-certificate-data": data(f"{user}.crt"), "client-key-data": data(f"{user}.key")},
            }
        ],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "current-context": name,
    }
    return json.dumps(document, indent=2, sort_keys=True) + "\n"


def files(layout: Layout, addresses: Addresses, host: HostFacts) -> Mapping[Path, str]:
    """Return `{path: text}` of all configuration files, kubeconfigs included."""
    nodes = [layout.node(number) for number in addresses.numbers]
    texts: dict[Path, str] = {
        layout.config("Corefile"): corefile(layout, addresses),
        # Pods must not inherit the host's search list or its name servers, which they cannot reach.
        layout.config("resolv.conf"): f"nameserver {addresses.control_plane}\n",
        layout.kubeconfig: kubeconfig(layout, addresses, "admin"),
    }
    for node in nodes:
        texts.update(node_configuration.files(node, addresses, host))
    for user in ("controller-manager", "scheduler", "proxy", "coredns", *(node.named("kubelet") for node in nodes)):
        texts[layout.config(f"{user}.kubeconfig")] = kubeconfig(layout, addresses, user)
    return texts


def corefile(layout: Layout, addresses: Addresses) -> str:
    """Return CoreDNS's configuration. It caches missing names for one second only, because MPI waits for new names."""
    return f"""\
cluster.local:53 in-addr.arpa:53 ip6.arpa:53 {{
    bind {addresses.control_plane}
    errors
    health {addresses.control_plane}:8080
    kubernetes cluster.local in-addr.arpa ip6.arpa {{
        kubeconfig {layout.config("coredns.kubeconfig")}
        pods insecure
        ttl 1
    }}
    cache {{
        success 4096 1
        denial 1024 1
    }}
}}
"""
