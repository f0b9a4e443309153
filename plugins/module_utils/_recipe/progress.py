# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The pattern that finds the progress of a program in its log."""

from __future__ import annotations

import functools
import re
import signal
import subprocess
import sys

from ansible_collections.mlops.eks.plugins.module_utils._core.bounds import PATTERN, PATTERN_SECONDS
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError

_EXAMPLE = r"progress: 'step (?P<done>\d+)/(?P<total>\d+)'"


# A program that searches long lines which almost match the pattern, with a limit of CPU time.
_TRIAL = """
import re, resource, string, sys
resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[2]), int(sys.argv[2])))
pattern = re.compile(sys.argv[1])
chars = sorted({c for c in sys.argv[1] if c in string.printable} | set("a0 .,/="))[:24]
for line in [c * 2000 + "\\x00" for c in chars] + [(c + d) * 100 + "\\x00" for c in chars for d in chars if c != d]:
    for found in pattern.finditer(line):
        pass
"""
# A pattern with at most one repetition is fast on any line.
_REPETITION = re.compile(r"[*+]|\{\d*,\d*\}")


@functools.cache
def progress_pattern(text: str) -> re.Pattern[str]:
    """Return the compiled pattern, with a group `done` and perhaps a group `total`.

    Raises:
        InvalidInputError: it is not a regular expression, has no group `done`, or is too slow on lines without a match.
    """
    if len(text) > PATTERN:
        raise InvalidInputError(f"progress: the pattern has {len(text)} characters; at most {PATTERN} are allowed.")
    try:
        pattern = re.compile(text)
    except re.error as error:
        raise InvalidInputError(
            f"progress: '{text}' is not a regular expression: {error}. Example: {_EXAMPLE}."
        ) from error
    if "done" not in pattern.groupindex:
        raise InvalidInputError(f"progress: '{text}' has no group (?P<done>…). Example: {_EXAMPLE}.")
    # A search in Python cannot be interrupted, and the engine searches every line of the leader's log.
    if len(_REPETITION.findall(text)) > 1 and not _is_quick(text):
        raise InvalidInputError(
            f"progress: '{text}' takes more than {PATTERN_SECONDS} s for lines without a match. Avoid nested "
            f"repetitions such as (a+)+, and more than one '.*'. Example: {_EXAMPLE}."
        )
    return pattern


def _is_quick(text: str) -> bool:
    """Return whether the pattern is fast enough; tried in a process of its own."""
    command = [sys.executable, "-I", "-S", "-c", _TRIAL, text, str(PATTERN_SECONDS)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    # Only the limit ends the process by a signal. A trial that fails for another reason accepts the pattern.
    return done.returncode not in (-signal.SIGXCPU, -signal.SIGKILL)
