# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Name the thing the user probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

# No known word is that long, and comparing takes long then.
_LONGEST = 100


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word most like `word`, or `None` when nothing is close."""
    if len(word) > _LONGEST:
        return None
    found = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return found[0] if found else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ` Did you mean 'x'?` or, when nothing is close, ` Known: a, b, c.`, ready to be appended to a sentence."""
    words = sorted(known)
    guess = nearest(word, words)
    if guess is not None:
        return f" Did you mean {guess!r}?"
    return f" Known: {', '.join(words)}." if words else ""
