# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Suggest the known word that the user probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

# No known word is longer, and comparing long words is slow.
_LONGEST = 100


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word most similar to `word`; `None` if none is similar."""
    if len(word) > _LONGEST:
        return None
    found = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return found[0] if found else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ` Did you mean 'x'?` or, if no word is similar, ` Known: a, b, c.`, to append to a sentence."""
    words = sorted(known)
    guess = nearest(word, words)
    if guess is not None:
        return f" Did you mean {guess!r}?"
    return f" Known: {', '.join(words)}." if words else ""
