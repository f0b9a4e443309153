# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The processes of a native cluster: one row each, in starting order."""

from __future__ import annotations

import dataclasses
import hashlib
import typing as t
from collections.abc import Mapping
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._local.addresses import Addresses
from ansible_collections.mlops.eks.plugins.module_utils._local.layout import Layout, Node

# A node without a heartbeat is NotReady after this long (default 50 s; the kubelet sends one every 2.5 s) ...
CONTROLLER_MANAGER_LOST_NODE = {"node-monitor-grace-period": "12s"}
# ... and its pods are evicted this many seconds later (300 by default).
APISERVER_LOST_NODE = {"default-not-ready-toleration-seconds": 8, "default-unreachable-toleration-seconds": 8}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Component:
    """One process. A change of a file in `reads` restarts it; `health` is a URL that answers 200 when it works.

    `netns` is the network namespace it runs in; `precedes_api`: it can start without an API server.
    """

    name: str
    netns: Path
    argv: tuple[str, ...]
    reads: tuple[Path, ...] = ()
    health: str | None = None
    precedes_api: bool = False

    def identity(self) -> str:
        """Return 16 hex digits that change with the program, its arguments and its files."""
        digest = hashlib.sha256("\0".join(self.argv).encode())
        for path in self.reads:
            digest.update(path.read_bytes() if path.exists() else b"")
        return digest.hexdigest()[:16]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Builder:
    """Turns layout, addresses and program paths into rows."""

    layout: Layout
    addresses: Addresses
    programs: Mapping[str, str]

    def all(self) -> tuple[Component, ...]:
        """Return every component in starting order."""
        first, *others = (self.layout.node(number) for number in self.addresses.numbers)
        return (
            self._etcd(),
            self._containerd(first),
            self._apiserver(),
            self._controller_manager(),
            self._scheduler(),
            self._coredns(),
            self._kube_proxy(first),
            self._kubelet(first),
            *(row(node) for node in others for row in (self._containerd, self._kube_proxy, self._kubelet)),
        )

    def _row(self, program: str, flags: Mapping[str, t.Any], node: Node | None = None, **rest: t.Any) -> Component:
        where = node or self.layout.node(1)
        argv = [self.programs[program], *(f"--{flag}={_value(value)}" for flag, value in flags.items())]
        return Component(name=where.named(program), netns=where.netns_path, argv=tuple(argv), **rest)

    def _etcd(self) -> Component:
        name = self.layout.node(1).name
        flags = {
            "name": name,
            "data-dir": self.layout.root / "etcd",
            "listen-client-urls": "http://127.0.0.1:2379",
            "advertise-client-urls": "http://127.0.0.1:2379",
            "listen-peer-urls": "http://127.0.0.1:2380",
            "initial-advertise-peer-urls": "http://127.0.0.1:2380",
            "initial-cluster": f"{name}=http://127.0.0.1:2380",
            "log-level": "warn",
        }
        return self._row("etcd", flags, precedes_api=True)

    def _containerd(self, node: Node) -> Component:
        config = node.config("containerd.toml")
        flags = {"config": config, "log-level": "warn"}
        reads = (config, node.root / "cni" / "conf" / "10-bridge.conflist")
        return self._row("containerd", flags, node, reads=reads, precedes_api=True)

    def _apiserver(self) -> Component:
        pki = self.layout.pki
        flags = {
            "advertise-address": self.addresses.control_plane,
            "bind-address": self.addresses.control_plane,
            "secure-port": 6443,
            "etcd-servers": "http://127.0.0.1:2379",
            "service-cluster-ip-range": self.addresses.services,
            "authorization-mode": "Node,RBAC",
            "enable-admission-plugins": "NodeRestriction",
            "allow-privileged": True,
            "client-ca-file": pki("ca.crt"),
            "tls-cert-file": pki("apiserver.crt"),
            "tls-private-key-file": pki("apiserver.key"),
            "kubelet-certificate-authority": pki("ca.crt"),
            "kubelet-client-certificate": pki("apiserver-kubelet-client.crt"),
            "kubelet-client-key": pki("apiserver-kubelet-client.key"),
            "kubelet-preferred-address-types": "InternalIP",
            "proxy-client-cert-file": pki("front-proxy-client.crt"),
            "proxy-client-key-file": pki("front-proxy-client.key"),
            # One authority signs users and the front proxy; only the proxy's name may impersonate others.
            "requestheader-client-ca-file": pki("ca.crt"),
            "requestheader-allowed-names": "front-proxy-client",
            "requestheader-extra-headers-prefix": "X-Remote-Extra-",
            "requestheader-group-headers": "X-Remote-Group",
            "requestheader-username-headers": "X-Remote-User",
            "service-account-issuer": "https://kubernetes.default.svc.cluster.local",
            "service-account-key-file": pki("service-account.pub"),
            "service-account-signing-key-file": pki("service-account.key"),
            "profiling": False,
            **self._lost_node_flags(APISERVER_LOST_NODE),
        }
        return self._row("kube-apiserver", flags, reads=(pki("apiserver.crt"),), precedes_api=True)

    def _controller_manager(self) -> Component:
        pki = self.layout.pki
        kubeconfig = self.layout.config("controller-manager.kubeconfig")
        flags = {
            "kubeconfig": kubeconfig,
            "bind-address": self.addresses.control_plane,
            "root-ca-file": pki("ca.crt"),
            "cluster-signing-cert-file": pki("ca.crt"),
            "cluster-signing-key-file": pki("ca.key"),
            "service-account-private-key-file": pki("service-account.key"),
            "use-service-account-credentials": True,
            "allocate-node-cidrs": False,
            "leader-elect": False,
            "profiling": False,
            # Binding a claim to its volume takes two of these periods, 15 s each by default.
            "pvclaimbinder-sync-period": "1s",
            # The delay until a new node loses its not-ready taint; 5 s by default.
            "node-monitor-period": "1s",
            **self._lost_node_flags(CONTROLLER_MANAGER_LOST_NODE),
        }
        health = f"https://{self.addresses.control_plane}:10257/healthz"
        return self._row("kube-controller-manager", flags, reads=(kubeconfig,), health=health)

    def _scheduler(self) -> Component:
        kubeconfig = self.layout.config("scheduler.kubeconfig")
        flags = {
            "kubeconfig": kubeconfig,
            "bind-address": self.addresses.control_plane,
            "leader-elect": False,
            "profiling": False,
        }
        health = f"https://{self.addresses.control_plane}:10259/healthz"
        return self._row("kube-scheduler", flags, reads=(kubeconfig,), health=health)

    def _coredns(self) -> Component:
        corefile = self.layout.config("Corefile")
        argv = (self.programs["coredns"], "-conf", str(corefile), "-quiet")
        reads = (corefile, self.layout.config("coredns.kubeconfig"))
        health = f"http://{self.addresses.control_plane}:8080/health"
        return Component(name="coredns", netns=self.layout.netns_path, argv=argv, reads=reads, health=health)

    def _kube_proxy(self, node: Node) -> Component:
        config = node.config("kube-proxy.json")
        reads = (config, self.layout.config("proxy.kubeconfig"))
        health = f"http://{self.addresses.node(node.number)}:10256/livez"
        return self._row("kube-proxy", {"config": config}, node, reads=reads, health=health)

    def _kubelet(self, node: Node) -> Component:
        config = node.config("kubelet.json")
        kubeconfig = self.layout.config(f"{node.named('kubelet')}.kubeconfig")
        address = self.addresses.node(node.number)
        flags = {
            "config": config,
            "kubeconfig": kubeconfig,
            "root-dir": node.root / "kubelet",
            "cert-dir": node.root / "kubelet" / "pki",
            "hostname-override": node.name,
            "node-ip": address,
            "node-labels": f"mlops.eks/cluster={self.layout.name}",
        }
        health = f"http://{address}:10248/healthz"
        return self._row("kubelet", flags, node, reads=(config, kubeconfig), health=health)

    def _lost_node_flags(self, flags: Mapping[str, t.Any]) -> Mapping[str, t.Any]:
        """Return the flags that detect a lost node soon, unless the cluster has only one node."""
        return flags if self.addresses.nodes > 1 else {}


def _value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
