"""A generated script, run for real by bash in a home directory of its own."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

from chart_cases import MINIMAL, Render, scripts

# What the container of a pod holds, and where it stands in a test.
CONTAINER = ("/etc/config/", "/etc/mpi/", "/dev/shm/")


class Script:
    """A script in a directory, with a home."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.home = path.parent / "home"
        self.home.mkdir(exist_ok=True)
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "HOSTNAME": "pod-0",
            "LC_ALL": "C.UTF-8",
        }

    def start(self, **environment: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            ["bash", str(self.path)],
            env=self.environment | environment,
            cwd=self.home,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, **environment: str) -> subprocess.CompletedProcess[str]:
        running = self.start(**environment)
        stdout, stderr = running.communicate(timeout=300)
        return subprocess.CompletedProcess(running.args, running.returncode, stdout, stderr)


def write(render: Render, directory: Path, chart: str, *layers: dict[str, Any]) -> dict[str, Path]:
    """Write the scripts of a chart to a directory, which stands for all directories of the container that they use."""
    found = {}
    for name, text in scripts(render(chart, MINIMAL[chart], *layers)).items():
        for there in CONTAINER:
            text = text.replace(there, f"{directory}/")
        found[name] = directory / name
        found[name].write_text(text)
        found[name].chmod(0o755)
    return found


def recipe_file(render: Render, chart: str) -> str:
    """Return the name of the script that holds the recipe's own lines."""
    probe = ": the recipe's own line"
    (name,) = [
        name
        for name, text in scripts(render(chart, MINIMAL[chart], {"pre_script": [probe]})).items()
        if f"\n{probe}\n" in text
    ]
    return name


def make(render: Render, directory: Path, chart: str, values: dict[str, Any]) -> Script:
    """Return the script of a chart that holds the recipe's own lines, ready to run."""
    return Script(write(render, directory, chart, values)[recipe_file(render, chart)])
