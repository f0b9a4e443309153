# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Run Terraform so that nothing that ends this process ends it half-way through a write.

It writes to a file, never to a pipe, whose end would kill it; it has a session of its own, so that Ctrl-C does not
reach it; and a shell stands between, which holds the lock of the directory until it has ended.

A command that changes something is never told to stop. Terraform would then cancel the calls its providers are making,
and what a cloud has made by then is in no state: neither changed nor removed by any later run, and in its way
(hashicorp/terraform issue 33358, hashicorp/terraform-provider-aws issues 18051 and 31731). It goes on to its end, and
the next run waits for that. A command that only looks gets one SIGINT when this process is gone, and gives back the
lock of the state.
"""

from __future__ import annotations

import os
import subprocess
import typing as t
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import Clock
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import CommandError

# Descriptor 0 is the lock, 1 the output, 2 a pipe that ends with the controller; Terraform gets none but the output.
_SUPERVISOR = """
signal=$1; shift
"$@" </dev/null 2>&1 & program=$!
echo "$program" >"$0"
(read -r _ <&2 || kill -"$signal" "$program") & watcher=$!
wait "$program"; code=$?
kill "$watcher"
echo "ended $code" >"$0"
exit "$code"
"""
# Seconds between two looks at the output.
LOOK = 0.1
# What a command gets when its controller is gone; signal 0 is none.
_STOP, _GO_ON = "INT", "0"
# Seconds in which a command that was asked to stop may do so.
STOPPING = 300.0


class Ended(t.NamedTuple):
    """How a command ended. `timed_out`: it took too long; `stopped`: it does not go on by itself."""

    rc: int
    timed_out: bool = False
    stopped: bool = True

    @property
    def signal(self) -> int:
        """The signal that ended it, 0 for none."""
        return -self.rc if self.rc < 0 else self.rc - 128 if self.rc > 128 else 0


class Job(t.NamedTuple):
    """A command that is followed; `log` is the file for its output."""

    argv: Sequence[str]
    cwd: Path
    env: Mapping[str, str]
    log: Path
    # Descriptor of the lock on the directory.
    lock: int
    # Seconds since the epoch.
    deadline: float
    # Whether it changes nothing, so that it may be told to stop.
    looks_only: bool


class Tail:
    """The whole lines of a file that is being written."""

    def __init__(self, stream: t.BinaryIO) -> None:
        self._stream, self._rest = stream, b""

    def lines(self) -> list[str]:
        """Return those that were not returned before."""
        *found, self._rest = (self._rest + self._stream.read()).split(b"\n")
        return [line.decode(errors="replace") for line in found]


def follow(job: Job, clock: Clock, on_line: Callable[[str], None], on_wait: Callable[[], None]) -> Ended:
    """Run a command to its end; `on_line` gets each line of its output, `on_wait` is called ten times a second.

    At the deadline one that only looks is told to stop, and any other is left to itself.
    """
    job.log.unlink(missing_ok=True)
    with _started(job) as (process, stop), job.log.open("rb") as stream:
        timed_out, give_up = False, job.deadline + (STOPPING if job.looks_only else 0.0)
        tail = Tail(stream)
        while True:
            # Asked before it is read: what was written before the end is read after it.
            ended = process.poll() is not None
            for line in tail.lines():
                on_line(line)
            if ended:
                return Ended(process.returncode, timed_out)
            on_wait()
            if clock.now() > job.deadline and not timed_out:
                timed_out = True
                stop()
            if clock.now() > give_up:
                return Ended(1, timed_out=True, stopped=False)
            with suppress(subprocess.TimeoutExpired):
                process.wait(LOOK)


@contextmanager
def _started(job: Job) -> Iterator[tuple[subprocess.Popen[bytes], Callable[[], None]]]:
    """Start a command; yield it and what tells its supervisor that nobody follows it, as the end of this block does."""
    watched, alive = os.pipe()
    with os.fdopen(alive, "wb") as controller, job.log.open("xb") as output:
        signal = _STOP if job.looks_only else _GO_ON
        try:
            process = subprocess.Popen(
                ["/bin/sh", "-c", _SUPERVISOR, str(_record(job.log)), signal, *job.argv],
                stdin=job.lock,
                stdout=output,
                stderr=watched,
                cwd=job.cwd,
                env=job.env,
                umask=0o077,
                start_new_session=True,
            )
        finally:
            os.close(watched)
        yield process, controller.close


def running(log: Path) -> int:
    """Return the process number of the command that last wrote to `log`, 0 when it does not run on this machine."""
    try:
        number = int(_record(log).read_text(encoding="utf-8"))
        os.kill(number, 0)
    except (OSError, ValueError):
        return 0
    return number


def was_killed(log: Path) -> bool:
    """Return whether the command that last wrote to `log` was ended by a signal, or by the end of this machine."""
    try:
        told = _record(log).read_text(encoding="utf-8").split()
    except OSError:
        return False
    return told[:1] != ["ended"] or int(told[1]) > 128


def _record(log: Path) -> Path:
    """Return the file that holds a command's process number while it runs, and then how it ended."""
    return Path(f"{log}.process")


def ask(argv: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> str:
    """Run a short command and return its standard output.

    Raises:
        CommandError: it failed; carries `command`, `rc`, `stderr`.
    """
    done = subprocess.run(
        argv, cwd=cwd, env=env, capture_output=True, text=True, errors="replace", check=False, start_new_session=True
    )
    if done.returncode != 0:
        said = [line.strip(" │╷╵") for line in done.stderr.splitlines()]
        first = next((line for line in said if line.startswith("Error:")), f"it ended with code {done.returncode}")
        shown = " ".join([Path(argv[0]).name, *argv[1:3]])
        raise CommandError(f"{shown}: {first}", command=list(argv), rc=done.returncode, stderr=done.stderr[-4000:])
    return done.stdout
