# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Which rank a launcher names when it gives up.

A rank of an MPIJob is a process that sshd starts in a worker. When it ends, its pod goes on, and Kubernetes sees only
the launcher fail. The output of mpirun or torchrun at the end of the log names the rank that failed first.

Sources: Open MPI 4.1 orte/tools/orterun/help-orterun.txt and ompi/mca/rte/orte/help-mpi-api.txt, PRRTE 3.0
src/docs/show-help-files; Hydra of MPICH 4 and Intel MPI 2021, as their users report it; PyTorch 2
torch/distributed/elastic/multiprocessing/errors/__init__.py.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ansible_collections.mlops.eks.plugins.module_utils._diagnose.causes import Cause, sentence

# Whitespace in the log is reduced to single spaces. The message about the first failure comes before the others.
_ROWS = [
    (name, re.compile(pattern))
    for name, pattern in (
        (
            "mpirun",
            r"MPI_ABORT was invoked on rank (?P<rank>\d+) in communicator \S+ "
            r"(?:with errorcode|Proc: \S+ Errorcode:) (?P<abort>-?\d+)",
        ),
        ("mpirun", r"Process name: \[\S+,(?P<rank>\d+)\] Exit code: (?P<code>\d+)"),
        (
            "mpirun",
            r"process rank (?P<rank>\d+) with PID \d+ on node (?P<node>\S+) exited on "
            r"signal (?P<signal>\d+(?: \([^)]*\))?)",
        ),
        (
            "mpirun",
            r"has exited due to process rank (?P<rank>\d+) with PID \d+ on node (?P<node>\S+) "
            r"(?P<early>exiting improperly)",
        ),
        ("mpirun", r"lost communication with a remote daemon\..*?Remote daemon: \S+ on node (?P<lost>\S+)"),
        (
            "mpiexec",
            r"BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES = (?:RANK (?P<rank>\d+) )?PID \d+ RUNNING AT "
            r"(?P<node>\S+) = (?:EXIT CODE: (?P<code>\d+)|KILLED BY SIGNAL: (?P<signal>\d+(?: \([^)]*\))?))",
        ),
        (
            "torchrun",
            r"Root Cause \(first observed failure\): \[\d+\]: time : \S+ host : (?P<node>\S+) rank : (?P<rank>\d+) "
            r"\(local_rank: \d+\) exitcode : (?:(?P<code>\d+)|-(?P<signal>\d+))",
        ),
    )
]
# The first label of a DNS name is the name of the pod or host; an address has none.
_HOST = re.compile(r"^([a-z][^.]*)\..*")
# By the group that matched.
_HOW = {
    "abort": "called MPI_Abort with code {abort}",
    "code": "was the first to fail, with exit code {code}",
    "signal": "was the first to fail, by signal {signal}",
    "early": "ended without MPI_Finalize while others went on",
    "lost": "lost contact with {lost}",
}


def with_rank(cause: Cause) -> Cause:
    """Return the cause with the rank that the end of its log names, if its program ended by itself."""
    failure = first_failure(cause.log_tail) if cause.category == "program" else ""
    return replace(cause, message=f"{cause.message} {sentence(failure)}") if failure else cause


def first_failure(lines: Sequence[str]) -> str:
    """Return a sentence about the process that the launcher names as the first to fail; empty when it names none."""
    text = " ".join(" ".join(lines).split())
    for name, pattern in _ROWS:
        if found := pattern.search(text):
            groups = {key: _HOST.sub(r"\1", value) for key, value in found.groupdict().items() if value}
            how = next(text for key, text in _HOW.items() if key in groups).format(**groups)
            if "lost" in groups:
                return f"{name} {how}"
            who = f"rank {groups['rank']}" if "rank" in groups else "a process"
            return f"{name} says that {who}{f' on {node}' if (node := groups.get('node')) else ''} {how}"
    return ""
