# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

r"""Encodings in which programs print a secret: quoted, escaped and encoded.

| form | used by |
|---|---|
| backslashes: `\"`, `\/`, `\x40`, `\u0040`, `\100` | JSON, YAML, Go's %q, Python's repr, a shell; JSON in JSON |
| `%40`, `%2540`, `+` for a blank | user and query of a URL |
| `''`, `""`, `'"'"'`, `'\''` | YAML, CSV, a shell |
| `&amp;`, `&#64;`, `&#x40;` | HTML, XML |
| base64 of a longer text, standard or for URLs | headers, Secrets, tokens |
| hexadecimal digits | dumps |

No encoding changes letters, digits, `-`, `_` and `.`. So each form has an anchor, text that it always contains: only
text that contains the anchor must be searched for the form.
"""

from __future__ import annotations

import base64
import html
import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from urllib.parse import quote, quote_plus

# A longer secret is searched for in pieces of this many bytes, so that most of a truncated secret is found.
PIECE = 128
# Pieces of one secret that are searched for.
_MOST = 1000
# Shorter pieces of base64 also occur in other text. `base64` breaks lines after 76 characters, PEM after 64.
_BASE64, _COLUMNS, _LAST_LINE = 7, (76, 64), 16
# Two or three bytes in hexadecimal digits are indistinguishable from numbers.
_HEXADECIMAL = 3
# Longer anchors are not needed.
_ANCHOR = 64
_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.")
# A backslash, as it is or in a URL.
_BACKSLASH = rb"(?:\\|%(?:25){0,2}5[cC])"
# Backslashes of text that was quoted three times.
_QUOTED = 7
# Most bytes of an encoded byte: its backslashes, those before its number, and the longest number.
_WIDEST = 2 * 7 * _QUOTED + 36


@dataclass(frozen=True)
class Form:
    """An encoding of a secret: bytes that it always contains, a regular expression, and its maximal length."""

    anchor: bytes
    pattern: bytes
    longest: int

    @cached_property
    def regex(self) -> re.Pattern[bytes]:
        """The compiled expression; compiled when the anchor is first found."""
        return re.compile(self.pattern)


def forms(secret: bytes) -> Iterator[Form]:
    """Yield the forms of a secret of one line. None contains a line break, as logs are read by line."""
    for piece in _pieces(secret):
        yield _escaped(piece)
        if len(piece) > _HEXADECIMAL:
            yield from map(_literal, {piece.hex().encode(), piece.hex().upper().encode()})
        # Base64 of text that is encoded itself: a URL in a header, JSON in a Secret.
        for written in {piece, *_written(piece)}:
            yield from _in_base64(written)


def in_base64(content: bytes) -> Iterator[Form]:
    """Yield the forms of a secret of several lines in base64."""
    for piece in _pieces(content):
        yield from _in_base64(piece)


def wrapped(content: bytes) -> Iterator[Form]:
    """Yield the lines of a long secret in wrapped base64."""
    whole = base64.b64encode(content)
    for columns in _COLUMNS:
        if len(whole) > columns:
            lines = (whole[at : at + columns] for at in range(0, min(len(whole), _MOST * columns), columns))
            yield from (_encoded(line.rstrip(b"="), b"") for line in lines if len(line) > _LAST_LINE)


def _pieces(secret: bytes) -> list[bytes]:
    """Return the secret in pieces of about equal length, cut between characters."""
    text = secret.decode(errors="surrogateescape")
    count = -(-len(text) // PIECE)
    cuts = [at * len(text) // count for at in range(count)] + [len(text)] if count else []
    pieces = (text[start:end].encode(errors="surrogateescape") for start, end in itertools.pairwise(cuts))
    return list(itertools.islice(pieces, _MOST))


def _escaped(secret: bytes) -> Form:
    text = secret.decode(errors="surrogateescape")
    found = [_repeated(char, len(list(group))) for char, group in itertools.groupby(text)]
    return Form(_anchor(secret), b"".join(pattern for pattern, _ in found), sum(longest for _, longest in found))


def _anchor(secret: bytes) -> bytes:
    """Return the longest part that no encoding changes."""
    runs = (bytes(group) for plain, group in itertools.groupby(secret, _PLAIN.__contains__) if plain)
    return max(runs, key=len, default=b"")[:_ANCHOR]


def _repeated(char: str, count: int) -> tuple[bytes, int]:
    """Return the expression for a character repeated `count` times, and its maximal length."""
    if char.isascii() and ord(char) in _PLAIN:
        return re.escape(char * count).encode(), count
    # One group with a repetition: separate groups would backtrack over all ways to split a run.
    most = {"\\": 8 * count, "'": 2 * count, '"': 2 * count}.get(char, count)
    # Match few quotes: the last quote of a run probably encloses the secret.
    few = b"?" if char in "'\"" else b""
    times = b"" if most == 1 else b"{%d,%d}%b" % (count, most, few)
    return b"(?:%b)%b" % (_ways(char), times), _WIDEST * most * len(char.encode(errors="surrogateescape"))


@lru_cache(maxsize=1024)
def _ways(char: str) -> bytes:
    """Return the encodings of one character that encodings change."""
    raw, code = char.encode(errors="surrogateescape"), ord(char)
    percent = b"".join(b"%%(?:25){0,2}%b" % _hex(f"{byte:02x}") for byte in raw)
    if char == "\\":
        return b"|".join((rb"\\", percent, b"(?:u00|x)5[cC]", b"134", _entity(code, "bsol")))
    named = {"&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos", " ": "nbsp"}.get(char, "")
    inner = [re.escape(raw), percent, _entity(code, named), *_numbered(char, raw)]
    inner += [letter for control, letter in ((9, b"t"), (13, b"r"), (27, b"e")) if code == control]
    ways = [b"%b{0,%d}(?:%b)" % (_BACKSLASH, _QUOTED, b"|".join(inner))]
    quoting = {" ": [rb"\+"], "'": [b"'\"'\"'", rb"'\\''"]}.get(char, [])
    return b"|".join([*quoting, *ways])


def _numbered(char: str, raw: bytes) -> Iterator[bytes]:
    """Yield numeric escapes of a character, without the first backslash."""
    units = char.encode("utf-16-be", errors="surrogatepass")
    pairs = [units[at : at + 2].hex() for at in range(0, len(units), 2)]
    behind = b"%b{1,%d}" % (_BACKSLASH, _QUOTED)
    yield behind.join(b"u%b" % _hex(pair) for pair in pairs)
    yield b"U0{0,4}%b" % _hex(f"{ord(char):04x}")
    yield behind.join(b"x%b" % _hex(f"{byte:02x}") for byte in raw)
    yield behind.join(b"%03o" % byte for byte in raw)
    if 0x7F < ord(char) <= 0xFF:
        yield b"x%b" % _hex(f"{ord(char):02x}")


def _entity(code: int, name: str) -> bytes:
    named = b"|%b" % name.encode() if name else b""
    return b"&(?:amp;){0,2}(?:#0{0,6}%d|#[xX]0{0,6}%b%b);" % (code, _hex(f"{code:x}"), named)


def _hex(digits: str) -> bytes:
    return "".join(f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in digits).encode()


def _literal(text: bytes) -> Form:
    return Form(text[:_ANCHOR], re.escape(text), len(text))


def _written(secret: bytes) -> Iterator[bytes]:
    """Yield a text percent-encoded, HTML-escaped and JSON-escaped."""
    text = secret.decode(errors="surrogateescape")
    yield quote(secret, safe="").encode()
    yield quote_plus(secret).encode()
    yield html.escape(text).encode(errors="surrogateescape")
    for ascii_only in (True, False):
        yield json.dumps(text, ensure_ascii=ascii_only)[1:-1].encode(errors="surrogateescape")


def _in_base64(secret: bytes) -> Iterator[Form]:
    """Yield the part of a secret in base64 that is independent of the text before and after it."""
    for before in range(3):
        coded = base64.b64encode(bytes(before) + secret)
        start, end = -(-8 * before // 6), 8 * (before + len(secret)) // 6
        if end - start >= _BASE64:
            # The last character is fixed only if the secret ends the text; else it shares bits with the next byte.
            yield _encoded(coded[start:end], coded[end:])


def _encoded(text: bytes, last: bytes) -> Form:
    """Return the form for base64, in both alphabets and escaped."""
    pattern = b"".join(map(_base64_character, text.decode()))
    if last:
        closing = b"".join(map(_base64_character, last.decode().rstrip("=")))
        pattern += b"(?:%b(?:%b){0,2})?" % (closing, _ways("=")) if closing else b"(?:%b){0,2}" % _ways("=")
    runs = re.findall(rb"[A-Za-z0-9]+", text)
    return Form(max(runs, key=len, default=b"")[:_ANCHOR], pattern, _base64_longest(text) + 3 * _WIDEST)


@lru_cache(maxsize=128)
def _base64_character(char: str) -> bytes:
    other = {"+": b"-", "/": b"_"}.get(char)
    return b"(?:%b|%b)" % (_ways(char), other) if other else char.encode()


def _base64_longest(text: bytes) -> int:
    special = text.count(b"+") + text.count(b"/")
    return len(text) + special * _WIDEST
