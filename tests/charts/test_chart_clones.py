"""The clone that a script makes of the recipe's repository."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
import time
from base64 import b64encode
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from chart_cases import MINIMAL, Render, scripts
from chart_script import Script, make

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


def test_the_address_may_hold_variables_of_the_environment(
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


def test_a_reassigned_clone_directory_is_not_removed(
    render: Render, tmp_path: Path, repository: tuple[str, list[str]]
) -> None:
    values = {
        "git": {"repo_url": repository[0]},
        "pre_script": ["mkdir -p $HOME/data/set", "export GIT_CLONE_DIR=$HOME/data"],
    }
    script = make(render, tmp_path, JOB, values)
    assert script.run().returncode == 0
    assert (script.home / "data" / "set").is_dir()
    assert list((script.home / "tmp").iterdir()) == []


class Host(ThreadingHTTPServer):
    """A host of git repositories that asks for a login."""

    def __init__(self, root: Path) -> None:
        super().__init__(("127.0.0.1", 0), partial(_Files, directory=str(root)))
        self.login = ""


class _Files(SimpleHTTPRequestHandler):
    def do_GET(self) -> None:
        assert isinstance(self.server, Host)
        if self.headers["Authorization"] == f"Basic {b64encode(self.server.login.encode()).decode()}":
            return super().do_GET()
        self.send_response(401)
        self.send_header("WWW-Authenticate", 'Basic realm="git"')
        self.end_headers()
        return None

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def host(repository: tuple[str, list[str]]) -> Iterator[Host]:
    subprocess.run(["git", "update-server-info"], cwd=repository[0], check=True)
    server = Host(Path(repository[0]).parent)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


# The login in the address, and what the host gets of it as user:password.
LOGINS = [
    ("me:s3cret", "me:s3cret"),
    ("me%40example.com:s3%2Fcr%3Aet%25", "me@example.com:s3/cr:et%"),
    ("s3cret-token", "s3cret-token:"),
    ("x-access-token:s3cret:with:colons", "x-access-token:s3cret:with:colons"),
]


@pytest.mark.parametrize(("login", "basic"), LOGINS)
def test_a_login_in_the_address_stays_out_of_files_and_output(
    login: str, basic: str, render: Render, tmp_path: Path, host: Host
) -> None:
    values = {
        "git": {"repo_url": f"http://$GIT_LOGIN_OF_TEAM@127.0.0.1:{host.server_port}/repository.git"},
        "pre_script": [
            "cp -r .git $HOME/kept",
            "git remote -v",
            "env -u GIT_LOGIN_OF_TEAM >$HOME/environment",
            "cat version",
        ],
    }
    host.login = basic
    script = make(render, tmp_path, JOB, values)
    done = script.run(GIT_LOGIN_OF_TEAM=login)
    assert done.returncode == 0, done.stderr
    assert "two" in done.stdout
    kept = [path for path in (script.home / "kept").rglob("*") if path.is_file()]
    texts = [
        done.stdout,
        done.stderr,
        (script.home / "environment").read_text(),
        *(path.read_bytes().decode("latin1") for path in kept),
    ]
    assert any("[remote" in text for text in texts)
    for part in {login, basic, login.rpartition(":")[2], basic.rstrip(":")}:
        assert not [text for text in texts if part in text], part


def test_a_login_that_is_refused_ends_the_script_and_is_not_shown(render: Render, tmp_path: Path, host: Host) -> None:
    """Without a question at a terminal, which would never be answered."""
    host.login = "me:another"
    values = {"git": {"repo_url": f"http://me:s3cret@127.0.0.1:{host.server_port}/repository.git"}}
    # Also where the recipe's own lines may fail.
    done = make(render, tmp_path, JOB, values | {"shell_options": None}).run()
    assert done.returncode == 128
    assert "Authentication failed" in done.stderr
    assert "s3cret" not in done.stdout + done.stderr
    assert "script done" not in done.stdout


MPI = "training/mpijob-distributed"
# Tells that it clones, and takes a moment, or all the time there is.
SLOW_GIT = """#!/bin/bash
if [ "$1" = clone ]; then
  echo clone >>"$HOME/clones"
  sleep "${SECONDS_TO_CLONE:-0.2}"
fi
exec {git} "$@"
"""


@pytest.fixture
def rank(render: Render, tmp_path: Path, repository: tuple[str, list[str]]) -> Script:
    """What a rank of a pod with several runs; $GATE is the file that it waits for before it reads the clone."""
    values = {
        "resources": {"nproc_per_node": 2},
        "git": {"repo_url": repository[0]},
        "pre_script": ["touch $HOME/ready-$RANK", "until [ -e $HOME/$GATE ]; do sleep 0.02; done", "cat version"],
    }
    script = make(render, tmp_path, MPI, values)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").write_text(SLOW_GIT.replace("{git}", shutil.which("git") or ""))
    (tmp_path / "bin" / "git").chmod(0o755)
    script.environment["PATH"] = f"{tmp_path / 'bin'}:{script.environment['PATH']}"
    return script


def clones(script: Script) -> int:
    return len((script.home / "clones").read_text().splitlines())


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 120
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} did not appear"
        time.sleep(0.01)


def over(running: subprocess.Popen[str]) -> tuple[int, str]:
    said, complaints = running.communicate(timeout=120)
    return running.returncode, said.splitlines()[-1] if said else complaints


def test_ranks_of_a_pod_share_one_clone_which_the_last_removes(rank: Script) -> None:
    running = [rank.start(RANK=str(number), GATE=f"gate-{number}") for number in range(4)]
    for number in range(4):
        wait_for(rank.home / f"ready-{number}")
    assert clones(rank) == 1
    for number in range(4):
        assert (rank.home / "tmp" / "pod-0" / "version").exists()
        (rank.home / f"gate-{number}").touch()
        assert over(running[number]) == (0, "two")
    assert list((rank.home / "tmp").iterdir()) == []


def test_a_rank_that_is_killed_holds_up_nobody(rank: Script) -> None:
    """Neither while it works nor while it clones; a restarted container counts its processes anew."""
    for gate, seconds, seen in (("never", "0.2", "ready-0"), ("never", "3600", "clones")):
        (rank.home / "clones").unlink(missing_ok=True)
        killed = rank.start(RANK="0", GATE=gate, SECONDS_TO_CLONE=seconds)
        wait_for(rank.home / seen)
        os.killpg(killed.pid, signal.SIGKILL)
        killed.communicate()
        (rank.home / "open").touch()
        assert over(rank.start(RANK="1", GATE="open")) == (0, "two")
        assert clones(rank) == 2
        assert list((rank.home / "tmp").iterdir()) == []


def test_a_clone_that_fails_for_one_rank_is_tried_by_the_next(rank: Script) -> None:
    url = next(line for line in rank.path.read_text().splitlines() if "local url=" in line)
    rank.path.write_text(rank.path.read_text().replace(url, f'{url}"$NOWHERE"'))
    failed = [rank.start(RANK=str(number), GATE="open", NOWHERE="-no") for number in range(2)]
    assert [over(one)[0] for one in failed] == [128, 128]
    (rank.home / "open").touch()
    assert over(rank.start(RANK="2", GATE="open")) == (0, "two")


def test_one_rank_a_pod_needs_no_lock(render: Render) -> None:
    text = scripts(render(MPI, MINIMAL[MPI], {"git": {"repo_url": "https://git.example.com/a"}}))["train-script.sh"]
    assert "git clone" in text
    assert "flock" not in text
