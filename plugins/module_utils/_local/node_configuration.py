# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The text of the configuration files of one node: containerd, CNI, kubelet, kube-proxy. Pure, as `configuration`."""

from __future__ import annotations

import dataclasses
import json
import typing as t
from collections.abc import Mapping
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._local.addresses import Addresses
from ansible_collections.mlops.eks.plugins.module_utils._local.layout import Layout, Node

PAUSE_IMAGE = "localhost/mlops-eks/pause:0.1.0"
# Debian's containernetworking-plugins.
CNI_BIN = "/usr/lib/cni"
Document = dict[str, t.Any]
# Settings of every kubelet.
KUBELET: Mapping[str, t.Any] = {
    "failSwapOn": False,
    "localStorageCapacityIsolation": False,
    "serializeImagePulls": False,
    "enableSystemLogHandler": False,
    # Images are imported, not pulled, so a garbage-collected one cannot be pulled again.
    "imageGCHighThresholdPercent": 100,
    "imageMinimumGCAge": "87600h",
    "imageMaximumGCAge": "0s",
    "evictionHard": {"memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
    # The delay until a pod sees a changed Secret; a minute by default. Operators wait for their certificates.
    "syncFrequency": "5s",
    # Rotation must not lose lines of a job that prints a lot while its log is followed.
    "containerLogMaxSize": "256Mi",
    "kubeAPIQPS": 100,
    "kubeAPIBurst": 200,
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class HostFacts:
    """Properties of this machine that the configuration depends on."""

    cgroup_v2: bool
    can_lower_oom_score: bool
    bridge_netfilter: bool


def files(node: Node, addresses: Addresses, host: HostFacts) -> Mapping[Path, str]:
    """Return `{path: text}` of the node's configuration files."""
    return {
        node.config("containerd.toml"): containerd(node, host),
        node.root / "cni" / "conf" / "10-bridge.conflist": cni(node, addresses),
        node.config("kubelet.json"): kubelet(node, addresses, host),
        node.config("kube-proxy.json"): kube_proxy(node, addresses, host),
    }


def containerd(node: Node, host: HostFacts) -> str:
    """Return containerd's configuration (version 2, read by containerd 1.6 and 1.7)."""
    root = node.root / "containerd"
    return f"""\
version = 2
root = "{root}/root"
state = "{root}/state"
disabled_plugins = [
  "io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper",
  "io.containerd.snapshotter.v1.zfs", "io.containerd.tracing.processor.v1.otlp", "io.containerd.internal.v1.tracing",
]

[grpc]
  address = "{node.containerd_socket}"

[plugins."io.containerd.internal.v1.opt"]
  path = "{root}/opt"

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{PAUSE_IMAGE}"
  # Without CAP_SYS_RESOURCE runc may not lower the score and dies: "can't get final child's PID from pipe: EOF".
  restrict_oom_score_adj = {_toml(not host.can_lower_oom_score)}
  netns_mounts_under_state_dir = true

[plugins."io.containerd.grpc.v1.cri".cni]
  bin_dir = "{CNI_BIN}"
  conf_dir = "{node.root}/cni/conf"

[plugins."io.containerd.grpc.v1.cri".containerd]
  snapshotter = "overlayfs"
  default_runtime_name = "runc"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
  Root = "{root}/runc"
"""


def cni(node: Node, addresses: Addresses) -> str:
    """Return the CNI network list. `host-local` stores leases by network name, so each node has its own."""
    bridge: Document = {
        "type": "bridge",
        "bridge": "cni0",
        "isGateway": True,
        "hairpinMode": True,
        "ipam": {
            "type": "host-local",
            "dataDir": str(node.root / "cni" / "leases"),
            "ranges": [[{"subnet": addresses.node_pods(node.number)}]],
            "routes": [{"dst": "0.0.0.0/0"}],
        },
    }
    plugins = [bridge, {"type": "portmap", "capabilities": {"portMappings": True}}]
    return _json({"cniVersion": "0.4.0", "name": node.netns, "plugins": plugins})


def kubelet(node: Node, addresses: Addresses, host: HostFacts) -> str:
    """Return the KubeletConfiguration."""
    cluster = node.cluster
    settings: Document = {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        **KUBELET,
        "address": addresses.node(node.number),
        "healthzBindAddress": addresses.node(node.number),
        "authentication": _authentication(cluster),
        "authorization": {"mode": "Webhook"},
        "tlsCertFile": str(cluster.pki(f"{node.named('kubelet')}.crt")),
        "tlsPrivateKeyFile": str(cluster.pki(f"{node.named('kubelet')}.key")),
        "containerRuntimeEndpoint": f"unix://{node.containerd_socket}",
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/{node.cgroup}",
        "clusterDNS": [addresses.control_plane],
        "clusterDomain": "cluster.local",
        "resolvConf": str(cluster.config("resolv.conf")),
        "podLogsDir": str(node.root / "pod-logs"),
        "volumePluginDir": str(node.root / "kubelet" / "volume-plugins"),
    }
    if not host.cgroup_v2:
        settings["failCgroupV1"] = False
    if not host.can_lower_oom_score:
        settings["oomScoreAdj"] = 0
    if addresses.nodes > 1:
        # A lease is renewed four times before it ends; the controller manager's grace period depends on that.
        settings |= {"nodeLeaseDurationSeconds": 10, "nodeStatusUpdateFrequency": "4s"}
    return _json(settings)


def _authentication(cluster: Layout) -> Document:
    return {
        "anonymous": {"enabled": False},
        "webhook": {"enabled": True},
        "x509": {"clientCAFile": str(cluster.pki("ca.crt"))},
    }


def kube_proxy(node: Node, addresses: Addresses, host: HostFacts) -> str:
    """Return the KubeProxyConfiguration."""
    return _json(
        {
            "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
            "kind": "KubeProxyConfiguration",
            "mode": "iptables",
            "bindAddress": addresses.node(node.number),
            "clusterCIDR": addresses.pods,
            "hostnameOverride": node.name,
            "clientConnection": {"kubeconfig": str(node.cluster.config("proxy.kubeconfig"))},
            "healthzBindAddress": f"{addresses.node(node.number)}:10256",
            "metricsBindAddress": "127.0.0.1:10249",
            "oomScoreAdj": 0,
            # The connection table is the host's; leave its size alone.
            "conntrack": {
                "maxPerCore": 0,
                "min": 0,
                "tcpEstablishedTimeout": "0s",
                "tcpCloseWaitTimeout": "0s",
            },
            # Otherwise replies between two pods of one bridge pass no hook; with it they return through the gateway.
            "iptables": {"masqueradeAll": not host.bridge_netfilter, "minSyncPeriod": "0s"},
        }
    )


def _json(document: Document) -> str:
    return json.dumps(document, indent=2, sort_keys=True) + "\n"


def _toml(value: bool) -> str:
    return "true" if value else "false"
