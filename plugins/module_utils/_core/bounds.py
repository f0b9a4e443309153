# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Upper bounds of everything that is read from files, programs and clusters.

Handwritten input is far below each bound. Larger input is refused with a message that names it. A collection that grows
while a step runs keeps as many entries, and the rest is counted.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import typing as t
from collections.abc import Mapping, Sequence
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError

KIB, MIB = 2**10, 2**20

# -- a pipeline

# Steps of a pipeline. Each has an entry in the ledger, a ConfigMap; Kubernetes limits a ConfigMap to 1 MiB.
STEPS = 100
# Bytes of such an entry: `STEPS` of them fit into 1 MiB.
LEDGER_ENTRY = 8 * KIB
# Characters of the cause in an entry, and of the cause of an earlier attempt; the record on disk is complete.
CAUSE, EARLIER_CAUSE = 2000, 200
# Characters of a `progress` pattern, and seconds of CPU time that it may use for lines that it almost matches.
PATTERN, PATTERN_SECONDS = 1000, 1

# -- a chart

# As Helm: helm `pkg/chart/loader/archive/archive.go`, MaxDecompressedChartSize and MaxDecompressedFileSize.
CHART, CHART_FILE = 100 * MIB, 5 * MIB
# Files and directories of a chart, and levels of directories. kube-prometheus-stack has a few hundred files.
CHART_FILES, CHART_DEPTH = 10_000, 32
# References of a values.schema.json that are followed; our largest schema needs a few hundred.
SCHEMA_REFERENCES = 100_000
# Output of a program, such as a rendered chart. Helm stores at most 1 MiB a release, compressed.
OUTPUT = 64 * MIB
# A file that Helm or git may write to fetch a chart: an index, a package, a pack of a git repository.
FETCHED = 2048 * MIB

# -- other files

KUBECONFIG = 4 * MIB
# A step.json: 1,000 pods with their containers need 3 MiB.
RECORD = 64 * MIB

# -- collections that grow while a step runs

# Warning events; the newest are kept, and each tick reads all of them.
WARNINGS = 500
# Notes of the engine about the logs of a step.
NOTES = 500
# Deleted pods: a Job whose pods are evicted for a week has thousands.
GONE_PODS = 1000
# Progress reports from which the rate is computed.
SAMPLES = 200


def read(path: Path, most: int, *, what: str) -> bytes:
    """Return the content of a file.

    Raises:
        InvalidInputError: it is larger than `most` bytes; the message calls the file `what`.
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise InvalidInputError(f"{what}: it is larger than {size(most)}. Is it the right file?")
    return data


def size(most: int) -> str:
    """Return a number of bytes as `64 MiB` or `8 KiB`."""
    return f"{most // MIB} MiB" if most >= MIB else f"{most // KIB} KiB"


class Completed(t.NamedTuple):
    """Exit status and output of a program; `over` is true if an output was cut off."""

    rc: int
    stdout: str
    stderr: str
    over: bool = False


def capture(
    argv: Sequence[str],
    *,
    stdin: str | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float | None = None,
    most: int = OUTPUT,
) -> Completed:
    """Run a program without a shell, in a session of its own, to its end, and return the first `most` bytes it wrote.

    The rest is read and dropped, so that a program which writes more is not blocked.

    Raises:
        subprocess.TimeoutExpired: it took longer than `timeout` seconds, and was killed.
    """
    with subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=env,
        start_new_session=True,
    ) as process:
        outputs = [_Output(t.cast(t.IO[bytes], pipe), most) for pipe in (process.stdout, process.stderr)]
        try:
            if stdin is not None:
                with contextlib.suppress(BrokenPipeError), t.cast(t.IO[bytes], process.stdin) as pipe:
                    pipe.write(stdin.encode())
            rc = process.wait(timeout)
        except BaseException:
            # Kill its children as well, so that none keeps a pipe open.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            for output in outputs:
                output.text()
            raise
        texts = [output.text() for output in outputs]
    return Completed(rc, texts[0], texts[1], any(output.over for output in outputs))


class _Output:
    """Reads one output of a program to its end and keeps its beginning."""

    def __init__(self, pipe: t.IO[bytes], most: int) -> None:
        self._pipe, self._most, self.over = pipe, most, False
        self._kept = bytearray()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        while block := os.read(self._pipe.fileno(), 1 << 16):
            room = self._most - len(self._kept)
            self._kept += block[:room]
            self.over = self.over or len(block) > room

    def text(self) -> str:
        self._thread.join()
        return self._kept.decode(errors="replace")
