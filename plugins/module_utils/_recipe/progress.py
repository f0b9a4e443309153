# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The pattern that finds in a program's log how far it is."""

from __future__ import annotations

import functools
import re
import signal
import subprocess
import sys

from ansible_collections.mlops.eks.plugins.module_utils._core.bounds import PATTERN, PATTERN_SECONDS
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError

_EXAMPLE = r"progress: 'step (?P<done>\d+)/(?P<total>\d+)'"


# Lines like those that a pattern almost fits, as long as lines are that are searched; and all that is tried on them.
_TRIAL = """
import re, resource, string, sys
resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[2]), int(sys.argv[2])))
pattern = re.compile(sys.argv[1])
chars = sorted({c for c in sys.argv[1] if c in string.printable} | set("a0 .,/="))[:24]
for line in [c * 2000 + "\\x00" for c in chars] + [(c + d) * 100 + "\\x00" for c in chars for d in chars if c != d]:
    for found in pattern.finditer(line):
        pass
"""
# With fewer repetitions a line costs little, whatever is in it.
_REPETITION = re.compile(r"[*+]|\{\d*,\d*\}")


@functools.cache
def progress_pattern(text: str) -> re.Pattern[str]:
    """Return the compiled pattern. Its group `done`, and `total` if it has one, are numbers.

    Raises:
        InvalidInputError: it is no regular expression, has no group `done`, or takes for ever where it does not fit.
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
    # Python's search cannot be interrupted, and every line of the leader's log is searched.
    if len(_REPETITION.findall(text)) > 1 and not _is_quick(text):
        raise InvalidInputError(
            f"progress: '{text}' takes more than {PATTERN_SECONDS} s for lines that it does not fit. Avoid repetitions "
            f"of repetitions such as (a+)+, and several of '.*'. Example: {_EXAMPLE}."
        )
    return pattern


def _is_quick(text: str) -> bool:
    """Return whether the pattern looks through bad lines in time, as a process of its own finds out."""
    command = [sys.executable, "-I", "-S", "-c", _TRIAL, text, str(PATTERN_SECONDS)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    # Only the limit ends it by a signal; where it cannot be tried at all, nothing is known against the pattern.
    return done.returncode not in (-signal.SIGXCPU, -signal.SIGKILL)
