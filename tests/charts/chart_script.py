"""A generated script, run for real by bash in a home directory of its own."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

from chart_cases import MINIMAL, Render, scripts


class Script:
    """A script in a directory, with a home."""

    def __init__(self, text: str, directory: Path) -> None:
        self.home = directory / "home"
        self.home.mkdir()
        self.path = directory / "script.sh"
        self.path.write_text(text)
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "HOSTNAME": "pod-0",
            "LC_ALL": "C.UTF-8",
        }

    def run(self, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", str(self.path)],
            env=self.environment | environment,
            cwd=self.home,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )


def make(render: Render, directory: Path, chart: str, script: str, values: dict[str, Any]) -> Script:
    return Script(scripts(render(chart, MINIMAL[chart], values))[script], directory)
