"""The two scripts of an MPI job: the launcher's, and the one that every rank runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from chart_cases import Render
from chart_script import Script, write

MPI = "training/mpijob-distributed"

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
    here = write(render, tmp_path, MPI, values)
    (tmp_path / "container-environment").write_text('declare -x ONLY_IN_CONTAINER="a value"\n')
    (tmp_path / "hostfile").write_text("localhost slots=2\n127.0.0.1:2\n")
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "mpirun").write_text(MPIRUN)
    (programs / "mpirun").chmod(0o755)
    script = Script(here["launcher-script.sh"])
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
        "rank in pod-0 with a value",
        "rank over 0",
        "rank in pod-0 with a value",
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
