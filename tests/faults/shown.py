# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""What a play has shown its user about a fault: recorded, with what differs from run to run replaced by a word."""

from __future__ import annotations

import re

# A line of the engine itself: `cluster | run | text`; a line of a log has the pod or its role before its text.
_OWN = re.compile(r"^\S+ \| \S+ \| (?!\S+ \| )(.+)$", re.MULTILINE)
_VARIES: tuple[tuple[str, str], ...] = (
    (r"\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME"),
    (r"\d{8}T\d{6}-[\w-]+-[0-9a-f]{4}\b", "RUN"),
    (r"\bt-[0-9a-f]{8}\b", "NAMESPACE"),
    (r"(?<![\w/])/(?!N/)[\w./~-]{12,}", "PATH"),
    (r"\b(data-process-\w+|[\w-]+-launcher)-[a-z0-9]{5}\b", r"\1-x"),
    (r"\bfaults-\d+-(\d)\b", r"node-\1"),
    (r"\S+ \(process \d+\)", "HOST (process N)"),
    (r"(?<=stopped from )\S+(?= at)|(?<=stopped from )[\w-]+", "HOST"),
    (r"https?://[\w.:-]+", "SERVER"),
    (r"\b\d+(\.\d+)? (s|min|h)( \d+ (s|min))?\b", "N s"),
    (r"\b1[0-9]{9}\.\d+\b", "TIME"),
)
_LONGEST = 240


def plain(line: str) -> str:
    """Return a line without what differs from run to run, and not longer than a cell of a table can bear."""
    for pattern, word in _VARIES:
        line = re.sub(pattern, word, line)
    line = line.replace("|", "/").replace("`", "'").strip()
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"


def lines(text: str, pattern: str) -> tuple[str, ...]:
    """Return the engine's own lines in which `pattern` is found, each once, in the order in which they came."""
    found = (plain(line) for line in _OWN.findall(text) if re.search(pattern, line))
    return tuple(dict.fromkeys(found))


# Words of every line that tells of trouble with the cluster.
TROUBLE = r"in spite of|does not answer|answers again|trying again|refuse|forbidden|lost|gone|cannot|spoke"
