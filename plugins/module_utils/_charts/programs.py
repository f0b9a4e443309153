# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Helm and git asked for a chart: what they answer, and what their complaints mean."""

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

# Seconds a source may take; a chart has a few kilobytes, the tree it stands in may have more.
PATIENCE = 300.0


class Answer(t.NamedTuple):
    """What a program wrote before it ended, and whether it ended well."""

    ok: bool
    stdout: str
    stderr: str

    @property
    def said(self) -> str:
        """All of it, for a complaint to be found in."""
        return f"{self.stderr}\n{self.stdout}"


class UnreachableSourceError(SourceError):
    """There is no answer, or none of use: what was fetched before may do."""


def ask(argv: Sequence[str | Path], *, patience: float = PATIENCE) -> Answer:
    """Run a program that asks nobody anything, in a language that can be recognised."""
    # Variables by which git tells its hooks where they are: this is another repository.
    variables = {key: value for key, value in environment().items() if key not in _GIT_PLACES}
    variables |= {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0"}
    variables.setdefault("GIT_SSH_COMMAND", "ssh -o BatchMode=yes")
    command = [str(part) for part in argv]
    try:
        # Without a terminal of its own, so that no password is asked for at it.
        done = capture([*_LIMITED, *command], env=variables, timeout=patience)
    except subprocess.TimeoutExpired:
        return Answer(False, "", f"no answer within {patience:g} s")
    if done.over:
        return Answer(False, "", f"Error: {Path(command[0]).name} writes more than {size(OUTPUT)}")
    if done.rc in (-signal.SIGXFSZ, 128 + signal.SIGXFSZ) or _TOO_LARGE.search(done.stderr):
        return Answer(False, "", f"Error: it is larger than {size(FETCHED)}")
    return Answer(done.rc == 0, done.stdout, done.stderr)


# A shell limits what the program may write to a file, in blocks of 512 bytes, and becomes the program.
_LIMITED = ("/bin/sh", "-c", f'ulimit -f {FETCHED // 512} && exec "$@"', "sh")
# What a program says that does not end by the signal for it: Go's, and git of its helper.
_TOO_LARGE = re.compile(r"file too large|File size limit|signal 25", re.IGNORECASE)


_GIT_PLACES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR", "GIT_PREFIX")

_DENIED = re.compile(
    r"\b(?:401|403)\b|unauthorized|forbidden|denied|authentication failed|authentication required"
    r"|credential not found|could not read (?:username|password)|host key verification failed",
    re.IGNORECASE,
)
_NO_HOST = re.compile(r"no such host|could not resolve host|name or service not known", re.IGNORECASE)
_AWAY = re.compile(
    r"connection refused|connection reset|connection timed out|i/o timeout|tls handshake|deadline exceeded|unreachable"
    r"|no route to host|unexpected eof|\bEOF\b|no answer within|failed to connect|couldn't connect|unable to connect"
    r"|the remote end hung up|early eof|empty reply|too many requests|\b429\b|\b50[0234]\b|operation timed out",
    re.IGNORECASE,
)
_EMPTY = re.compile(r"failed to update the following repositories|^level=|^Cloning into")
_TELLING = re.compile(r"Error: |fatal: |error: |ERROR: |remote: |Get |Head |failed to ")
# The address in front of what Go and curl say; the message has named the source already.
_PREAMBLE = re.compile(r'^(?:Error|fatal|error): |failed to perform "\w+" on source: |(?:Get|Head) "[^"]*": ')


def refused(reference: Reference, answer: Answer, *, key: str) -> SourceError:
    """Return what went wrong between us and a source, in one line."""
    said = without_login(answer.said)
    detail = complaint(said)
    if _DENIED.search(said):
        return SourceError(
            f"chart {reference}: its source wants another login ({detail}). "
            f"Check that you may read it, and {REMEDY[reference.kind]}.",
            key=key,
        )
    if _NO_HOST.search(said):
        host = urlsplit(reference.repo or reference.chart).hostname
        return UnreachableSourceError(f"chart {reference}: there is no host {host}. Check {key}.", key=key)
    if _AWAY.search(said):
        return UnreachableSourceError(f"chart {reference}: its source cannot be reached: {detail}.", key=key)
    return SourceError(f"chart {reference}: {detail}.", key=key)


def complaint(said: str) -> str:
    """Return the line that says most, without what every such line has in front."""
    lines = [line.strip() for line in said.splitlines() if line.strip() and not _EMPTY.search(line)]
    telling = [line for line in lines if _TELLING.match(line)]
    found = telling[0] if telling else lines[-1] if lines else "it failed without a word"
    while (shorter := _PREAMBLE.sub("", found)) != found:
        found = shorter
    return found.rstrip(".")
