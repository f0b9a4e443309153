# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Run Terraform so that the end of this process does not interrupt a write.

Terraform writes to a file, because a closed pipe would kill it. It has its own session, so that Ctrl-C does not reach
it. A supervising shell holds the lock of the directory until Terraform has ended.

A command that changes something is never stopped. Terraform would cancel the calls of its providers, and resources that
the cloud has created by then would be in no state: later runs would neither change nor remove them, and would conflict
with them (hashicorp/terraform issue 33358, hashicorp/terraform-provider-aws issues 18051 and 31731). The command runs
to its end, and the next run waits for it. A read-only command gets one SIGINT when this process is gone, and releases
the lock of the state.
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

# Descriptor 0 is the lock, 1 the output, 2 a pipe that closes with the controller. Terraform gets only the output.
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
# Seconds between two reads of the output.
LOOK = 0.1
# The signal to a command whose controller is gone; 0 is none.
_STOP, _GO_ON = "INT", "0"
# Seconds that a signalled command has to stop.
STOPPING = 300.0


class Ended(t.NamedTuple):
    """How a command ended. `timed_out`: the deadline passed; `stopped`: it does not run on in the background."""

    rc: int
    timed_out: bool = False
    stopped: bool = True

    @property
    def signal(self) -> int:
        """The signal that ended it, 0 for none."""
        return -self.rc if self.rc < 0 else self.rc - 128 if self.rc > 128 else 0


class Job(t.NamedTuple):
    """A command to follow; `log` is the file for its output."""

    argv: Sequence[str]
    cwd: Path
    env: Mapping[str, str]
    log: Path
    # Descriptor of the lock on the directory.
    lock: int
    # Seconds since the epoch.
    deadline: float
    # Whether it changes nothing and may be stopped.
    looks_only: bool


class Tail:
    """The complete lines of a growing file."""

    def __init__(self, stream: t.BinaryIO) -> None:
        self._stream, self._rest = stream, b""

    def lines(self) -> list[str]:
        """Return the new lines since the last call."""
        *found, self._rest = (self._rest + self._stream.read()).split(b"\n")
        return [line.decode(errors="replace") for line in found]


def follow(job: Job, clock: Clock, on_line: Callable[[str], None], on_wait: Callable[[], None]) -> Ended:
    """Run a command to its end; `on_line` gets each line of its output, `on_wait` is called ten times a second.

    At the deadline a read-only command is stopped; any other continues in the background.
    """
    job.log.unlink(missing_ok=True)
    with _started(job) as (process, stop), job.log.open("rb") as stream:
        timed_out, give_up = False, job.deadline + (STOPPING if job.looks_only else 0.0)
        tail = Tail(stream)
        while True:
            # Check for the end before reading, so that the last lines are read too.
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
    """Start a command. Yield it and a function that detaches it from this controller, as leaving the block does."""
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
    """Return the process number of the command that last wrote to `log`, 0 if it does not run on this machine."""
    try:
        number = int(_record(log).read_text(encoding="utf-8"))
        os.kill(number, 0)
    except (OSError, ValueError):
        return 0
    return number


def was_killed(log: Path) -> bool:
    """Return whether a signal, or a restart of this machine, ended the command that last wrote to `log`."""
    try:
        told = _record(log).read_text(encoding="utf-8").split()
    except OSError:
        return False
    return told[:1] != ["ended"] or int(told[1]) > 128


def _record(log: Path) -> Path:
    """Return the file that holds a command's process number while it runs, and its exit code afterwards."""
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
        lines = [line.strip(" │╷╵") for line in done.stderr.splitlines()]
        first = next((line for line in lines if line.startswith("Error:")), f"it ended with code {done.returncode}")
        shown = " ".join([Path(argv[0]).name, *argv[1:3]])
        raise CommandError(f"{shown}: {first}", command=list(argv), rc=done.returncode, stderr=done.stderr[-4000:])
    return done.stdout
