# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Make text of unknown origin safe for a terminal, AWX and a web page."""

from __future__ import annotations

import re
import typing as t
from collections.abc import Iterable

# ECMA-48: control sequences (colours, cursor), control strings with their content (title, clipboard, links), other
# escape sequences.
_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"
    r"|\x1b[]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-Z\\`-~]"
)
# Other control characters except tab and newline, marks of text direction, and lone surrogates, which UTF-8 does not
# have.
_UNPRINTABLE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\U000e0000-\U000e007f]"
)


def plain(text: str) -> str:
    """Return `text` without escape sequences, and without control characters except tab and newline.

    Colours are removed as well: a clipped or interleaved line would leave them switched on.
    """
    return text if text.isprintable() else _UNPRINTABLE.sub("", _ESCAPES.sub("", text))


def plain_document(value: t.Any) -> t.Any:
    """Return plain data with every string in it, keys included, as plain text."""
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, dict):
        return {plain_document(key): plain_document(entry) for key, entry in value.items()}
    return [plain_document(entry) for entry in value] if isinstance(value, (list, tuple)) else value


def last_state(line: bytes) -> bytes:
    """Return what a terminal finally shows of a line with carriage returns, such as a progress bar."""
    return line.rstrip(b"\r").rpartition(b"\r")[2]


def clipped(line: bytes, width: int) -> str:
    """Return at most `width` bytes of a log line as plain text, with a mark if it is clipped."""
    state = last_state(line)
    text = plain(state[:width].decode(errors="replace"))
    # The length of the rest is unknown while the line is being written.
    return f"{text} ... (clipped; the archive has it whole)" if len(state) > width else text


def shortened(text: str, length: int) -> str:
    """Return at most `length` characters of `text`, with a mark if it is shortened."""
    return text if len(text) <= length else f"{text[: length - 3]}..."


def listed(names: Iterable[str], most: int = 3, *, rest: str = "more") -> str:
    """Return the first `most` names and how many others there are, such as `a, b, c and 2 more`."""
    found = list(names)
    others = f" and {len(found) - most} {rest}" if len(found) > most else ""
    return f"{', '.join(found[:most])}{others}"


def shown(value: t.Any, width: int = 60) -> str:
    """Return a value of the user for a message: on one line, at most `width` characters.

    Only a short beginning of a longer text is shown: it may be a secret, which the mask does not find once it is cut.
    """
    text = repr(value[: width + 1] if isinstance(value, (str, bytes)) else value)
    if len(text) <= width:
        return text
    return f"{text[: min(width, 24) - 3 if isinstance(value, str) else width - 3]}..."
