# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""One MPIJob with a thousand workers, followed: memory and CPU of the follower, and how late it tells the news.

The launcher is a real pod, whose real log is followed. The workers are pods on KWOK's nodes; their logs, which KWOK
does not have, are given by the proxy: silent streams, as of workers that say nothing.
"""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys
import threading
import time
import typing as t
from dataclasses import dataclass, field

from processes import Usage, usage, worker
from proxy import CountingProxy
from setting import ROOT, Setting, say
from simulated import TOLERATIONS, Nodes

sys.path.insert(0, str(ROOT / ".venv" / "collections"))
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Kube

_NAME = "thousand"
_NODES = 4
# The operator creates five pods a second: its own limit.
_START, _END = 900.0, 300.0
_SETTLE, _SAMPLES, _EVERY = 20.0, 12, 10.0
# Changes of status whose way to the output is timed, and the pause after each.
_CHANGES, _PAUSE = 50, 0.5
_LOGS = re.compile(rf"/pods/{_NAME}-worker-\d+/log\?")


@dataclass
class _Output:
    """What a program prints, with the moment each line came."""

    stream: t.IO[str]
    lines: list[tuple[float, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._came = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self.stream:
            with self._came:
                self.lines.append((time.time(), line))
                self._came.notify_all()

    def until(self, pattern: str, seconds: float) -> float:
        """Return when a line with `pattern` came; waits for it."""
        deadline, wanted, at = time.monotonic() + seconds, re.compile(pattern), 0
        with self._came:
            while True:
                for moment, line in self.lines[at:]:
                    if wanted.search(line):
                        return moment
                at = len(self.lines)
                if not self._came.wait(deadline - time.monotonic()) and time.monotonic() >= deadline:
                    said = "".join(line for _, line in self.lines[-20:])
                    sys.exit(f"bench: no line with {pattern!r} within {seconds:.0f} s; the last ones:\n{said}")


def run(setting: Setting, workers: int) -> dict[str, list[float]]:
    """Return memory in MiB, CPU seconds per minute, and seconds from a pod's new status to the line that tells it."""
    proxy = CountingProxy(setting.kubeconfig, setting.work / "proxy-thousand", silent=_LOGS)
    with Nodes(setting=setting, count=_NODES) as nodes:
        setting.kubectl("apply", "-f", "-", stdin=json.dumps(_job(setting, nodes, workers)))
        process, output = _follow(setting, proxy)
        output.until(rf"pods {workers + 1} running", _START)
        say(f"(scale) {workers} workers run")
        time.sleep(_SETTLE)
        series = _silence(process)
        series["scale_lag_s"] = _lags(setting, output, workers)
        # Restarted workers have two logs each.
        found = usage([worker(process.pid)], children=False)
        series["scale_rss_mb"].append(found.rss)
        series["scale_pss_mb"].append(found.pss)
        series["scale_end_s"] = [_end(setting, output, process)]
    proxy.close()
    return series


def _follow(setting: Setting, proxy: CountingProxy) -> tuple[subprocess.Popen[str], _Output]:
    where = {"kubeconfig": str(proxy.kubeconfig), "namespace": setting.namespace}
    wait = {**where, "name": _NAME, "timeout": 7200, "runs_dir": str(setting.work / "runs")}
    tasks = [{"name": "Follow it", "mlops.eks.mpi_job_wait": wait}]
    playbook = setting.work / "thousand.json"
    playbook.write_text(json.dumps([{"name": "Follow", "hosts": "clusters", "gather_facts": False, "tasks": tasks}]))
    process = subprocess.Popen(
        setting.playbook_command(playbook, setting.inventory(proxy.kubeconfig), {}),
        cwd=ROOT,
        env=setting.environment({"PYTHONUNBUFFERED": "1"}),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return process, _Output(t.cast(t.IO[str], process.stdout))


def _silence(process: subprocess.Popen[str]) -> dict[str, list[float]]:
    """Return what following costs while nothing happens."""
    follower = worker(process.pid)
    samples: list[tuple[float, Usage]] = []
    for _ in range(_SAMPLES + 1):
        samples.append((time.monotonic(), usage([follower], children=False)))
        time.sleep(_EVERY)
    rates = [
        (after.cpu - before.cpu) / (ended - begun) * 60
        for (begun, before), (ended, after) in itertools.pairwise(samples)
    ]
    say(f"(scale) the follower: {samples[-1][1].rss:.0f} MiB, {rates[-1]:.1f} s CPU a minute")
    return {
        "scale_rss_mb": [found.rss for _, found in samples],
        "scale_pss_mb": [found.pss for _, found in samples],
        "scale_cpu_s_per_min": rates,
    }


def _lags(setting: Setting, output: _Output, workers: int) -> list[float]:
    """Restart one worker after the other, and return after how long each restart is told."""
    kube = Kube(kubeconfig=str(setting.kubeconfig), context=None, namespace=setting.namespace)
    lags = []
    for index in range(min(_CHANGES, workers)):
        path = f"/api/v1/namespaces/{setting.namespace}/pods/{_NAME}-worker-{index}"
        statuses = kube.request("GET", path)["status"]["containerStatuses"]
        body = {"status": {"containerStatuses": [{**one, "restartCount": 1} for one in statuses]}}
        # Before the request: the API server stores the change somewhat later.
        begun = time.time()
        kube.request("PATCH", f"{path}/status", body=body, content_type="application/merge-patch+json")
        lags.append(output.until(rf", {index + 1} restarts?\b", 60) - begun)
        time.sleep(_PAUSE)
    say(f"(scale) {len(lags)} changes told after {min(lags):.2f} to {max(lags):.2f} s")
    return lags


def _end(setting: Setting, output: _Output, process: subprocess.Popen[str]) -> float:
    """Let the launcher end, and return how long the follower takes from then to its own end, evidence included."""
    selector = f"training.kubeflow.org/job-name={_NAME},training.kubeflow.org/job-role=launcher"
    launcher = setting.kubectl("get", "pods", "--selector", selector, "-o", "name").split()[0]
    setting.kubectl("exec", launcher, "--", "touch", "/tmp/done")
    begun = time.time()
    ended = output.until(r"succeeded after", _END)
    if process.wait() != 0:
        sys.exit("bench: following a thousand workers failed")
    say(f"(scale) ended {ended - begun:.1f} s after the launcher was told to, exit {time.time() - begun:.1f} s")
    return time.time() - begun


def _job(setting: Setting, nodes: Nodes, workers: int) -> dict[str, t.Any]:
    small = {"requests": {"cpu": "10m", "memory": "16Mi"}}
    idle = "echo the launcher says hello; until [ -e /tmp/done ]; do sleep 1; done"
    launcher = {"name": "launcher", "image": setting.image, "command": ["sh", "-c", idle], "resources": small}
    # As large as those of real jobs.
    worker_container = {
        "name": "worker",
        "image": setting.image,
        "command": ["sleep", "infinity"],
        "env": [{"name": f"VARIABLE_{index}", "value": "some value " * 3} for index in range(20)],
        "resources": {**small, "limits": {"cpu": "4", "memory": "64Gi"}},
        "volumeMounts": [{"name": f"scratch-{index}", "mountPath": f"/scratch/{index}"} for index in range(3)],
    }
    volumes = [{"name": f"scratch-{index}", "emptyDir": {}} for index in range(3)]
    far = {"tolerations": TOLERATIONS, "affinity": nodes.affinity}
    replicas = {
        "Launcher": {"replicas": 1, "template": {"spec": {"containers": [launcher]}}},
        "Worker": {
            "replicas": workers,
            "template": {"spec": {"containers": [worker_container], "volumes": volumes, **far}},
        },
    }
    spec = {
        "slotsPerWorker": 1,
        "launcherCreationPolicy": "WaitForWorkersReady",
        "runPolicy": {"cleanPodPolicy": "None"},
        "mpiReplicaSpecs": replicas,
    }
    return {"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "metadata": {"name": _NAME}, "spec": spec}
