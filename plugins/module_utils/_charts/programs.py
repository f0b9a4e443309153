# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Run Helm and git to fetch a chart, and explain their errors."""

from __future__ import annotations

import re
import signal
import subprocess
import typing as t
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from ansible_collections.mlops.eks.plugins.module_utils._charts.reference import REMEDY, Reference, without_login
from ansible_collections.mlops.eks.plugins.module_utils._core.bounds import FETCHED, OUTPUT, capture, size
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import SourceError
from ansible_collections.mlops.eks.plugins.module_utils._helm.cli import environment

# Seconds that a program may take. A chart has a few kilobytes, a git repository has more.
TIMEOUT = 300.0


class Answer(t.NamedTuple):
    """Output of a program, and whether it succeeded."""

    ok: bool
    stdout: str
    stderr: str

    @property
    def output(self) -> str:
        """Both outputs, errors first."""
        return f"{self.stderr}\n{self.stdout}"


class UnreachableSourceError(SourceError):
    """The source cannot be reached; a cached copy may be used."""


def ask(argv: Sequence[str | Path], *, timeout: float = TIMEOUT) -> Answer:
    """Run a program without prompts and with English messages."""
    # Variables that git sets for its hooks would select another repository.
    variables = {key: value for key, value in environment().items() if key not in _GIT_VARIABLES}
    variables |= {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0"}
    variables.setdefault("GIT_SSH_COMMAND", "ssh -o BatchMode=yes")
    command = [str(part) for part in argv]
    try:
        # `capture` starts a new session without a terminal, so that no program can prompt for a password.
        done = capture([*_LIMITED, *command], env=variables, timeout=timeout)
    except subprocess.TimeoutExpired:
        return Answer(False, "", f"no answer within {timeout:g} s")
    if done.over:
        return Answer(False, "", f"Error: {Path(command[0]).name} writes more than {size(OUTPUT)}")
    if done.rc in (-signal.SIGXFSZ, 128 + signal.SIGXFSZ) or _TOO_LARGE.search(done.stderr):
        return Answer(False, "", f"Error: it is larger than {size(FETCHED)}")
    return Answer(done.rc == 0, done.stdout, done.stderr)


# A shell limits the size of files, in blocks of 512 bytes, and executes the program.
_LIMITED = ("/bin/sh", "-c", f'ulimit -f {FETCHED // 512} && exec "$@"', "sh")
# Messages of Go programs, and of git about its helper, when a file exceeds the limit.
_TOO_LARGE = re.compile(r"file too large|File size limit|signal 25", re.IGNORECASE)


_GIT_VARIABLES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR", "GIT_PREFIX")

_DENIED = re.compile(
    r"\b(?:401|403)\b|unauthorized|forbidden|denied|authentication failed|authentication required"
    r"|credential not found|could not read (?:username|password)|host key verification failed",
    re.IGNORECASE,
)
_NO_HOST = re.compile(r"no such host|could not resolve host|name or service not known", re.IGNORECASE)
_UNREACHABLE = re.compile(
    r"connection refused|connection reset|connection timed out|i/o timeout|tls handshake|deadline exceeded|unreachable"
    r"|no route to host|unexpected eof|\bEOF\b|no answer within|failed to connect|couldn't connect|unable to connect"
    r"|the remote end hung up|early eof|empty reply|too many requests|\b429\b|\b50[0234]\b|operation timed out",
    re.IGNORECASE,
)
_NOISE = re.compile(r"failed to update the following repositories|^level=|^Cloning into")
_ERROR_LINE = re.compile(r"Error: |fatal: |error: |ERROR: |remote: |Get |Head |failed to ")
# Prefixes of the messages of Go and curl. Our message names the source already.
_PREAMBLE = re.compile(r'^(?:Error|fatal|error): |failed to perform "\w+" on source: |(?:Get|Head) "[^"]*": ')


def refused(reference: Reference, answer: Answer, *, key: str) -> SourceError:
    """Return an error of one line that explains why a source refused."""
    output = without_login(answer.output)
    detail = complaint(output)
    if _DENIED.search(output):
        return SourceError(
            f"chart {reference}: its source refuses the login ({detail}). "
            f"Check that you may read it, and {REMEDY[reference.kind]}.",
            key=key,
        )
    if _NO_HOST.search(output):
        host = urlsplit(reference.repo or reference.chart).hostname
        return UnreachableSourceError(f"chart {reference}: there is no host {host}. Check {key}.", key=key)
    if _UNREACHABLE.search(output):
        return UnreachableSourceError(f"chart {reference}: its source cannot be reached: {detail}.", key=key)
    return SourceError(f"chart {reference}: {detail}.", key=key)


def complaint(output: str) -> str:
    """Return the most informative line without its prefixes."""
    lines = [line.strip() for line in output.splitlines() if line.strip() and not _NOISE.search(line)]
    telling = [line for line in lines if _ERROR_LINE.match(line)]
    found = telling[0] if telling else lines[-1] if lines else "it failed without a message"
    while (shorter := _PREAMBLE.sub("", found)) != found:
        found = shorter
    return found.rstrip(".")
