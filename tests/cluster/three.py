# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""A native cluster of three nodes whose processes, links and nodes can be made to fail."""

from __future__ import annotations

import json
import subprocess

from plays import kubectl_binary, until

from ansible_collections.mlops.eks.plugins.module_utils._local import (
    api,
    cgroups,
    containerd,
    native,
    processes,
    sweep,
    waiting,
)
from ansible_collections.mlops.eks.plugins.module_utils._local.layout import Layout, Node

_OPERATORS = {"mpi-operator": "mpi-operator", "kubeflow": "training-operator"}


class Three:
    """The cluster. The control plane and the operators are on its first node, which never fails."""

    def __init__(self, name: str) -> None:
        self.layout = Layout(name=name)
        self.kubeconfig = str(self.layout.kubeconfig)
        self.nodes = [self.layout.node(number) for number in (1, 2, 3)]
        params = {"name": name, "state": "present", "nodes": None, "namespace": None, "images": ()}
        params |= {"state_dir": self.layout.state_dir, "cache_dir": None, "tools_dir": None}
        self._request = native.Request.of(params)

    def kubectl(self, *arguments: str, check: bool = True) -> str:
        """Run kubectl and return what it printed."""
        command = [kubectl_binary(), "--kubeconfig", self.kubeconfig, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
        assert done.returncode == 0 or not check, f"kubectl {' '.join(arguments)}: {done.stderr}"
        return done.stdout

    def is_ready(self, node: Node) -> bool:
        """Return whether the node is Ready."""
        found = json.loads(self.kubectl("get", "node", node.name, "-o", "json"))["status"]["conditions"]
        return any(entry["type"] == "Ready" and entry["status"] == "True" for entry in found)

    # -- what can happen to it

    def restart(self, component: str) -> None:
        """Kill a process as a crash would, start it again, and wait until it answers."""
        (row,) = (row for row in native.wanted(self._request, print).components if row.name == component)
        processes.stop(self.layout, component, grace_period=0)
        processes.start(row, self.layout)
        runtime = next((node for node in self.nodes if node.named("containerd") == component), None)

        def answers() -> bool:
            if runtime:
                return containerd.is_up(runtime)
            return row.health is None or api.is_healthy(row.health)

        waiting.wait(self.layout, [component], f"{component} answers again", answers, note=print)

    def await_server(self) -> None:
        """Wait until the API server reaches etcd: without it the server exits, and nothing restarts it."""
        until(lambda: self.kubectl("get", "--raw", "/readyz", check=False) == "ok", "the API server is ready")

    def restart_operator(self, namespace: str) -> None:
        """Kill an operator's pod; its Deployment creates another."""
        self.kubectl("-n", namespace, "delete", "pod", "--all", "--grace-period=0", "--force")

    def cut(self, node: Node) -> None:
        """Take the node's link down: the node continues, but is unreachable."""
        self._link(node, "down")

    def join(self, node: Node) -> None:
        """Set the node's link up again."""
        self._link(node, "up")

    def kill(self, node: Node) -> None:
        """Kill all processes of the node at once, without notice, as when an instance is terminated."""
        self.cut(node)
        inode = node.netns_path.stat().st_ino
        found = {int(pid) for pid in sweep.leftovers(self.layout)["processes"]}
        inside = {pid for pid in found if processes.netns_inode(pid) == inode}
        processes.end(inside | cgroups.members(node.cgroup), grace_period=0)

    def forget(self, node: Node) -> None:
        """Delete the node once it is not Ready, as the cloud controller does when the instance is gone."""
        until(lambda: not self.is_ready(node), f"{node.name} is not ready")
        self.kubectl("delete", "node", node.name)

    def drain(self, node: Node) -> None:
        """Evict the node's pods with a short grace period, as at a spot interruption."""
        words = ("--ignore-daemonsets", "--delete-emptydir-data", "--force", "--grace-period=2", "--timeout=120s")
        self.kubectl("drain", node.name, *words)

    # -- how it is put right

    def reserve_first(self) -> None:
        """Let new pods run on the other nodes only."""
        self.kubectl("cordon", self.nodes[0].name)

    def open_all(self, *, but: Node | None = None) -> None:
        """Let new pods run on all nodes; `but` is a node that does not exist."""
        self.kubectl("uncordon", *(node.name for node in self.nodes if node != but))

    def repair(self) -> None:
        """Restore all missing parts, and wait until every node takes pods."""
        for node in self.nodes:
            # One that was forgotten is there again, and open, when its kubelet starts.
            self.kubectl("uncordon", node.name, check=False)
        native.ensure(self._request, check=False, say=lambda _: None)
        until(lambda: not self._closed(), "all nodes take pods")

    def _closed(self) -> list[str]:
        """Return the nodes that are missing or have a taint, such as that of a node that does not answer."""
        nodes = json.loads(self.kubectl("get", "nodes", "-o", "json"))["items"]
        open_nodes = {node["metadata"]["name"] for node in nodes if not node["spec"].get("taints")}
        return [node.name for node in self.nodes if node.name not in open_nodes]

    def keep_operators(self) -> None:
        """Pin the operators to the first node."""
        chosen = {"spec": {"template": {"spec": {"nodeSelector": {"kubernetes.io/hostname": self.nodes[0].name}}}}}
        for namespace, name in _OPERATORS.items():
            self.kubectl("-n", namespace, "patch", "deployment", name, "-p", json.dumps(chosen))
        for namespace, name in _OPERATORS.items():
            self.kubectl("-n", namespace, "rollout", "status", f"deployment/{name}", "--timeout=120s")

    def _link(self, node: Node, state: str) -> None:
        command = ["ip", "-netns", self.layout.netns, "link", "set", f"node-{node.number}", state]
        subprocess.run(command, check=True)
