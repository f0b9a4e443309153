# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Run programs: with the output at the end, or line by line with a heartbeat."""

from __future__ import annotations

import queue
import shutil
import subprocess
import threading
import time
import typing as t
from collections.abc import Callable, Container, Mapping, Sequence
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import CommandError, MissingToolError

Say = Callable[[str], None]
Argv = Sequence[str | Path]

# On Debian iptables, runc's helpers and the CNI plug-ins are not on an ordinary user's PATH.
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def run(
    argv: Argv,
    *,
    stdin: str | None = None,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    good: Container[int] = (0,),
) -> str:
    """Run `argv` to its end and return its standard output.

    Raises:
        MissingToolError: the program is not installed.
        CommandError: its exit code is not in `good`; has `command`, `rc`, `stderr`.
    """
    words = [str(word) for word in argv]
    try:
        done = subprocess.run(words, input=stdin, env=env, cwd=cwd, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise MissingToolError(f"Cannot run {words[0]!r}: it is not installed") from error
    if done.returncode not in good:
        raise failure(words, done.returncode, done.stderr or done.stdout)
    return done.stdout


def failure(words: Sequence[str], rc: int, text: str) -> CommandError:
    """Return the error of a program that ended with `rc`; the message ends with the last line it wrote."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    last = lines[-1] if lines else "it wrote nothing"
    shown = " ".join(words[:4]) + (" ..." if len(words) > 4 else "")
    return CommandError(
        f"Command {shown!r} failed with code {rc}: {last}", command=list(words), rc=rc, stderr=text[-4000:]
    )


def stream(
    argv: Argv,
    *,
    on_line: Callable[[str], None],
    on_silence: Callable[[float], None],
    heartbeat: float = 5.0,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> None:
    """Run `argv`, passing each line of its output to `on_line`.

    `on_silence` gets the seconds since the start, every `heartbeat` seconds, with or without output.

    Raises:
        MissingToolError: the program is not installed.
        CommandError: its exit code is not 0; the last lines are in `stderr`.
    """
    words = [str(word) for word in argv]
    start = beat = time.monotonic()
    tail: list[str] = []
    with _started(words, env, cwd) as process:
        lines = _pump(t.cast("t.IO[str]", process.stdout))
        try:
            while (line := _next(lines, heartbeat)) is not None:
                if line:
                    tail = [*tail[-39:], line]
                    on_line(line)
                if time.monotonic() - beat >= heartbeat:
                    beat = time.monotonic()
                    on_silence(beat - start)
        except BaseException:
            process.terminate()
            raise
    if process.returncode != 0:
        raise failure(words, process.returncode, "\n".join(tail))


def _started(words: list[str], env: Mapping[str, str] | None, cwd: Path | None) -> subprocess.Popen[str]:
    try:
        return subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=env,
            cwd=cwd,
            text=True,
            errors="replace",
        )
    except FileNotFoundError as error:
        raise MissingToolError(f"Cannot run {words[0]!r}: it is not installed") from error


def _pump(source: t.IO[str]) -> queue.Queue[str | None]:
    lines: queue.Queue[str | None] = queue.Queue()

    def read() -> None:
        for line in source:
            lines.put(line.rstrip("\n"))
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    return lines


def _next(lines: queue.Queue[str | None], timeout: float) -> str | None:
    """Return the next line, an empty text after `timeout`, `None` at the end."""
    try:
        return lines.get(timeout=timeout)
    except queue.Empty:
        return ""


def which(program: str) -> Path | None:
    """Return the path of `program`; the search includes the system's administration directories."""
    found = shutil.which(program) or shutil.which(program, path=SYSTEM_PATH)
    return Path(found) if found else None
