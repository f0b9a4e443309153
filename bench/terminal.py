# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""From a workload's terminal status to its task's return.

The status is noted when `kubectl get jobs --watch`, a process of its own, first shows the condition Complete; the
return when Ansible's callbacks get the task's result. Both stamps come from the clock of this machine.
"""

from __future__ import annotations

import json
import subprocess
import threading
import time
import typing as t
from pathlib import Path

from setting import BENCH, Setting, say

_LINE = '{.metadata.name} {.metadata.uid} {.status.conditions[?(@.status=="True")].type}{"\\n"}'


class Terminals:
    """Notes when each Job of the namespace becomes terminal, for as long as the context lasts."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._file = _times(setting)
        self.seen: dict[str, tuple[str, float]] = {}

    @staticmethod
    def environment(setting: Setting) -> dict[str, str]:
        """Return what makes Ansible note when its results arrive."""
        return {
            "ANSIBLE_CALLBACK_PLUGINS": str(BENCH / "callback_plugins"),
            "ANSIBLE_CALLBACKS_ENABLED": "bench_times",
            "BENCH_TIMES": str(_times(setting)),
        }

    def __enter__(self) -> t.Self:
        self._file.write_text("", encoding="utf-8")
        command = [self._setting.kubectl_binary, "--kubeconfig", str(self._setting.kubeconfig)]
        command += ["--namespace", self._setting.namespace, "get", "jobs", "--watch", "-o", f"jsonpath={_LINE}"]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait()

    def _read(self) -> None:
        for line in t.cast(t.IO[str], self._process.stdout):
            at = time.time()
            name, uid, *conditions = line.split()
            if uid not in self.seen and {"Complete", "Failed"} & set(conditions):
                self.seen[uid] = (name, at)

    def delays(self) -> list[float]:
        """Return the seconds from terminal to return of every result that names a workload."""
        found = []
        for line in self._file.read_text(encoding="utf-8").splitlines():
            result = json.loads(line)
            earlier = [at for name, at in self.seen.values() if name == result["workload"] and at <= result["at"]]
            if earlier:
                found.append(result["at"] - max(earlier))
        return found


def _times(setting: Setting) -> Path:
    return setting.work / "times.jsonl"


def followed(setting: Setting, jobs: int) -> list[float]:
    """Return the seconds from terminal to return of `workload_wait`, for Jobs that somebody else submitted."""
    names = [f"followed-{index}" for index in range(jobs)]
    playbook = setting.work / "follow.json"
    playbook.write_text(json.dumps([_play(setting, names)]), encoding="utf-8")
    with Terminals(setting) as terminals:
        # Each ends well after the one before was followed to its end.
        items = [_job(name, setting.image, 6 + 3 * index) for index, name in enumerate(names)]
        setting.kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
        setting.run(setting.playbook_command(playbook, setting.inventory(), {}), Terminals.environment(setting))
        delays = terminals.delays()
    say(f"(b) workload_wait of {len(delays)} Jobs: {', '.join(f'{delay:.2f}' for delay in delays)} s")
    return delays


def _play(setting: Setting, names: list[str]) -> dict[str, t.Any]:
    common = {"kubeconfig": "{{ kubeconfig }}", "namespace": "{{ kube_namespace }}", "kind": "Job"}
    where = {"runs_dir": str(setting.work / "runs")}
    tasks = [{"name": f"Follow {name}", "mlops.eks.workload_wait": {**common, **where, "name": name}} for name in names]
    return {"name": "Follow the Jobs", "hosts": "clusters", "gather_facts": False, "tasks": tasks}


def _job(name: str, image: str, seconds: int) -> dict[str, t.Any]:
    container = {
        "name": "sleep",
        "image": image,
        "command": ["sleep", str(seconds)],
        "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}},
    }
    pod = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "containers": [container]}
    spec = {"backoffLimit": 0, "template": {"spec": pod}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": spec}
