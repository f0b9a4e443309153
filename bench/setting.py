# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""What every measurement stands on: cluster, namespace, tools, recipes, and how playbooks are run."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import time
import typing as t
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BENCH = ROOT / "bench"
CHART = ROOT / "charts" / "data-prep" / "data-process"
IMAGE = "localhost/mlops-eks/base:0.1.0"


class Ran(t.NamedTuple):
    """A program's run: seconds of wall clock, seconds of CPU of its whole tree, and what it printed."""

    seconds: float
    cpu: float
    output: str


def say(text: str) -> None:
    """Print one line of progress at once."""
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)


def tool(name: str) -> str:
    """Return the path of a program: built by this project, or on PATH."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    cache = Path(os.environ.get("MLOPS_EKS_CACHE") or Path(base) / "mlops-eks")
    found = shutil.which(str(cache / "bin" / name)) or shutil.which(name)
    if found is None:
        sys.exit(f"bench: {name} is neither in {cache / 'bin'} nor on PATH. Run 'make bench', which builds it.")
    return found


@dataclass(kw_only=True)
class Setting:
    """One namespace on one cluster, and a scratch directory."""

    kubeconfig: Path
    work: Path
    image: str = IMAGE
    steps: int = 10
    # Seconds between two looks of kubernetes.core's k8s_info; 5 is its default.
    wait_sleep: int = 5
    namespace: str = field(default_factory=lambda: f"mlops-eks-bench-{os.getpid()}")

    def __post_init__(self) -> None:
        self.kubectl_binary, self.helm_binary = tool("kubectl"), tool("helm")

    def kubectl(self, *arguments: str, stdin: str | None = None) -> str:
        """Run kubectl in the namespace and return what it printed."""
        command = [self.kubectl_binary, "--kubeconfig", str(self.kubeconfig), "--namespace", self.namespace, *arguments]
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"bench: kubectl {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    def environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the environment of every program that is measured."""
        path = f"{Path(self.helm_binary).parent}:{Path(self.kubectl_binary).parent}:{os.environ['PATH']}"
        return {
            **os.environ,
            "PATH": path,
            "KUBECONFIG": str(self.kubeconfig),
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            "ANSIBLE_FORCE_COLOR": "0",
            "ANSIBLE_NOCOLOR": "1",
            **(more or {}),
        }

    def inventory(self, kubeconfig: Path | None = None) -> Path:
        """Write and return an inventory with this cluster as its only host."""
        given = kubeconfig or self.kubeconfig
        variables = {
            "ansible_connection": "local",
            "ansible_python_interpreter": sys.executable,
            "kubeconfig": str(given),
            "kube_namespace": self.namespace,
        }
        file = self.work / f"inventory-{given.parent.name}-{given.name}.yml"
        file.write_text(json.dumps({"clusters": {"hosts": {"bench": variables}}}), encoding="utf-8")
        return file

    def playbook_command(self, name: Path, inventory: Path, extra: Mapping[str, t.Any]) -> list[str]:
        """Return the command that runs a playbook with extra variables."""
        program = str(Path(sys.executable).parent / "ansible-playbook")
        return [program, "-i", str(inventory), str(name), "-e", json.dumps(dict(extra))]

    def pipeline(self, name: str, command: list[str], *, steps: int) -> Path:
        """Write and return a pipeline of equal steps that each run `command`."""
        directory = self.work / "pipelines" / name
        directory.mkdir(parents=True, exist_ok=True)
        recipe = {
            "image": self.image,
            "pvc": [],
            "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}},
            "process": {"command": command},
        }
        (directory / "recipe.yaml").write_text(json.dumps(recipe), encoding="utf-8")
        rows = [
            {"name": f"s{index:02d}", "chart": "data-prep/data-process", "recipe": "recipe.yaml"}
            for index in range(1, steps + 1)
        ]
        (directory / "pipeline.yaml").write_text(json.dumps({"name": "bench", "steps": rows}), encoding="utf-8")
        return directory

    def run(self, command: list[str], more: Mapping[str, str] | None = None) -> Ran:
        """Run a program to its end from the repository's root; a failure ends the benchmark."""
        before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        done = subprocess.run(
            command, cwd=ROOT, env=self.environment(more), capture_output=True, text=True, check=False
        )
        seconds, after = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode != 0:
            sys.exit(f"bench: {command[0]} failed with exit code {done.returncode}:\n{done.stdout}\n{done.stderr}")
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return Ran(seconds, cpu, done.stdout)

    def __enter__(self) -> t.Self:
        self.kubectl("create", "namespace", self.namespace)
        return self

    def __exit__(self, *_: object) -> None:
        # A thousand pods take minutes to go; nobody has to wait for that.
        self.kubectl("delete", "namespace", self.namespace, "--wait=false")
