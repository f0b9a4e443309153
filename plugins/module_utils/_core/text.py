# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Text of unknown origin made fit for a terminal, for AWX and for a page."""

from __future__ import annotations

import re
import typing as t

# ECMA-48: control sequences (colours, cursor), control strings (title, clipboard, links) with what they carry, and
# the other escapes.
_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"
    r"|\x1b[]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-Z\\`-~]"
)
# What is left of control characters but tab and newline, marks that make a line read backwards, and lone surrogates,
# which UTF-8 cannot carry.
_UNPRINTABLE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\U000e0000-\U000e007f]"
)


def plain(text: str) -> str:
    """Return `text` without escape sequences and without control characters but tab and newline.

    Colours go with the rest: a line that is clipped, or interleaved with another, would leave them switched on.
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
    """Return what a terminal shows in the end of a line that rewrites itself by carriage returns: a progress bar."""
    return line.rstrip(b"\r").rpartition(b"\r")[2]


def clipped(line: bytes, width: int) -> str:
    """Return a log line as plain text of at most `width` bytes of it; a mark tells that there is more."""
    state = last_state(line)
    text = plain(state[:width].decode(errors="replace"))
    # How much more is not known while the line is still being written.
    return f"{text} ... (clipped; the archive has it whole)" if len(state) > width else text


def shown(value: t.Any, width: int = 60) -> str:
    """Return a value of the user's as a message quotes it: on one line, and no longer than `width`.

    Of a longer text only the beginning: it may be a secret, which is not recognised any more once it is cut off.
    """
    text = repr(value[: width + 1] if isinstance(value, (str, bytes)) else value)
    if len(text) <= width:
        return text
    return f"{text[: min(width, 24) - 3 if isinstance(value, str) else width - 3]}..."
