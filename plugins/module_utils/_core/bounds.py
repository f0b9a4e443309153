# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""How much of anything is taken, in one place: what comes from files, programs and clusters has no end of its own.

What a person writes by hand is far below each of them. Beyond a bound input is refused in one line that names it; of a
collection that grows while a step runs, the rest is counted.
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

# Steps of a pipeline: each has an entry in the ledger, a ConfigMap, of which Kubernetes stores no more than 1 MiB.
STEPS = 100
# Bytes of such an entry; a hundred of them fit.
LEDGER_ENTRY = 8 * KIB
# Characters of a cause there, and of that of an earlier attempt; the record on disk has all of it.
CAUSE, EARLIER_CAUSE = 2000, 200
# Characters of a user's pattern for progress, and seconds of a processor for lines that it almost fits.
PATTERN, PATTERN_SECONDS = 1000, 1

# -- a chart

# As Helm: helm `pkg/chart/loader/archive/archive.go`, MaxDecompressedChartSize and MaxDecompressedFileSize.
CHART, CHART_FILE = 100 * MIB, 5 * MIB
# Files and directories of a chart, and directories in each other: that of kube-prometheus-stack has some hundred.
CHART_FILES, CHART_DEPTH = 10_000, 32
# How often references of a values.schema.json are followed; our largest schema needs some hundred.
SCHEMA_REFERENCES = 100_000
# What a program may write to its output: a rendered chart. Helm stores no release of more than 1 MiB, compressed.
OUTPUT = 64 * MIB
# A file that a program which fetches charts may write: an index, a package, the pack of a git tree.
FETCHED = 2048 * MIB

# -- what is read elsewhere

KUBECONFIG = 4 * MIB
# A step.json: a thousand pods with their containers make 3 MiB.
RECORD = 64 * MIB

# -- what grows while a step runs

# Warnings of which the newest are kept: each is looked at by every tick.
WARNINGS = 500
# Lines of our own about the logs of a step.
NOTES = 500
# Pods that are gone: a Job that evicts its pods all week makes thousands.
GONE_PODS = 1000
# Reports of progress that tell the rate.
SAMPLES = 200


def read(path: Path, most: int, *, what: str) -> bytes:
    """Return what is in a file.

    Raises:
        InvalidInputError: it is larger than `most` bytes; `what` is what it is called in the message.
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise InvalidInputError(f"{what}: it is larger than {size(most)}. Is it the right file?")
    return data


def size(most: int) -> str:
    """Return a number of bytes as people say it."""
    return f"{most // MIB} MiB" if most >= MIB else f"{most // KIB} KiB"


class Completed(t.NamedTuple):
    """What a program left behind; `over` tells that it wrote more than is taken."""

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

    What comes after them is read and forgotten: a program that is about to install something is not stopped for it.

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
            # What it has started goes with it, and holds no pipe open.
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
