# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""The fixture of every test on a real cluster: a namespace, its pipelines, and plays run as a user runs them."""

from __future__ import annotations

import contextlib
import json
import secrets
import subprocess
import typing as t
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from plays import Play, ansible_playbook, kubectl_binary, until
from samples import CLOSED, JOB, OPEN, Json


@dataclass(kw_only=True)
class Space:
    """One test's namespace on a real cluster and directory on disk."""

    host: str
    kubeconfig: str
    namespace: str
    directory: Path
    plays: list[Play] = field(default_factory=list)

    @property
    def runs(self) -> Path:
        """The directory of the evidence."""
        return self.directory / "runs"

    @property
    def inventory(self) -> Path:
        """An inventory file with this cluster only."""
        return self.write_inventory(self.host_variables())

    def host_variables(self) -> dict[str, Json]:
        """Return the inventory's hosts: this cluster."""
        return {self.host: {"kubeconfig": self.kubeconfig, "kube_namespace": self.namespace}}

    def write_inventory(self, hosts: dict[str, Json], name: str = "clusters.yml") -> Path:
        """Write an inventory of `hosts` and return its path."""
        connection = {"ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}"}
        path = self.directory / name
        path.write_text(yaml.safe_dump({"clusters": {"vars": connection, "hosts": hosts}}), encoding="utf-8")
        return path

    # -- what a user writes and types

    def pipeline(self, name: str = "run", /, **recipes: Json) -> Path:
        """Write a pipeline with one step per recipe, all of them data-process Jobs, and return its directory."""
        steps = [{"name": step, "chart": JOB, "recipe": f"{step}.yaml", "timeout": 600} for step in recipes]
        return self.pipeline_of(name, steps, recipes)

    def pipeline_of(self, name: str, steps: list[Json], recipes: dict[str, Json]) -> Path:
        """Write a pipeline of any `steps` and return its directory."""
        where = self.directory / name
        where.mkdir(exist_ok=True)
        (where / "pipeline.yaml").write_text(yaml.safe_dump({"name": name, "steps": steps}), encoding="utf-8")
        for step, recipe in recipes.items():
            (where / f"{step}.yaml").write_text(yaml.safe_dump(recipe, sort_keys=False), encoding="utf-8")
        return where

    def start(
        self,
        playbook: str | Path,
        *arguments: str,
        inventory: Path | None = None,
        within: tuple[str, ...] = (),
        **extra: t.Any,
    ) -> Play:
        """Start one of our playbooks (or a file) with `extra` as variables; `within` is a wrapper command."""
        path = playbook if isinstance(playbook, Path) else f"playbooks/{playbook}.yml"
        variables = json.dumps({"runs_dir": str(self.runs), **extra}, default=str)
        where = str(inventory or self.inventory)
        play = Play([*within, ansible_playbook(), "-i", where, str(path), "-e", variables, *arguments])
        self.plays.append(play)
        return play

    def play(self, playbook: str | Path, *arguments: str, rc: int | None = 0, **extra: t.Any) -> str:
        """Run a playbook to its end and return what it printed."""
        return self.start(playbook, *arguments, **extra).end(rc)

    def start_task(self, module: str, *arguments: str, **parameters: t.Any) -> Play:
        """Start one task in a playbook of its own, as a user's playbook would have it."""
        where = {"kubeconfig": self.kubeconfig, "namespace": self.namespace, "runs_dir": str(self.runs)}
        task = {"name": "The task", f"mlops.eks.{module}": {**where, **parameters}}
        path = self.directory / f"{module}.yml"
        path.write_text(yaml.safe_dump([{"hosts": "clusters", "gather_facts": False, "tasks": [task]}]))
        return self.start(path, *arguments)

    def task(self, module: str, rc: int | None = 0, **parameters: t.Any) -> str:
        """Run one task to its end and return what it printed."""
        return self.start_task(module, **parameters).end(rc)

    # -- what an onlooker sees

    def kubectl(self, *arguments: str, stdin: str | None = None, check: bool = True) -> str:
        """Run kubectl in the namespace and return what it printed."""
        done = self._kubectl(*arguments, stdin=stdin)
        assert done.returncode == 0 or not check, f"kubectl {' '.join(arguments)}: {done.stderr}"
        return done.stdout

    def _kubectl(
        self, *arguments: str, stdin: str | None = None, seconds: float | None = None
    ) -> subprocess.CompletedProcess[str]:
        command = [kubectl_binary(), "--kubeconfig", self.kubeconfig, "--namespace", self.namespace, *arguments]
        return subprocess.run(
            command, input=stdin, capture_output=True, text=True, check=False, errors="replace", timeout=seconds
        )

    def apply(self, document: Json) -> None:
        """Create or change one object."""
        self.kubectl("apply", "-f", "-", stdin=json.dumps(document))

    def refusal(self, document: Json) -> str:
        """Return why the API server refuses an object, or an empty text."""
        return self._kubectl("create", "--dry-run=server", "-f", "-", stdin=json.dumps(document)).stderr

    def await_kind(self, definition: str) -> None:
        """Wait until the API server serves a kind, which it does only a while after its definition is established."""
        until(lambda: self._kubectl("get", definition).returncode == 0, f"{definition} is served")

    def get(self, what: str, *arguments: str) -> list[Json]:
        """Return the objects of one kind."""
        return t.cast(list[Json], json.loads(self.kubectl("get", what, "-o", "json", *arguments))["items"])

    def names(self, what: str) -> list[str]:
        """Return the names of the objects of one kind."""
        return sorted(entry["metadata"]["name"] for entry in self.get(what))

    def releases(self) -> list[str]:
        """Return the Helm releases that are installed, with every state Helm knows."""
        stored = self.get("secrets", "-l", "owner=helm")
        return sorted({secret["metadata"]["labels"]["name"] for secret in stored})

    def pods_ever(self) -> set[str]:
        """Return one line for every pod that Jobs of the namespace ever created."""
        events = self.get("events", "--field-selector", "reason=SuccessfulCreate")
        return {event["message"] for event in events}

    def ledger(self, release: str = "run") -> dict[str, Json]:
        """Return the ledger of a run by step."""
        found = self.kubectl("get", "configmap", f"mlops-eks-{release}", "-o", "json", "--ignore-not-found")
        return {step: json.loads(text) for step, text in json.loads(found)["data"].items()} if found else {}

    def share(self, claim: str) -> Path:
        """Create a claim that any number of pods mount; return the shared directory on this machine."""
        path, size = self.directory / claim, {"storage": "1Gi"}
        path.mkdir()
        path.chmod(0o777)
        volume, both = f"{self.namespace}-{claim}", {"accessModes": ["ReadWriteMany"], "storageClassName": ""}
        held = {**both, "capacity": size, "hostPath": {"path": str(path)}}
        self.apply({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": volume}, "spec": held})
        wanted = {**both, "resources": {"requests": size}, "volumeName": volume}
        self.apply({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": claim}, "spec": wanted})
        return path

    def evict(self, name: str) -> None:
        """Evict a pod, as a drain does."""
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
        path = f"/api/v1/namespaces/{self.namespace}/pods/{name}/eviction"
        self.kubectl("create", "--raw", path, "-f", "-", stdin=json.dumps(eviction))

    def open_gate(self) -> None:
        """Let the pod that waits at a gate continue.

        The pod may end before the command returns; its end then confirms the open gate.
        """
        pod = until(self.waiting_at_gate, "a pod waits at its gate")
        until(lambda: self._does(pod, f"touch {OPEN}") or pod not in self._running(), f"the gate of pod {pod} opens")

    def waiting_at_gate(self, *, but: Collection[str] = ()) -> str | None:
        """Return a pod that waits at its gate and is not in `but`."""
        pods = (pod for pod in self._running() if pod not in but)
        return next((pod for pod in pods if self._does(pod, f"test -e {CLOSED}")), None)

    def _running(self) -> list[str]:
        pods = self.get("pods", "--field-selector", "status.phase=Running")
        return [pod["metadata"]["name"] for pod in pods if "deletionTimestamp" not in pod["metadata"]]

    def _does(self, pod: str, command: str) -> bool:
        """Run an idempotent command, with retries: it may not return if its container ends meanwhile."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._kubectl("exec", pod, "--", *command.split(), seconds=60).returncode == 0
        return False

    def record(self, step: str) -> Json:
        """Return the newest record of a step."""
        return t.cast(Json, json.loads((self.evidence(step) / "step.json").read_text(encoding="utf-8")))

    def evidence(self, step: str) -> Path:
        """Return the newest evidence directory of a step."""
        found = sorted(self.runs.glob(f"*/{self.host}/??-{step}"), key=lambda path: path.stat().st_mtime_ns)
        assert found, f"no evidence of {step} in {self.runs}"
        return found[-1]

    def log(self, step: str) -> list[str]:
        """Return the archived log of a step with one container."""
        (file,) = (self.evidence(step) / "logs").iterdir()
        return file.read_text(encoding="utf-8").splitlines()


@contextmanager
def fresh(kubeconfig: str, directory: Path, *, host: str = "east") -> Iterator[Space]:
    """Yield a namespace that is empty; its plays, if any still run, and it itself are ended afterwards."""
    space = Space(host=host, kubeconfig=kubeconfig, namespace=f"t-{secrets.token_hex(4)}", directory=directory)
    space.kubectl("create", "namespace", space.namespace)
    # Without these no pod can be made or started; their controllers make them in their own time.
    for made in ("serviceaccount/default", "configmap/kube-root-ca.crt"):
        # One by one: of two that are not there yet kubectl says that they were not found, and ends.
        space.kubectl("wait", "--for=create", made, "--timeout=180s")
    try:
        yield space
    finally:
        for play in space.plays:
            play.kill()
        space.kubectl("delete", "namespace", space.namespace, "--wait=false")
