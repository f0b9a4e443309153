# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Secrets taken out of whatever is printed or kept, whole or in pieces."""

from __future__ import annotations

import base64
import re
import threading
import typing as t
from collections.abc import Iterable, Iterator

_T = t.TypeVar("_T")

MASKED = b"********"
# Of a value that is a file, a key or a chain of certificates, this many lines are looked for.
_LINES = 100
# Shorter lines of such a file are words that other texts have too.
_LINE = 16
# So are shorter pieces of base64. `base64` breaks its lines after so many characters.
_PIECE, _COLUMNS = 7, 76


class Mask:
    """The secrets known so far. More may be registered while others read; each reader sees all or none of them.

    A secret is found as it is and in base64, also of a text that it is a part of, but for a few bits at its edges; of
    one that has several lines, each line by itself.
    """

    def __init__(self, secrets: Iterable[str | bytes] = ()) -> None:
        self._lock = threading.Lock()
        self._known: frozenset[bytes] = frozenset()
        self._state: tuple[tuple[bytes, ...], re.Pattern[bytes] | None, int] = ((), None, 0)
        self.add(secrets)

    def add(self, secrets: Iterable[str | bytes]) -> None:
        """Register secrets; empty ones are none."""
        found = frozenset(form for secret in secrets for form in _forms(_bytes(secret)))
        with self._lock:
            if found <= self._known:
                return
            self._known |= found
            # Of two that begin at one place the longer is taken out.
            forms = tuple(sorted(self._known, key=lambda form: (-len(form), form)))
            self._state = (forms, re.compile(b"|".join(map(re.escape, forms))), len(forms[0]))

    def data(self, block: bytes) -> bytes:
        """Return a block of whole lines without the secrets."""
        forms, pattern, _ = self._state
        # Looking for each is ten times as fast as the pattern, and hardly ever is one there.
        return pattern.sub(MASKED, block) if pattern and any(form in block for form in forms) else block

    def part(self, piece: bytes) -> tuple[bytes, bytes]:
        """Return the beginning of an unfinished line without the secrets, and the rest that may be half of one."""
        _, pattern, longest = self._state
        if pattern is None:
            return piece, b""
        safe, at, done = len(piece) - longest + 1, 0, []
        for match in pattern.finditer(piece):
            if match.start() >= safe:
                break
            done += [piece[at : match.start()], MASKED]
            at = match.end()
        safe = max(safe, at)
        return b"".join([*done, piece[at:safe]]), piece[safe:]

    def text(self, text: str) -> str:
        """Return a text without the secrets."""
        if self._state[1] is None:
            return text
        return self.data(text.encode(errors="surrogatepass")).decode(errors="surrogatepass")

    def is_clean(self, contents: Iterable[bytes]) -> bool:
        """Return whether there is no secret in any of these."""
        forms, _, _ = self._state
        return not forms or not any(form in content for content in contents for form in forms)

    def document(self, document: _T) -> _T:
        """Return plain data with the secrets taken out of every string in it, keys included."""
        return t.cast(_T, self._masked(document)) if self._state[1] else document

    def _masked(self, value: t.Any) -> t.Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self._masked(key): self._masked(entry) for key, entry in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._masked(entry) for entry in value]
        return value


def _bytes(secret: str | bytes) -> bytes:
    return secret.encode(errors="surrogatepass") if isinstance(secret, str) else secret


def _forms(secret: bytes) -> set[bytes]:
    """Return how a secret may stand in a log or a manifest; no form has a line break, as a log is read by lines."""
    lines = [line.strip() for line in secret.strip().splitlines()]
    if len(lines) <= 1:
        return {*lines, *_in_base64(secret)} - {b""}
    telling = [line for line in lines[:_LINES] if len(line) >= _LINE and not line.startswith(b"-----")]
    return {*telling, *_in_base64(secret)}


def _in_base64(secret: bytes) -> Iterator[bytes]:
    """Yield a secret in base64, and what of that stays the same whatever stands before and after the secret."""
    whole = base64.b64encode(secret)
    yield whole
    for before in range(3):
        coded = base64.b64encode(bytes(before) + secret)
        piece = coded[-(-8 * before // 6) : 8 * (before + len(secret)) // 6]
        if len(piece) >= _PIECE:
            yield piece
    for start in range(0, min(len(secret) * 8 // 6, _LINES * _COLUMNS) - _LINE, _COLUMNS):
        yield whole[start : start + _COLUMNS].rstrip(b"=")
