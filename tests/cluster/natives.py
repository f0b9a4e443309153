# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Native clusters that tests create and remove, and the state of the machine without them."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import time
import typing as t
from collections.abc import Iterator
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._local import cgroups, entrypoints, native, sweep, tools
from ansible_collections.mlops.eks.plugins.module_utils._local.layout import STATE_DIR, Layout
from ansible_collections.mlops.eks.plugins.module_utils._local.node_configuration import PAUSE_IMAGE

BASE_IMAGE = "localhost/mlops-eks/base:0.1.0"
NAMESPACE = "team-a"
JOB = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "spec": {
        "backoffLimit": 0,
        "template": {
            "spec": {
                "restartPolicy": "Never",
                "volumes": [
                    {"name": name, "persistentVolumeClaim": {"claimName": f"pv-{name}"}} for name in ("fsx", "efs")
                ],
                "containers": [
                    {
                        "name": "main",
                        "image": BASE_IMAGE,
                        # DNS, the API server's service address and both shared file systems, as an ordinary user.
                        # Names and service addresses come when CoreDNS and kube-proxy have learned of them.
                        "command": [
                            "bash",
                            "-ec",
                            "until (: </dev/tcp/kubernetes.default/443); do sleep 0.5; done; "
                            "echo $(date) >>/fsx/home/jobs; echo $(date) >>/efs/home/jobs; echo all is well",
                        ],
                        "securityContext": {"runAsUser": 1000},
                        "volumeMounts": [{"name": name, "mountPath": f"/{name}"} for name in ("fsx", "efs")],
                    }
                ],
            }
        },
    },
}


class Bench:
    """Clusters by name with the same number of nodes, and their programs and images."""

    def __init__(self, *endings: str, nodes: int | None = None) -> None:
        self.names = [f"t{os.getpid()}-{ending}" for ending in endings]
        self.nodes = nodes
        self.said: list[str] = []
        self.programs = entrypoints.go_tool(
            {"name": tools.CLUSTER_TOOLS, "sources": None, "cache_dir": None, "tools_dir": None},
            check=False, say=self.said.append,
        )["programs"]  # fmt: skip
        self.images = [
            self._image(PAUSE_IMAGE, files={"/pause": self.programs["pause"]}, entrypoint=["/pause"]),
            self._image(BASE_IMAGE, context=str(tools.COLLECTION / "containers" / "base")),
        ]

    def _image(self, name: str, **how: t.Any) -> str:
        params = {
            "name": name,
            "context": None,
            "files": None,
            "entrypoint": None,
            "user": None,
            "cache_dir": None,
            **how,
        }
        return str(entrypoints.container_image(params, check=False, say=self.said.append)["archive"])

    def request(self, name: str, state: str, **options: t.Any) -> native.Request:
        return native.Request.of(
            {
                "name": name, "state": state, "nodes": self.nodes, "namespace": NAMESPACE, "state_dir": STATE_DIR,
                "images": self.images, "cache_dir": None, "tools_dir": None, **options,
            }
        )  # fmt: skip

    def up(self, name: str, *, check: bool = False, **options: t.Any) -> dict[str, t.Any]:
        return native.ensure(self.request(name, "present", **options), check=check, say=self.said.append)

    def down(self, name: str, *, check: bool = False) -> dict[str, t.Any]:
        return native.ensure(self.request(name, "absent"), check=check, say=self.said.append)

    def create(self, name: str, *documents: dict[str, t.Any]) -> None:
        items = {"apiVersion": "v1", "kind": "List", "items": list(documents)}
        self.kubectl(name, "create", "-f", "-", stdin=json.dumps(items))

    def kubectl(self, name: str, *words: str, stdin: str | None = None) -> str:
        kubeconfig = Layout(name=name).kubeconfig
        argv = [self.programs["kubectl"], f"--kubeconfig={kubeconfig}", f"--namespace={NAMESPACE}", *words]
        return subprocess.run(argv, input=stdin, capture_output=True, text=True, check=True, timeout=600).stdout

    def run_job(self, name: str, job: str) -> str:
        self.create(name, {**JOB, "metadata": {"name": job}})
        self.kubectl(name, "wait", "--for=condition=Complete", f"job/{job}", "--timeout=300s")
        return self.kubectl(name, "logs", f"job/{job}")


def machine() -> dict[str, set[str]]:
    """Return the names of everything a cluster could leave behind, without those of other clusters."""
    earlier = _others()
    mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    found = {
        "netns": names(Path("/run/netns")),
        "links": names(Path("/sys/class/net")),
        # Image builds, ours and others', mount in the cache meanwhile.
        "mounts": {line.split()[4] for line in mounts if line.split()[4].startswith(("/run/", "/sys/", "/var/"))},
        "cgroups": {f"{group}/{name}" for group in cgroups.hierarchies() for name in directories(group)},
        "sockets": dead_sockets(sweep.SHIM_SOCKETS),
        "routes": lines("ip", "route", "show", "table", "all"),
        "rules": lines("iptables", "--wait", "--list-rules") | lines("iptables", "--wait", "-t", "nat", "--list-rules"),
        "forwarding": {Path("/proc/sys/net/ipv4/ip_forward").read_text(encoding="ascii")},
    }
    # One that came or went meanwhile left its traces, too.
    others = earlier | _others()
    found["sockets"] -= {name for other in others for name in noted_sockets(other)}
    words = [word for other in others for word in (other.netns, other.link, f"{other.root}/")]
    return {
        kind: {entry for entry in entries if not any(word in entry for word in words)}
        for kind, entries in found.items()
    }


def _others() -> set[Layout]:
    return {Layout(name=path.name) for path in STATE_DIR.glob("[!.]*") if not path.name.startswith(f"t{os.getpid()}-")}


def assert_as_before(before: dict[str, set[str]]) -> None:
    """Wait until the machine has nothing new: another cluster may be starting or stopping."""

    def differences() -> dict[str, set[str]]:
        return {kind: found ^ before[kind] for kind, found in machine().items() if found != before[kind]}

    deadline = time.monotonic() + 60
    while (found := differences()) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert found == {}


def dead_sockets(directory: Path) -> set[str]:
    """Return the sockets that dead shims left. Sockets of other clusters may change meanwhile."""
    found = {name for name in names(directory) if _is_dead(directory / name)}
    if found:
        # A shim that just ends removes its own.
        time.sleep(1)
    return {name for name in found if _is_dead(directory / name)}


def _is_dead(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            return True
        except FileNotFoundError:
            return False
    return False


def noted_sockets(layout: Layout) -> Iterator[str]:
    """Yield the names of the sockets in the records of a cluster's containerds, whose tasks may change meanwhile."""
    for node in (layout.root, *layout.root.glob("nodes/*")):
        for note in node.glob("containerd/state/io.containerd.runtime.v2.task/*/*/address"):
            with contextlib.suppress(FileNotFoundError):
                yield Path(note.read_text(encoding="utf-8")).name


def names(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()} if directory.is_dir() else set()


def directories(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir() if path.is_dir()}


def lines(*argv: str) -> set[str]:
    return set(subprocess.run(argv, capture_output=True, text=True, check=True).stdout.splitlines())
