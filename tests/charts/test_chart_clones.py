"""The clone that a script makes of the recipe's repository."""

from __future__ import annotations

from pathlib import Path

import pytest
from chart_cases import Render
from chart_script import make

JOB = "data-prep/data-process"


def test_an_early_exit_is_a_success_and_cleans_up(
    render: Render, tmp_path: Path, repository: tuple[str, list[str]]
) -> None:
    values = {
        "git": {"repo_url": repository[0]},
        "pre_script": ["echo already there", "exit 0"],
        "post_script": ["echo post"],
    }
    done = make(render, tmp_path, JOB, values).run()
    assert done.returncode == 0
    assert done.stdout.splitlines()[1:] == ["already there"]
    assert list((tmp_path / "home" / "tmp").iterdir()) == []


@pytest.mark.parametrize("case", ["head", "branch", "commit", "branch and commit"])
def test_the_clone_is_what_was_pinned(
    case: str, render: Render, tmp_path: Path, repository: tuple[str, list[str]]
) -> None:
    url, commits = repository
    pins = {
        "head": ({}, "two"),
        "branch": ({"branch": "next"}, "three"),
        "commit": ({"commit": commits[0]}, "one"),
        "branch and commit": ({"branch": "next", "commit": commits[1]}, "two"),
    }
    git, version = pins[case]
    child = "bash -c 'echo child sees $GIT_CLONE_DIR'"
    values = {
        "git": {"repo_url": url, **git},
        "inline_script": ["echo at $PWD"],
        "pre_script": ["echo version $(cat version)", "cd /"],
        "process": {"command": [child]},
    }
    script = make(render, tmp_path, JOB, values)
    left = script.home / "tmp" / "pod-0"
    left.mkdir(parents=True)
    (left / "left-by-a-killed-pod").touch()
    done = script.run()
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1:] == [
        f"at {left}",
        f"version {version}",
        f"child sees {left}",
        "Processing script done",
    ]
    assert not left.exists()


def test_a_token_in_the_url_comes_from_the_environment(
    render: Render, tmp_path: Path, repository: tuple[str, list[str]]
) -> None:
    script = make(render, tmp_path, JOB, {"git": {"repo_url": "$WHERE/repository.git"}})
    assert script.run(WHERE=str(Path(repository[0]).parent)).returncode == 0


def test_a_clone_that_fails_fails_the_step_and_leaves_nothing(render: Render, tmp_path: Path) -> None:
    values = {"git": {"repo_url": str(tmp_path / "nowhere")}, "always_script": ["echo always $EXIT_STATUS"]}
    done = make(render, tmp_path, JOB, values).run()
    assert done.returncode == 128
    assert done.stdout == "always 128\n"
    assert "does not exist" in done.stderr
    assert list((tmp_path / "home" / "tmp").iterdir()) == []
