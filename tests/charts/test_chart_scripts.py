"""The generated scripts, run for real by bash in a home directory of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from chart_cases import MINIMAL, Render, scripts

JOB, SERVER = "data-prep/data-process", "serving/generic-server"
MPI, TORCH = "training/mpijob-distributed", "training/pytorchjob-distributed"
# Charts whose script is run as it is, with the key of their program and the file name of their script.
PLAIN = [(JOB, "process", "data-process.sh"), (TORCH, "train", "train-script.sh"), (SERVER, "server", "launcher.sh")]
plain = pytest.mark.parametrize(("chart", "work", "script"), PLAIN, ids=[chart for chart, *_ in PLAIN])

NASTY = [
    "cat >here <<'END'\nit's \"quoted\" at 100 %s %% {{ .Values.x }} {{- end }} $HOME `date` \\n \\\\"
    " trailing:   \n\ttab\n  # -- x\nEND",
    "cat >expanded <<EOF\n$WORD: \\$5 é ü 日本 \U0001f680 \u00a0|\nEOF\n",
    "printf '%s\\n' \"a b\"  'c\"d' >words   ",
    "---",
]


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
            timeout=60,
            check=False,
        )


def make(render: Render, directory: Path, chart: str, script: str, values: dict[str, Any]) -> Script:
    return Script(scripts(render(chart, MINIMAL[chart], values))[script], directory)


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


@plain
def test_everything_runs_in_order(chart: str, work: str, script: str, render: Render, tmp_path: Path) -> None:
    values = {
        "inline_script": ["echo inline"],
        "pre_script": ["if true", "then", "echo pre", "fi"],
        work: {"command": ["WORD=x", "echo"], "args": ["command", 7, 0.5, True, "'a  b'", "2>&1 | tee log"]},
        "post_script": ["echo post"],
        "always_script": ["echo always $EXIT_STATUS"],
    }
    done = make(render, tmp_path, chart, script, values).run()
    said = done.stdout.splitlines()
    marker = {JOB: ["Processing script done"], TORCH: ["Training script done"], SERVER: []}[chart]
    assert said == ["inline", "pre", "command 7 0.5 true a  b", *marker, "post", "always 0"]
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "home" / "log").read_text() == "command 7 0.5 true a  b\n"


@plain
def test_a_program_that_fails_in_front_of_tee_fails_the_step(
    chart: str, work: str, script: str, render: Render, tmp_path: Path
) -> None:
    values = {
        work: {"command": ["bash"], "args": ["-c 'echo trained; exit 7'", "2>&1 | tee log"]},
        "post_script": ["echo post"],
        "always_script": ["echo always $EXIT_STATUS", "exit 0"],
    }
    done = make(render, tmp_path, chart, script, values).run()
    assert done.returncode == 7
    assert done.stdout.splitlines() == ["trained", "always 7"]
    assert "failed with exit status 7: bash -c 'echo trained; exit 7' 2>&1 | tee log" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "lines", [["false"], ["echo $(false)x", "y=$(exit 1)"], ["cd /nowhere"], ["f() { false; }", "f"]]
)
def test_a_line_that_fails_ends_the_script(lines: list[str], render: Render, tmp_path: Path) -> None:
    values = {"pre_script": lines, "process": {"command": ["echo"], "args": ["not reached"]}}
    done = make(render, tmp_path, JOB, "data-process.sh", values).run()
    assert done.returncode == 1
    assert "not reached" not in done.stdout
    assert "failed with exit status 1" in done.stderr


def test_what_may_fail_does_not_end_the_script(render: Render, tmp_path: Path) -> None:
    lines = [
        "false || true",
        "if [ -z $UNSET ]; then echo unset is empty; fi",
        "[ -d /nowhere ] && echo never",
        "rm -f nothing*",
    ]
    done = make(render, tmp_path, JOB, "data-process.sh", {"pre_script": lines}).run()
    assert (done.returncode, done.stdout) == (0, "unset is empty\nProcessing script done\n")


def test_always_script_cannot_change_the_outcome(render: Render, tmp_path: Path) -> None:
    values = {"always_script": ["false", "echo still here", "exit 9"], "process": {"command": ["exit"], "args": [3]}}
    done = make(render, tmp_path, JOB, "data-process.sh", values).run()
    assert (done.returncode, done.stdout) == (3, "still here\n")


def test_an_early_exit_is_a_success_and_cleans_up(
    render: Render, tmp_path: Path, repository: tuple[str, list[str]]
) -> None:
    values = {
        "git": {"repo_url": repository[0]},
        "pre_script": ["echo already there", "exit 0"],
        "post_script": ["echo post"],
    }
    done = make(render, tmp_path, JOB, "data-process.sh", values).run()
    assert done.returncode == 0
    assert done.stdout.splitlines()[1:] == ["already there"]
    assert list((tmp_path / "home" / "tmp").iterdir()) == []


def test_nothing_but_scripts_is_fine(render: Render, tmp_path: Path) -> None:
    values = {"process": {"command": []}, "pre_script": ["echo all the work"]}
    done = make(render, tmp_path, JOB, "data-process.sh", values).run()
    assert (done.returncode, done.stdout) == (0, "all the work\n")


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
    script = make(render, tmp_path, JOB, "data-process.sh", values)
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
    script = make(render, tmp_path, JOB, "data-process.sh", {"git": {"repo_url": "$WHERE/repository.git"}})
    assert script.run(WHERE=str(Path(repository[0]).parent)).returncode == 0


def test_a_clone_that_fails_fails_the_step_and_leaves_nothing(render: Render, tmp_path: Path) -> None:
    values = {"git": {"repo_url": str(tmp_path / "nowhere")}, "always_script": ["echo always $EXIT_STATUS"]}
    done = make(render, tmp_path, JOB, "data-process.sh", values).run()
    assert done.returncode == 128
    assert done.stdout == "always 128\n"
    assert "does not exist" in done.stderr
    assert list((tmp_path / "home" / "tmp").iterdir()) == []


@plain
def test_text_arrives_as_it_was_written(chart: str, work: str, script: str, render: Render, tmp_path: Path) -> None:
    values = {"inline_script": NASTY[:2], "pre_script": [*NASTY[2:3], ": \u2028 \x07 \r", *[f": '{NASTY[3]}'"]]}
    text = scripts(render(chart, MINIMAL[chart], values))[script]
    for item in [*values["inline_script"], *values["pre_script"]]:
        assert item.removesuffix("\n") + "\n" in text


@plain
def test_here_documents_write_what_they_say(chart: str, work: str, script: str, render: Render, tmp_path: Path) -> None:
    values = {"inline_script": NASTY[:2], "pre_script": NASTY[2:3]}
    made = make(render, tmp_path, chart, script, values)
    assert made.run(WORD="word").returncode == 0
    assert (made.home / "here").read_text() == NASTY[0].split("\n", 1)[1].removesuffix("END")
    assert (made.home / "expanded").read_text() == "word: $5 é ü 日本 \U0001f680 \u00a0|\n"
    assert (made.home / "words").read_text() == 'a b\nc"d\n'


def test_sigterm_ends_the_script_after_its_program_and_runs_always_script(render: Render, tmp_path: Path) -> None:
    """What the kubelet and the preStop hook do: both the program and the script get the signal."""
    trainer = "bash -c 'trap \"echo saved; exit 0\" TERM; touch started; while :; do sleep 0.05; done'"
    values = {
        "process": {"command": [trainer]},
        "post_script": ["echo post"],
        "always_script": ["echo always $EXIT_STATUS"],
    }
    script = make(render, tmp_path, JOB, "data-process.sh", values)
    running = subprocess.Popen(
        ["bash", str(script.path)],
        env=script.environment,
        cwd=script.home,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 30
    while not (script.home / "started").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    os.killpg(running.pid, signal.SIGTERM)
    said, _ = running.communicate(timeout=30)
    assert said == "saved\nalways 143\n"
    assert running.returncode == 143


def test_a_server_that_dies_ends_the_container(render: Render, tmp_path: Path) -> None:
    values = {"server": {"command": ["bash -c 'exit 4'"], "keep_alive": True}}
    assert make(render, tmp_path, SERVER, "launcher.sh", values).run().returncode == 4


def test_a_server_in_the_background_is_kept_only_when_asked(render: Render, tmp_path: Path) -> None:
    text = scripts(render(SERVER, MINIMAL[SERVER], {"server": {"keep_alive": True}}))["launcher.sh"]
    assert "sleep infinity &\nwait\n" in text
    assert "sleep infinity" not in scripts(render(SERVER, MINIMAL[SERVER]))["launcher.sh"]


MPIRUN = """#!/bin/bash
echo "mpirun $*"
echo "ssh with $OMPI_MCA_plm_rsh_args"
for rank in 0 1; do
  OMPI_COMM_WORLD_LOCAL_RANK=$rank "${@: -2}" || exit
done
"""


@pytest.fixture
def mpi_pod(render: Render, tmp_path: Path, repository: tuple[str, list[str]]) -> Script:
    """The launcher's script where `mpirun` runs two ranks here, one after the other."""
    values = {
        "resources": {"nproc_per_node": 2},
        "git": {"repo_url": repository[0]},
        "launcher": {"pre_script": ["echo once before", "export STAMP='a b'"], "post_script": ["echo once after"]},
        "mpirun": {"args": ["--tag-output", "-x STAMP", "--output-filename $HOME/{{ .Release.Name }}"]},
        "train": {
            "command": ["echo rank in $(basename $GIT_CLONE_DIR) with $ONLY_IN_CONTAINER;"],
            "args": ["exit $STATUS"],
        },
        "always_script": ["echo rank over $EXIT_STATUS"],
    }
    both = scripts(render(MPI, MINIMAL[MPI], values))
    paths = {
        "/etc/config/train-script.sh": str(tmp_path / "train-script.sh"),
        "/etc/mpi/hostfile": str(tmp_path / "hostfile"),
        "/dev/shm/container-environment": str(tmp_path / "container-environment"),
    }
    for here, there in paths.items():
        both = {name: text.replace(here, there) for name, text in both.items()}
    (tmp_path / "train-script.sh").write_text(both["train-script.sh"])
    (tmp_path / "container-environment").write_text('declare -x ONLY_IN_CONTAINER="a value"\n')
    (tmp_path / "hostfile").write_text("localhost slots=2\n127.0.0.1:2\n")
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "mpirun").write_text(MPIRUN)
    (programs / "mpirun").chmod(0o755)
    script = Script(both["launcher-script.sh"], tmp_path)
    script.environment["PATH"] = f"{programs}:{script.environment['PATH']}"
    return script


def test_the_launcher_runs_its_lines_once_and_every_rank_the_recipe(mpi_pod: Script, tmp_path: Path) -> None:
    done = mpi_pod.run(STATUS="0")
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    output = f"--tag-output -x STAMP --output-filename {mpi_pod.home}/demo"
    assert said[:2] == ["once before", f"mpirun -np 4 {output} /bin/bash {tmp_path}/train-script.sh"]
    assert "StrictHostKeyChecking=no" in said[2]
    assert [line for line in said[3:] if not line.startswith("Cloned")] == [
        "rank in pod-0-0 with a value",
        "rank over 0",
        "rank in pod-0-1 with a value",
        "rank over 0",
        "Training script done",
        "once after",
    ]
    assert list((mpi_pod.home / "tmp").iterdir()) == []


def test_a_rank_that_fails_fails_the_launcher(mpi_pod: Script) -> None:
    done = mpi_pod.run(STATUS="5")
    assert done.returncode == 5
    assert "once after" not in done.stdout
    assert done.stdout.splitlines()[-1] == "rank over 5"


def test_a_worker_without_a_name_is_waited_for_and_then_named(mpi_pod: Script, tmp_path: Path) -> None:
    (tmp_path / "hostfile").write_text("worker-0.invalid slots=1\n")
    # No name resolves, and sleep only counts, so that the minute's wait is over at once.
    for program, line in (("getent", "exit 2"), ("sleep", "echo >>$HOME/slept")):
        (tmp_path / "bin" / program).write_text(f"#!/bin/bash\n{line}\n")
        (tmp_path / "bin" / program).chmod(0o755)
    done = mpi_pod.run(STATUS="0")
    assert done.returncode == 1
    assert "worker worker-0.invalid does not resolve after 60 s" in done.stderr
    assert len((mpi_pod.home / "slept").read_text().splitlines()) == 240
    assert "mpirun" not in done.stdout
