"""Render the charts with the real Helm."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from chart_cases import CHARTS, Document, HelmError, Render, objects


@pytest.fixture(scope="session")
def run_helm(helm: str) -> Callable[..., str]:
    """Run Helm with arguments and return its standard output; raises HelmError."""

    def run(*arguments: str) -> str:
        done = subprocess.run([helm, *arguments], capture_output=True, text=True, check=False)
        if done.returncode:
            raise HelmError("\n".join(line for line in done.stderr.splitlines() if "found symbolic link" not in line))
        return done.stdout

    return run


@pytest.fixture(scope="session")
def render(run_helm: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> Render:
    """Render a chart as the release `demo` in the namespace `team-a`; equal calls are answered from memory."""
    known: dict[str, str] = {}

    def render(chart: str, *layers: dict[str, Any] | Path, release: str = "demo") -> list[Document]:
        texts = [layer.read_text() if isinstance(layer, Path) else yaml.safe_dump(layer) for layer in layers]
        key = json.dumps([chart, release, *texts])
        if key not in known:
            arguments = ["template", release, str(CHARTS / chart), "--namespace", "team-a"]
            directory = tmp_path_factory.mktemp("values")
            for index, text in enumerate(texts):
                path = directory / f"{index}.yaml"
                path.write_text(text)
                arguments += ["--values", str(path)]
            known[key] = run_helm(*arguments)
        return objects(known[key])

    return render


@pytest.fixture(scope="session")
def repository(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[str]]:
    """A bare git repository with a branch, and its commits, oldest first; the file `version` tells them apart."""
    work = tmp_path_factory.mktemp("work")

    def git(*arguments: str) -> str:
        identity = ("-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main")
        return subprocess.run(
            ["git", *identity, *arguments], cwd=work, capture_output=True, text=True, check=True
        ).stdout

    git("init")
    commits = []
    for version in ("one", "two", "three"):
        if version == "three":
            git("checkout", "-b", "next")
        (work / "version").write_text(version)
        git("add", "version")
        git("commit", "-m", version)
        commits.append(git("rev-parse", "HEAD").strip())
    git("checkout", "main")
    bare = tmp_path_factory.mktemp("bare") / "repository.git"
    git("clone", "--bare", str(work), str(bare))
    return str(bare), commits
