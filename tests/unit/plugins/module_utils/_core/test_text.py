"""What a job may print, and what of it reaches a terminal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.mlops.eks.plugins.module_utils._core.text import (
    clipped,
    listed,
    plain,
    plain_document,
    shortened,
    shown,
)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("loss 0.5\tacc 0.9", "loss 0.5\tacc 0.9"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b[2J\x1b[10;10Hmoved", "moved"),
        ("\x1b]0;a title\x07text", "text"),
        ("\x1b]8;;https://example.com\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]52;c;bWFrZSBpdCBzbw==\x07copied", "copied"),
        ("\x1bPq a picture\x1b\\after", "after"),
        ("\x1bc\x1b(0\x1b7\x1b=reset", "reset"),
        ("\x9b31mC1\x9d0;title\x9c", "31mC10;title"),
        ("bell\x07 back\x08 nul\x00 del\x7f", "bell back nul del"),
        ("\u202eesrever\u2066", "esrever"),
        ("\ud800half", "half"),
        ("Ünïcode ≥ 0,95 🚀", "Ünïcode ≥ 0,95 🚀"),
        ("unfinished \x1b[3", "unfinished [3"),
    ],
)
def test_what_a_terminal_would_obey_is_taken_out(written: str, shown: str) -> None:
    assert plain(written) == shown


@given(st.text(alphabet=st.characters() | st.sampled_from("\x1b[]0;m\x07\\P\x9b")))
def test_nothing_a_terminal_obeys_is_left(text: str) -> None:
    found = plain(text)
    assert not [char for char in found if (ord(char) < 32 and char not in "\t\n") or 127 <= ord(char) < 160]
    assert plain(found) == found


def test_documents_keep_their_form() -> None:
    assert plain_document({"a\x1b[m": ["\x07b", 1, None, ("c\x00",)]}) == {"a": ["b", 1, None, ["c"]]}


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (b"1%\r2%\r3%\r", "3%"),
        (b"windows\r", "windows"),
        (b"y" * 30, "yyyyyyyyyy ... (clipped; the archive has it whole)"),
        (b"x" * 30 + b"\rdone", "done"),
        (b"\xff\xfe", "\ufffd\ufffd"),
    ],
)
def test_a_line_is_clipped_with_a_mark(line: bytes, shown: str) -> None:
    assert clipped(line, 10) == shown


def test_what_the_user_wrote_is_quoted_on_one_short_line() -> None:
    assert shown("a\nb") == "'a\\nb'"
    assert shown({"a": [1]}) == "{'a': [1]}"
    # A secret that is cut off is not recognised any more.
    assert shown("s" * 59) == "'" + "s" * 20 + "..."
    assert shown("x" * 100, 10) == "'xxxxxx..."


def test_shortened_text_has_a_mark_and_at_most_the_length() -> None:
    assert shortened("x" * 10, 10) == "x" * 10
    assert shortened("x" * 11, 10) == f"{'x' * 7}..."


def test_long_lists_are_counted() -> None:
    assert listed([]) == ""
    assert listed(["a", "b", "c"]) == "a, b, c"
    assert listed((name for name in "abcde"), 2, rest="older") == "a, b and 3 older"
