"""What runs before a container is ended, run for real by bash in a process namespace of its own, as in a container."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from chart_cases import WORK, Render, having
from chart_script import recipe_file, write

MPI = "training/mpijob-distributed"
# Writes a line for each signal, and takes a moment to save; the file says that it can be signalled.
TRAINER = "bash -c 'trap \"sleep 0.3; echo $0 saved; exit 0\" TERM; touch {0}; while :; do sleep 0.05; done' {0}"
# The first process of a worker, as sshd is: it starts ranks as mpirun does, the first of which reads from a pipe.
SSHD = """
import subprocess, sys, time, pathlib
script, stop, *ranks = sys.argv[1:]
stdins = [subprocess.PIPE, *[subprocess.DEVNULL] * (len(ranks) - 1)]
started = [subprocess.Popen(["/bin/bash", script], stdin=one, env={"RANK": rank, "PATH": "/usr/bin:/bin", "HOME": "."})
           for one, rank in zip(stdins, ranks)]
while not all(pathlib.Path(rank).exists() for rank in ranks):
    time.sleep(0.01)
hook = subprocess.Popen(["/bin/bash", stop])
print(*[rank.wait() for rank in started], flush=True)
print("hook", hook.wait())
"""


def contained(directory: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    """Run a program as the first process of a namespace."""
    user = () if os.geteuid() == 0 else ("--user", "--map-root-user")
    within = ("unshare", *user, "--pid", "--fork", "--mount-proc", "--kill-child")
    environment = {"PATH": os.environ["PATH"], "HOME": str(directory), "HOSTNAME": "pod-0", "LC_ALL": "C.UTF-8"}
    return subprocess.run(
        [*within, *argv], cwd=directory, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def not_mpi() -> list[str]:
    """The charts whose pods end by the stop.sh that all share."""
    return [chart for chart in having("script", "work") if chart not in having("mpi")]


@pytest.mark.parametrize("chart", not_mpi())
def test_a_program_is_told_and_what_reads_from_it_is_not(chart: str, render: Render, tmp_path: Path) -> None:
    # The program itself starts the hook, which the kubelet would do.
    stop = f"(until [ -e trainer ]; do sleep 0.05; done; exec bash {tmp_path}/stop.sh) </dev/null &"
    values = {
        "pre_script": [stop],
        WORK[chart]: {"command": [TRAINER.format("trainer")], "args": ["| tee log"]},
        "post_script": ["echo post"],
        "always_script": ["echo always $EXIT_STATUS"],
    }
    here = write(render, tmp_path, chart, values)
    # A server drains first; that is not what this is about.
    here["stop.sh"].write_text(re.sub(r"\nsleep \d+\n", "\n", here["stop.sh"].read_text()))
    done = contained(tmp_path, "/bin/bash", str(here[recipe_file(render, chart)]))
    assert [line for line in done.stdout.splitlines() if line != "Terminated"] == ["trainer saved", "always 143"]
    assert (tmp_path / "log").read_text() == "trainer saved\n"
    assert done.returncode == 143


def test_a_worker_tells_its_ranks_and_waits_for_them(render: Render, tmp_path: Path) -> None:
    values = {
        "train": {"command": [TRAINER.format("$RANK")], "args": ["| tee log-$RANK"]},
        "always_script": ["echo $RANK over $EXIT_STATUS"],
    }
    here = write(render, tmp_path, MPI, values)
    ranks = ("rank-0", "rank-1")
    done = contained(tmp_path, sys.executable, "-c", SSHD, str(here["train-script.sh"]), str(here["stop.sh"]), *ranks)
    said = [line for line in done.stdout.splitlines() if line != "Terminated"]
    assert sorted(said[:-2]) == sorted(f"{rank} {word}" for rank in ranks for word in ("saved", "over 143")), done
    assert said[-2:] == ["143 143", "hook 0"]


def test_the_launcher_leaves_the_ranks_all_of_the_grace_period(render: Render, tmp_path: Path) -> None:
    """An mpirun that is told ends its ranks within two seconds, whatever they are saving."""
    for seconds, waits in ((1200, 1190), (30, 20), (5, 0)):
        here = write(render, tmp_path, MPI, {"termination_grace_period_seconds": seconds})
        assert f"left = {waits}; left > 0" in here["stop.sh"].read_text()


@pytest.mark.parametrize(("ssh", "said"), [(600, ["ssh was there"]), (2, [])], ids=["in the end", "without ssh"])
def test_a_launcher_alone_tells_mpirun(ssh: int, said: list[str], render: Render, tmp_path: Path) -> None:
    """Its workers would have told their ranks long before; the ssh that it works through stays.

    With none left, as when its last worker was lost with its node, mpirun need not be waited for.
    """
    here = write(render, tmp_path, MPI, {})
    (tmp_path / "hostfile").write_text("localhost slots=1\n")
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "ssh").symlink_to("/bin/sleep")
    mpirun = f"""#!/bin/bash
trap 'echo mpirun told; kill $ssh && echo ssh was there; exit 9' TERM
{programs}/ssh {ssh} & ssh=$!
bash {here["stop.sh"]}
echo hook over
while :; do sleep 0.05; done
"""
    (programs / "mpirun").write_text(mpirun)
    (programs / "mpirun").chmod(0o755)
    text = here["stop.sh"].read_text()
    assert "left = 20;" in text
    here["stop.sh"].write_text(text.replace("left = 20;", f"left = {1 if ssh > 9 else 60};"))
    launcher = here["launcher-script.sh"]
    done = contained(tmp_path, "env", f"PATH={programs}:{os.environ['PATH']}", "/bin/bash", str(launcher))
    assert done.stdout.splitlines() == ["hook over", "mpirun told", *said], done
    assert done.returncode == 143
