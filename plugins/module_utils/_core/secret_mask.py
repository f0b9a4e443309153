# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Replace secrets in all that is printed or written, whole or in pieces. See `secret_encodings` for the encodings."""

from __future__ import annotations

import json
import re
import sys
import threading
import typing as t
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote_to_bytes

from ansible_collections.mlops.eks.plugins.module_utils._core.secret_encodings import Form, forms, in_base64, wrapped

_T = t.TypeVar("_T")

MASKED = b"********"
# Lines of a secret of several lines, such as a key or a certificate chain, that are searched for.
_LINES = 1000
# A shorter line of such a secret also occurs in other text, unless it looks like a password.
_LINE, _PASSWORD = 16, re.compile(rb"(?=.*\d)(?=.*[A-Za-z])\S{8,}(?<!:)")
# Text is compared in aligned words of 8 or 4 bytes. An anchor of `2 * width - 1` bytes contains a whole aligned word at
# any offset.
_WORDS: t.Final[Mapping[int, t.Literal["Q", "I"]]] = {8: "Q", 4: "I"}
# Bytes of an unfinished line that are held back while one secret directly follows another.
_HELD = 1 << 20

# The login in a URL; a value that is a secret by its name in JSON, YAML, INI, environment variables or netrc.
_LOGIN = re.compile(rb"\w://([^/?#\s\"'<>]{1,4096})@")
_SETTING = re.compile(
    rb"(?i)(?:passw|passphrase|pwd|token|secret|credential|api_?key|private_?key|access_?key(?!_?id))[\w.-]{0,64}[\"']?"
    rb"[ \t]{0,8}[:= \t][ \t]{0,8}"
    rb"(?:\"((?:[^\"\\]|\\.){6,4096})\"|'([^'\n]{6,4096})'|([^\s\"',;{}\[\]|>&][^\s',;{}\[\]|>&]{5,4096}))"
)
_INNER = 6


@dataclass(frozen=True)
class _Index:
    """All forms to search for: by the words in their anchor, and those whose anchor is too short for a word."""

    by_word: Mapping[int, Mapping[int, tuple[Form, ...]]] = field(default_factory=dict)
    short: tuple[Form, ...] = ()
    longest: int = 0

    def __bool__(self) -> bool:
        return self.longest > 0

    def with_forms(self, found: Iterable[Form]) -> _Index:
        """Return an index with these forms added."""
        by_word = {width: dict(self.by_word.get(width, {})) for width in _WORDS}
        short, longest = list(self.short), self.longest
        for form in found:
            longest = max(longest, form.longest)
            width = next((width for width in _WORDS if len(form.anchor) >= 2 * width - 1), 0)
            if not width:
                short.append(form)
            for at in range(width):
                word = int.from_bytes(form.anchor[at : at + width], sys.byteorder)
                by_word[width][word] = (*by_word[width].get(word, ()), form)
        return _Index({width: words for width, words in by_word.items() if words}, tuple(short), longest)

    def present(self, text: bytes) -> Iterator[Form]:
        """Yield the forms whose anchor is in a text. The time hardly depends on the number of secrets."""
        found = set(self.short)
        for width, forms_of in self.by_word.items():
            words = memoryview(text)[: len(text) // width * width].cast(_WORDS[width])
            if not forms_of.keys().isdisjoint(words):
                found.update(form for word in forms_of.keys() & set(words) for form in forms_of[word])
        return (form for form in found if form.anchor in text)

    def spans(self, text: bytes) -> list[tuple[int, int]]:
        """Return start and end of the secrets in a text, sorted; they may overlap."""
        return sorted(match.span() for form in self.present(text) for match in form.regex.finditer(text))


class Mask:
    """Replaces every known secret by `********`. Thread-safe: secrets may be added while others are being masked.

    A secret is found in every encoding of `secret_encodings`; a secret of several lines is also found line by line.
    The password in a URL within a secret, and a value that a settings file names as a secret, are masked as well.
    """

    def __init__(self, secrets: Iterable[str | bytes] = ()) -> None:
        self._lock = threading.Lock()
        self._known: set[bytes] = set()
        self._forms: set[bytes] = set()
        self._index = _Index()
        self.add(secrets)

    def add(self, secrets: Iterable[str | bytes]) -> None:
        """Add secrets; empty ones are ignored."""
        wanted = {_bytes(secret) for secret in secrets}
        with self._lock:
            fresh = [form for secret in wanted - self._known for form in _forms(secret)]
            self._known |= wanted
            new = {form.pattern: form for form in fresh if form.pattern and form.pattern not in self._forms}
            self._forms |= set(new)
            if new:
                self._index = self._index.with_forms(new.values())

    def lines(self, block: bytes) -> bytes:
        """Return a block of whole lines with the secrets masked."""
        spans = self._index.spans(block) if self._index else []
        return _without(block, _merged(spans)) if spans else block

    def partial_line(self, piece: bytes) -> tuple[bytes, bytes]:
        """Return the masked beginning of an unfinished line, and the rest, which may end within a secret."""
        index = self._index
        # A secret that begins before this offset ends within the piece.
        safe = len(piece) - index.longest + 1
        if not index:
            return piece, b""
        if safe <= 0:
            return b"", piece
        spans = [span for span in index.spans(piece) if span[0] < safe]
        merged = _merged(spans)
        if not merged or merged[-1][1] < safe:
            return _without(piece[:safe], merged), piece[safe:]
        # The next bytes may extend the last secret.
        start, end = merged[-1]
        if len(piece) - start <= _HELD + index.longest:
            return _without(piece[:start], merged[:-1]), piece[start:]
        return _without(piece[:end], merged), piece[end:]

    def text(self, text: str) -> str:
        """Return a text with the secrets masked."""
        if not self._index:
            return text
        before = text.encode(errors="surrogatepass")
        after = self.lines(before)
        return text if after is before else after.decode(errors="surrogatepass")

    def is_clean(self, contents: Iterable[bytes]) -> bool:
        """Return whether none of the contents holds a secret."""
        index = self._index
        return not index or not any(index.spans(content) for content in contents)

    def document(self, document: _T) -> _T:
        """Return plain data with the secrets masked in every string, keys included."""
        return t.cast(_T, self._masked(document)) if self._index else document

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


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return sorted spans with adjacent and overlapping ones merged."""
    found: list[tuple[int, int]] = []
    for start, end in spans:
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def _without(text: bytes, spans: Iterable[tuple[int, int]]) -> bytes:
    done, at = [], 0
    for start, end in spans:
        done += [text[at:start], MASKED]
        at = end
    return b"".join([*done, text[at:]])


def _forms(secret: bytes) -> Iterator[Form]:
    """Yield the forms of a secret, and of the secrets within it."""
    for one in {secret, *_inside(secret)}:
        lines = [line.strip() for line in one.strip().splitlines()]
        yield from wrapped(one)
        if len(lines) > 1:
            yield from in_base64(one)
            lines = [line for line in lines[:_LINES] if _is_distinctive(line)]
        for line in lines:
            yield from forms(line)


def _is_distinctive(line: bytes) -> bool:
    """Return whether a line is unlikely to occur in unrelated text."""
    return not line.startswith(b"-----") and (len(line) >= _LINE or bool(_PASSWORD.fullmatch(line)))


def _inside(secret: bytes) -> Iterator[bytes]:
    """Yield the passwords in a secret that is a URL or a settings file."""
    for match in _LOGIN.finditer(secret):
        login = match[1].partition(b":")[2] or match[1]
        yield from (one for one in (login, unquote_to_bytes(login)) if len(one) >= _INNER)
    for match in _SETTING.finditer(secret):
        value = match[1] or match[2] or match[3].rstrip(b'"')
        yield value
        if match[1] and b"\\" in value:
            try:
                yield _bytes(json.loads(b'"%b"' % value))
            except ValueError:
                continue
