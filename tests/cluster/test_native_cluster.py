# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Real native clusters: up, quiet, killed, side by side, gone. The tests run in order and share two clusters."""

from __future__ import annotations

import concurrent.futures
import json
import os
import signal
import ssl
import stat
import subprocess
import typing as t
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._local import (
    cgroups,
    configuration,
    doors,
    native,
    processes,
    sweep,
    tools,
)
from ansible_collections.mlops.eks.plugins.module_utils._local.layout import STATE_DIR, Layout

# In this order, on one cluster that they kill and bring back: `make test` gives each file to one worker.
pytestmark = pytest.mark.cluster

BASE_IMAGE = "localhost/mlops-eks/base:0.1.0"
NAMESPACE = "team-a"
COMPONENTS = (
    "etcd", "containerd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "coredns", "kube-proxy",
    "kubelet",
)  # fmt: skip
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
                        "command": [
                            "bash",
                            "-ec",
                            "getent hosts kubernetes.default; : </dev/tcp/kubernetes.default/443; "
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
    """Two clusters by name, and what the machine looked like before them."""

    def __init__(self) -> None:
        self.names = (f"t{os.getpid()}-a", f"t{os.getpid()}-b")
        self.said: list[str] = []
        self.programs = doors.go_tool(
            {"name": tools.CLUSTER_TOOLS, "sources": None, "cache_dir": None, "tools_dir": None},
            check=False, say=self.said.append,
        )["programs"]  # fmt: skip
        self.images = [
            self._image(configuration.PAUSE_IMAGE, files={"/pause": self.programs["pause"]}, entrypoint=["/pause"]),
            self._image(BASE_IMAGE, context=tools.COLLECTION / "containers" / "base"),
        ]

    def _image(self, name: str, **how: t.Any) -> str:
        params = {"name": name, "context": None, "files": None, "entrypoint": None, "cache_dir": None, **how}
        return str(doors.container_image(params, check=False, say=self.said.append)["archive"])

    def request(self, name: str, state: str) -> native.Request:
        return native.Request.of(
            {
                "name": name, "state": state, "namespace": NAMESPACE, "state_dir": STATE_DIR, "images": self.images,
                "cache_dir": None, "tools_dir": None,
            }
        )  # fmt: skip

    def up(self, name: str, *, check: bool = False) -> dict[str, t.Any]:
        return native.ensure(self.request(name, "present"), check=check, say=self.said.append)

    def down(self, name: str, *, check: bool = False) -> dict[str, t.Any]:
        return native.ensure(self.request(name, "absent"), check=check, say=self.said.append)

    def kubectl(self, name: str, *words: str, stdin: str | None = None) -> str:
        kubeconfig = Layout(name=name).kubeconfig
        argv = [self.programs["kubectl"], f"--kubeconfig={kubeconfig}", f"--namespace={NAMESPACE}", *words]
        return subprocess.run(argv, input=stdin, capture_output=True, text=True, check=True, timeout=120).stdout

    def run_job(self, name: str, job: str) -> str:
        self.kubectl(name, "create", "-f", "-", stdin=json.dumps({**JOB, "metadata": {"name": job}}))
        self.kubectl(name, "wait", "--for=condition=Complete", f"job/{job}", "--timeout=90s")
        return self.kubectl(name, "logs", f"job/{job}")


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    bench = Bench()
    yield bench
    for name in bench.names:
        bench.down(name)


@pytest.fixture(scope="module")
def before(bench: Bench) -> dict[str, set[str]]:
    return machine()


def machine() -> dict[str, set[str]]:
    """Return the names of everything a cluster could leave behind, those of other people's clusters left out."""
    others = [
        Layout(name=path.name) for path in STATE_DIR.glob("[!.]*") if not path.name.startswith(f"t{os.getpid()}-")
    ]
    words = [word for other in others for word in (other.netns, other.link, f"{other.root}/")]
    mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    found = {
        "netns": names(Path("/run/netns")),
        "links": names(Path("/sys/class/net")),
        # Image builds, ours and others', mount in the cache meanwhile.
        "mounts": {line.split()[4] for line in mounts if line.split()[4].startswith(("/run/", "/sys/", "/var/"))},
        "cgroups": {f"{group}/{name}" for group in cgroups.hierarchies() for name in directories(group)},
        "sockets": names(Path("/run/containerd/s")),
        "routes": lines("ip", "route", "show", "table", "all"),
        "rules": lines("iptables", "--list-rules") | lines("iptables", "--table", "nat", "--list-rules"),
        "forwarding": {Path("/proc/sys/net/ipv4/ip_forward").read_text(encoding="ascii")},
    }
    found["sockets"] -= {Path(path).name for other in others for path in shim_sockets(other)}
    return {
        kind: {entry for entry in entries if not any(word in entry for word in words)}
        for kind, entries in found.items()
    }


def shim_sockets(layout: Layout) -> set[str]:
    notes = (layout.root / "containerd/state").glob("io.containerd.runtime.v2.task/*/*/address")
    return {note.read_text(encoding="utf-8") for note in notes}


def names(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()} if directory.is_dir() else set()


def directories(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir() if path.is_dir()}


def lines(*argv: str) -> set[str]:
    return set(subprocess.run(argv, capture_output=True, text=True, check=True).stdout.splitlines())


def pids(name: str, *components: str) -> list[int]:
    records = [processes.recorded(Layout(name=name), component) for component in components]
    return [record.pid for record in records if record is not None]


def test_check_mode_of_a_new_cluster_makes_nothing(bench: Bench, before: dict[str, set[str]]) -> None:
    result = bench.up(bench.names[0], check=True)
    assert result["changed"]
    assert not Layout(name=bench.names[0]).root.exists()
    after = machine()
    for kind, entries in before.items():
        assert after[kind] == entries, kind


def test_up_within_twenty_seconds_and_jobs_run(bench: Bench, before: dict[str, set[str]]) -> None:
    result = bench.up(bench.names[0])
    assert result["changed"]
    assert set(result["diff"]["before"]["components"].values()) == {"stopped"}
    assert result["seconds"] <= 20 * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    assert "all is well" in bench.run_job(bench.names[0], "first")


def test_second_run_is_quiet(bench: Bench) -> None:
    said = len(bench.said)
    result = bench.up(bench.names[0])
    assert not result["changed"]
    assert result["diff"]["before"] == result["diff"]["after"]
    assert not [line for line in bench.said[said:] if "started" in line]
    assert not bench.up(bench.names[0], check=True)["changed"]


def test_kubeconfig_is_private_and_its_certificates_pass_strict_checks(bench: Bench) -> None:
    layout = Layout(name=bench.names[0])
    assert stat.S_IMODE(layout.kubeconfig.stat().st_mode) == 0o600
    config = json.loads(layout.kubeconfig.read_text(encoding="utf-8"))
    assert {entry["name"] for key in ("clusters", "contexts", "users") for entry in config[key]} == {layout.name}
    context = ssl.create_default_context(cafile=str(layout.pki("ca.crt")))
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    context.load_cert_chain(layout.pki("admin.crt"), layout.pki("admin.key"))
    server = config["clusters"][0]["cluster"]["server"]
    with urllib.request.urlopen(f"{server}/readyz", context=context) as answer:
        assert answer.read() == b"ok"


def test_no_component_is_a_child_of_this_process(bench: Bench) -> None:
    for pid in pids(bench.names[0], *COMPONENTS):
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        parent, session = int(fields[1]), int(fields[3])
        assert parent != os.getpid()
        assert session != os.getsid(0)


@pytest.mark.parametrize("component", ["kubelet", "etcd", "containerd"])
def test_killed_component_comes_back(bench: Bench, component: str) -> None:
    (pid,) = pids(bench.names[0], component)
    os.kill(pid, signal.SIGKILL)
    assert processes.until(lambda: processes.start_time(pid) is None, 10)
    result = bench.up(bench.names[0])
    assert result["changed"]
    assert result["diff"]["before"]["components"][component] == "stopped"
    assert "all is well" in bench.run_job(bench.names[0], f"after-{component}")
    assert not bench.up(bench.names[0])["changed"]


def test_second_cluster_beside_the_first(bench: Bench) -> None:
    assert bench.up(bench.names[1])["changed"]
    assert "all is well" in bench.run_job(bench.names[1], "beside")
    assert "all is well" in bench.run_job(bench.names[0], "beside")
    assert not bench.up(bench.names[0])["changed"]
    servers = {bench.up(name)["cluster"]["server"] for name in bench.names}
    assert len(servers) == 2


def test_two_runs_at_once_do_not_collide(bench: Bench) -> None:
    name = bench.names[1]
    bench.down(name)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        results = [job.result() for job in [pool.submit(bench.up, name) for _ in range(2)]]
    assert sorted(result["changed"] for result in results) == [False, True]
    assert any("another run is at work" in line for line in bench.said)
    assert "all is well" in bench.run_job(name, "after-both")


def test_cluster_killed_whole_comes_back_with_its_objects(bench: Bench) -> None:
    """As after a power cut: every process ends at once; namespaces of pods, mounts and cgroups stay."""
    name = bench.names[0]
    server = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "server"}, "spec": {"containers": [
        {"name": "main", "image": BASE_IMAGE, "command": ["sleep", "infinity"]}]}}  # fmt: skip
    bench.kubectl(name, "create", "-f", "-", stdin=json.dumps(server))
    bench.kubectl(name, "wait", "--for=condition=Ready", "pod/server", "--timeout=60s")
    for pid in sweep.leftovers(Layout(name=name))["processes"]:
        processes.send(int(pid), signal.SIGKILL)
    assert processes.until(lambda: not sweep.leftovers(Layout(name=name))["processes"], 10)
    assert [mount for mount in sweep.leftovers(Layout(name=name))["mounts"] if "netns/cni-" in mount]
    assert bench.up(name)["changed"]
    assert "all is well" in bench.run_job(name, "after-all")
    # The API still says Ready from before; what counts is that a command runs in it again.
    assert processes.until(lambda: _answers(bench, name), 60, pause=0.5)


def _answers(bench: Bench, name: str) -> bool:
    try:
        return bench.kubectl(name, "exec", "server", "--", "echo", "here").strip() == "here"
    except subprocess.CalledProcessError:
        return False


def test_lost_network_namespace_is_made_again(bench: Bench) -> None:
    layout = Layout(name=bench.names[0])
    subprocess.run(["ip", "netns", "delete", layout.netns], check=True)
    result = bench.up(layout.name)
    assert result["diff"]["before"]["network"] == "down"
    assert "all is well" in bench.run_job(layout.name, "after-netns")


def test_absent_leaves_nothing(bench: Bench, before: dict[str, set[str]]) -> None:
    for name in bench.names:
        assert bench.down(name, check=True)["changed"]
        assert Layout(name=name).root.exists()
        assert bench.down(name)["changed"]
        assert not any(sweep.leftovers(Layout(name=name)).values())
        assert not Layout(name=name).lock.exists()
        assert not bench.down(name)["changed"]
    after = machine()
    for kind, entries in before.items():
        assert after[kind] == entries, kind


def test_unusable_name_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="'No Good' is not usable"):
        Layout(name="No Good")
