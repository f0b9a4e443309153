# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Text of every configuration file of a native cluster. Pure: same cluster and host, same bytes."""

from __future__ import annotations

import base64
import dataclasses
import json
import typing as t
from collections.abc import Mapping
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._local.addresses import Addresses
from ansible_collections.mlops.eks.plugins.module_utils._local.layout import Layout

PAUSE_IMAGE = "localhost/mlops-eks/pause:0.1.0"
# Debian's containernetworking-plugins.
CNI_BIN = "/usr/lib/cni"
Document = dict[str, t.Any]


@dataclasses.dataclass(frozen=True, kw_only=True)
class HostFacts:
    """What of this machine the configuration depends on."""

    cgroup_v2: bool
    can_lower_oom_score: bool
    bridge_netfilter: bool


def kubeconfig(layout: Layout, addresses: Addresses, user: str) -> str:
    """Return a self-contained kubeconfig for the client certificate `user`; all its names are the cluster's."""
    name = layout.name

    def data(file: str) -> str:
        return base64.b64encode(layout.pki(file).read_bytes()).decode()

    return _json(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [
                {"name": name, "cluster": {"server": addresses.server, "certificate-authority-data": data("ca.crt")}}
            ],
            "users": [
                {
                    "name": name,
                    "user": {
                        "client-certificate-data": data(f"{user}.crt"),
                        "client-key-data": data(f"{user}.key"),
                    },
                }
            ],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
            "current-context": name,
        }
    )


def files(layout: Layout, addresses: Addresses, host: HostFacts) -> Mapping[Path, str]:
    """Return `{path: text}` of all configuration files, kubeconfigs included."""
    texts: dict[Path, str] = {
        layout.config("containerd.toml"): containerd(layout, host),
        layout.root / "cni" / "conf" / "10-bridge.conflist": cni(layout, addresses),
        layout.config("kubelet.json"): kubelet(layout, addresses, host),
        layout.config("kube-proxy.json"): kube_proxy(layout, addresses, host),
        layout.config("Corefile"): corefile(layout, addresses),
        # Pods must not inherit the host's name servers, which they cannot reach, nor its search list.
        layout.config("resolv.conf"): f"nameserver {addresses.node}\n",
        layout.kubeconfig: kubeconfig(layout, addresses, "admin"),
    }
    for user in ("controller-manager", "scheduler", "proxy", "kubelet", "coredns"):
        texts[layout.config(f"{user}.kubeconfig")] = kubeconfig(layout, addresses, user)
    return texts


def containerd(layout: Layout, host: HostFacts) -> str:
    """Return containerd's configuration (version 2, read by containerd 1.6 and 1.7)."""
    root = layout.root / "containerd"
    return f"""\
version = 2
root = "{root}/root"
state = "{root}/state"
disabled_plugins = [
  "io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper",
  "io.containerd.snapshotter.v1.zfs", "io.containerd.tracing.processor.v1.otlp", "io.containerd.internal.v1.tracing",
]

[grpc]
  address = "{layout.containerd_socket}"

[plugins."io.containerd.internal.v1.opt"]
  path = "{root}/opt"

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{PAUSE_IMAGE}"
  # Without CAP_SYS_RESOURCE runc may not lower the score and dies: "can't get final child's PID from pipe: EOF".
  restrict_oom_score_adj = {_toml(not host.can_lower_oom_score)}
  netns_mounts_under_state_dir = true

[plugins."io.containerd.grpc.v1.cri".cni]
  bin_dir = "{CNI_BIN}"
  conf_dir = "{layout.root}/cni/conf"

[plugins."io.containerd.grpc.v1.cri".containerd]
  snapshotter = "overlayfs"
  default_runtime_name = "runc"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
  Root = "{root}/runc"
"""


def cni(layout: Layout, addresses: Addresses) -> str:
    """Return the network list; `host-local` keeps leases under the network's name, so both are the cluster's own."""
    bridge: Document = {
        "type": "bridge",
        "bridge": "cni0",
        "isGateway": True,
        "hairpinMode": True,
        "ipam": {
            "type": "host-local",
            "dataDir": str(layout.root / "cni" / "leases"),
            "ranges": [[{"subnet": addresses.pods}]],
            "routes": [{"dst": "0.0.0.0/0"}],
        },
    }
    plugins = [bridge, {"type": "portmap", "capabilities": {"portMappings": True}}]
    return _json({"cniVersion": "0.4.0", "name": layout.netns, "plugins": plugins})


def kubelet(layout: Layout, addresses: Addresses, host: HostFacts) -> str:
    """Return the KubeletConfiguration."""
    settings: Document = {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": addresses.node,
        "healthzBindAddress": addresses.node,
        "authentication": _authentication(layout),
        "authorization": {"mode": "Webhook"},
        "tlsCertFile": str(layout.pki("kubelet.crt")),
        "tlsPrivateKeyFile": str(layout.pki("kubelet.key")),
        "containerRuntimeEndpoint": f"unix://{layout.containerd_socket}",
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/{layout.cgroup}",
        "clusterDNS": [addresses.node],
        "clusterDomain": "cluster.local",
        "resolvConf": str(layout.config("resolv.conf")),
        "podLogsDir": str(layout.root / "pod-logs"),
        "volumePluginDir": str(layout.root / "kubelet" / "volume-plugins"),
        "failSwapOn": False,
        "localStorageCapacityIsolation": False,
        "serializeImagePulls": False,
        "enableSystemLogHandler": False,
        # Images are imported, not pulled: one that is collected could not come back.
        "imageGCHighThresholdPercent": 100,
        "imageMinimumGCAge": "87600h",
        "imageMaximumGCAge": "0s",
        "evictionHard": {"memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
        # An operator that waits for its own certificate in a mounted Secret waits for this, a minute by default.
        "syncFrequency": "5s",
        # A job that prints a lot must not lose lines to rotation while its log is followed.
        "containerLogMaxSize": "256Mi",
        "kubeAPIQPS": 100,
        "kubeAPIBurst": 200,
    }
    if not host.cgroup_v2:
        settings["failCgroupV1"] = False
    if not host.can_lower_oom_score:
        settings["oomScoreAdj"] = 0
    return _json(settings)


def _authentication(layout: Layout) -> Document:
    return {
        "anonymous": {"enabled": False},
        "webhook": {"enabled": True},
        "x509": {"clientCAFile": str(layout.pki("ca.crt"))},
    }


def kube_proxy(layout: Layout, addresses: Addresses, host: HostFacts) -> str:
    """Return the KubeProxyConfiguration."""
    return _json(
        {
            "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
            "kind": "KubeProxyConfiguration",
            "mode": "iptables",
            "bindAddress": addresses.node,
            "clusterCIDR": addresses.pods,
            "hostnameOverride": layout.node,
            "clientConnection": {"kubeconfig": str(layout.config("proxy.kubeconfig"))},
            "healthzBindAddress": f"{addresses.node}:10256",
            "metricsBindAddress": "127.0.0.1:10249",
            "oomScoreAdj": 0,
            # The connection table is the host's, not ours to size.
            "conntrack": {
                "maxPerCore": 0,
                "min": 0,
                "tcpEstablishedTimeout": "0s",
                "tcpCloseWaitTimeout": "0s",
            },
            # Without it replies between two pods of one bridge pass no hook: make them come back through the gateway.
            "iptables": {"masqueradeAll": not host.bridge_netfilter, "minSyncPeriod": "0s"},
        }
    )


def corefile(layout: Layout, addresses: Addresses) -> str:
    """Return CoreDNS's configuration; a name that does not exist yet is forgotten after a second: MPI waits for it."""
    return f"""\
cluster.local:53 in-addr.arpa:53 ip6.arpa:53 {{
    bind {addresses.node}
    errors
    health {addresses.node}:8080
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


def _json(document: Document) -> str:
    return json.dumps(document, indent=2, sort_keys=True) + "\n"


def _toml(value: bool) -> str:
    return "true" if value else "false"
