# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Paths and names of a native cluster, all derived from the cluster's name and a node's number.

<state_dir>/<name>/
├── cluster.json            parameters at creation (address index, number of nodes)
├── kubeconfig              the administrator's
├── pki/ config/ run/ logs/ certificates, configuration, process records, output of the components
├── etcd/
├── containerd/ kubelet/ cni/ pod-logs/   of the first node, on which the control plane runs
├── nodes/<number>/         the same for each further node, and its config/ and run/
└── shared/{fsx,efs}/       behind the claims pv-fsx and pv-efs, seen by every node
"""

from __future__ import annotations

import dataclasses
import hashlib
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.names import LOCAL_CLUSTER

STATE_DIR = Path("/var/lib/mlops-eks")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Layout:
    """Paths and names of one cluster."""

    name: str
    state_dir: Path = STATE_DIR

    def __post_init__(self) -> None:
        """Refuse cluster names that derived names cannot contain."""
        LOCAL_CLUSTER.check("cluster name", self.name)

    @property
    def root(self) -> Path:
        """The cluster's directory."""
        return self.state_dir / self.name

    @property
    def lock(self) -> Path:
        """Lock file; outside `root`, which `absent` removes."""
        return self.state_dir / f".{self.name}.lock"

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig."""
        return self.root / "kubeconfig"

    def config(self, file: str) -> Path:
        """Return the path of a configuration file."""
        return self.root / "config" / file

    def pki(self, file: str) -> Path:
        """Return the path of a certificate or key."""
        return self.root / "pki" / file

    def log(self, component: str) -> Path:
        """Return the path of a component's output."""
        return self.root / "logs" / f"{component}.log"

    @property
    def netns(self) -> str:
        """Network namespace of the control plane and the first node."""
        return f"mlops-eks-{self.name}"

    @property
    def netns_path(self) -> Path:
        """File that pins the network namespace."""
        return Path("/run/netns") / self.netns

    @property
    def cgroup(self) -> str:
        """Cgroup of all nodes' pods, relative to each hierarchy."""
        return f"mlops-eks-{self.name}"

    @property
    def link(self) -> str:
        """Host side of the veth pair (at most 15 characters)."""
        return "mlops-" + hashlib.sha256(self.name.encode()).hexdigest()[:8]

    def node(self, number: int) -> Node:
        """Return the paths and names of one node; the first has number 1."""
        return Node(cluster=self, number=number)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Node:
    """Paths and names of one node. The first node uses the cluster's own."""

    cluster: Layout
    number: int

    @property
    def is_first(self) -> bool:
        """Whether the control plane runs here."""
        return self.number == 1

    @property
    def name(self) -> str:
        """Name in Kubernetes."""
        return f"{self.cluster.name}-{self.number}"

    @property
    def root(self) -> Path:
        """The node's directory."""
        return self.cluster.root if self.is_first else self.cluster.root / "nodes" / str(self.number)

    def named(self, thing: str) -> str:
        """Return the name of this node's process or certificate `thing`, unique in the cluster."""
        return thing if self.is_first else f"{thing}-{self.number}"

    def config(self, file: str) -> Path:
        """Return the path of a configuration file."""
        return self.root / "config" / file

    @property
    def containerd_socket(self) -> Path:
        """Socket of this node's containerd."""
        return self.root / "run" / "containerd.sock"

    @property
    def netns(self) -> str:
        """Network namespace, also the name of the CNI network. A cluster's name cannot contain the dot."""
        return self.cluster.netns if self.is_first else f"{self.cluster.netns}.{self.number}"

    @property
    def netns_path(self) -> Path:
        """File that pins the network namespace."""
        return self.cluster.netns_path.parent / self.netns

    @property
    def cgroup(self) -> str:
        """Cgroup of this node's pods; the further nodes' lie in the cluster's."""
        return self.cluster.cgroup if self.is_first else f"{self.cluster.cgroup}/node-{self.number}"
