# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""One play on two hundred inventory names, each of which follows a silent step: memory and CPU of the whole tree.

All names are of one cluster, each with a namespace of its own. Jobs run on KWOK's nodes; the proxy gives their logs.
"""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
import time
import typing as t
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from processes import tree, usage
from proxy import CountingProxy
from setting import ROOT, Setting, say
from simulated import TOLERATIONS, Nodes

sys.path.insert(0, str(ROOT / ".venv" / "collections"))
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Kube

_RELEASE = "silent"
_START, _END = 1500.0, 1500.0
_SETTLE, _SAMPLES, _EVERY = 30.0, 6, 20.0
_LOGS = re.compile(r"/pods/[^/]+/log\?")


def run(setting: Setting, hosts: int) -> dict[str, list[float]]:
    """Return the tree's memory in MiB (PSS) and its CPU in percent of one core while all steps are silent."""
    _allow_files()
    names = [f"{setting.namespace}-{index:03d}" for index in range(hosts)]
    proxy = CountingProxy(setting.kubeconfig, setting.work / "proxy-hosts", silent=_LOGS)
    with Nodes(setting=setting, count=1) as nodes:
        items = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in names]
        setting.kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
        try:
            return _measure(setting, nodes, proxy, names)
        finally:
            setting.kubectl("delete", "namespaces", *names, "--wait=false")
            proxy.close()


def _measure(setting: Setting, nodes: Nodes, proxy: CountingProxy, names: list[str]) -> dict[str, list[float]]:
    begun, output = time.monotonic(), setting.work / "hosts.txt"
    process = _start(setting, _pipeline(setting, nodes), _inventory(setting, proxy, names), output, len(names))
    _until(process, output, rf"\| {_RELEASE} \| .*pods 1 running", len(names), _START)
    say(f"(scale) {len(names)} steps run, after {time.monotonic() - begun:.0f} s")
    time.sleep(_SETTLE)
    series: dict[str, list[float]] = {"scale_hosts_pss_mb": [], "scale_hosts_cpu_percent": []}
    at, before = time.monotonic(), usage(tree(process.pid), children=False)
    for _ in range(_SAMPLES):
        time.sleep(_EVERY)
        now, found = time.monotonic(), usage(tree(process.pid), children=False)
        series["scale_hosts_cpu_percent"].append(100 * (found.cpu - before.cpu) / (now - at))
        series["scale_hosts_pss_mb"].append(found.pss)
        at, before = now, found
    say(f"(scale) {len(names)} steps: {before.pss:.0f} MiB, {series['scale_hosts_cpu_percent'][-1]:.0f} % of a core")
    ended = time.monotonic()
    _succeed(setting, names)
    _until(process, output, r"PyTorchJob/\S+: succeeded after", len(names), _END)
    if process.wait() != 0:
        sys.exit(f"bench: not all of {len(names)} steps succeeded; see {output}")
    say(f"(scale) all {len(names)} steps succeeded; the play ended {time.monotonic() - ended:.0f} s after their jobs")
    return series


def _pipeline(setting: Setting, nodes: Nodes) -> Path:
    recipe = {
        "image": setting.image,
        "pvc": [],
        "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}, "nnodes": 1},
        "train": {"command": ["sleep", "infinity"]},
        "tolerations": TOLERATIONS,
        "affinity": nodes.affinity,
    }
    directory = setting.work / "pipelines" / "hosts"
    directory.mkdir(parents=True)
    (directory / "recipe.yaml").write_text(json.dumps(recipe), encoding="utf-8")
    step = {"name": "train", "chart": "training/pytorchjob-distributed", "recipe": "recipe.yaml"}
    (directory / "pipeline.yaml").write_text(json.dumps({"name": _RELEASE, "steps": [step]}), encoding="utf-8")
    return directory


def _inventory(setting: Setting, proxy: CountingProxy, names: list[str]) -> Path:
    common = {
        "ansible_connection": "local",
        "ansible_python_interpreter": sys.executable,
        "kubeconfig": str(proxy.kubeconfig),
    }
    hosts = {f"cluster-{name[-3:]}": {"kube_namespace": name} for name in names}
    file = setting.work / "inventory-hosts.yml"
    file.write_text(json.dumps({"clusters": {"hosts": hosts, "vars": common}}), encoding="utf-8")
    return file


def _start(setting: Setting, pipeline: Path, inventory: Path, output: Path, forks: int) -> subprocess.Popen[bytes]:
    extra: dict[str, t.Any] = {"pipeline": str(pipeline), "runs_dir": str(setting.work / "runs")}
    command = setting.playbook_command(ROOT / "playbooks" / "train.yml", inventory, extra)
    with output.open("wb") as stream:
        return subprocess.Popen(
            [*command, "--forks", str(forks)],
            cwd=ROOT,
            env=setting.environment(),
            stdout=stream,
            stderr=subprocess.STDOUT,
        )


def _until(process: subprocess.Popen[bytes], output: Path, pattern: str, count: int, seconds: float) -> None:
    """Wait until so many clusters have printed a line with `pattern`."""
    deadline, wanted = time.monotonic() + seconds, re.compile(rf"^(cluster-\d+) .*{pattern}", re.MULTILINE)
    while True:
        text = output.read_text(encoding="utf-8", errors="replace")
        found = len(set(wanted.findall(text)))
        if found >= count:
            return
        if process.poll() is not None or time.monotonic() > deadline:
            sys.exit(f"bench: only {found} of {count} clusters printed {pattern!r}:\n{text[-3000:]}")
        time.sleep(2)


def _succeed(setting: Setting, names: list[str]) -> None:
    """Let the pods end well, as KWOK's pods do not by themselves."""
    over = {"exitCode": 0, "reason": "Completed"}

    def one(name: str) -> None:
        kube = Kube(kubeconfig=str(setting.kubeconfig), context=None, namespace=name)
        for pod in kube.request("GET", f"/api/v1/namespaces/{name}/pods")["items"]:
            statuses = [
                {**status, "ready": False, "state": {"terminated": over}}
                for status in pod["status"]["containerStatuses"]
            ]
            body = {"status": {"phase": "Succeeded", "containerStatuses": statuses}}
            path = f"/api/v1/namespaces/{name}/pods/{pod['metadata']['name']}/status"
            kube.request("PATCH", path, body=body, content_type="application/merge-patch+json")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(one, names))


def _allow_files() -> None:
    """The proxy holds two connections for each of a follower's."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
