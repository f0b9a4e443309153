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
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from natives import BASE_IMAGE, Bench, assert_as_before, machine

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._local import processes, sweep
from ansible_collections.mlops.eks.plugins.module_utils._local.layout import Layout

# In this order, on one cluster that they kill and bring back: `make test` gives each file to one worker.
pytestmark = [pytest.mark.cluster, pytest.mark.slow]

COMPONENTS = (
    "etcd", "containerd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "coredns", "kube-proxy",
    "kubelet",
)  # fmt: skip


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    bench = Bench("a", "b")
    yield bench
    for name in bench.names:
        bench.down(name)


@pytest.fixture(scope="module")
def before(bench: Bench) -> dict[str, set[str]]:
    return machine()


def pids(name: str, *components: str) -> list[int]:
    records = [processes.recorded(Layout(name=name), component) for component in components]
    return [record.pid for record in records if record is not None]


def test_check_mode_of_a_new_cluster_makes_nothing(bench: Bench, before: dict[str, set[str]]) -> None:
    result = bench.up(bench.names[0], check=True)
    assert result["changed"]
    assert not Layout(name=bench.names[0]).root.exists()
    assert_as_before(before)


def test_up_and_jobs_run(bench: Bench, before: dict[str, set[str]]) -> None:
    result = bench.up(bench.names[0])
    assert result["changed"]
    assert set(result["diff"]["before"]["components"].values()) == {"stopped"}
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
    assert processes.until(lambda: processes.start_time(pid) is None, 60)
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
    bench.create(name, server)
    bench.kubectl(name, "wait", "--for=condition=Ready", "pod/server", "--timeout=300s")
    assert processes.until(lambda: not _kill_all(name), 60)
    assert [mount for mount in sweep.leftovers(Layout(name=name))["mounts"] if "netns/cni-" in mount]
    assert bench.up(name)["changed"]
    assert "all is well" in bench.run_job(name, "after-all")
    # The API still says Ready from before; what counts is that a command runs in it again.
    assert processes.until(lambda: _answers(bench, name), 300, pause=0.5)


def _kill_all(name: str) -> list[str]:
    """Kill all there is, also what has just been started by what is killed, and return what there was."""
    found = sweep.leftovers(Layout(name=name))["processes"]
    for pid in found:
        processes.send(int(pid), signal.SIGKILL)
    return found


def _answers(bench: Bench, name: str) -> bool:
    try:
        return bench.kubectl(name, "exec", "server", "--", "echo", "here").strip() == "here"
    except subprocess.SubprocessError:
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
    assert_as_before(before)


def test_unusable_name_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="name 'No Good'"):
        Layout(name="No Good")
