"""Secrets taken out, however they are cut."""

from __future__ import annotations

import base64

from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.mlops.eks.plugins.module_utils._core.secret_mask import MASKED, Mask

KEY = b"-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG\n9w0BAQEFAASCBKcwggSj\nAgEA\n-----END KEY-----\n"


def test_a_secret_is_found_as_it_is_and_in_base64() -> None:
    mask = Mask(["s3cr3t-token", b"", ""])
    assert mask.lines(b"token=s3cr3t-token;") == b"token=********;"
    assert mask.text("data: " + base64.b64encode(b"s3cr3t-token").decode()) == "data: ********"
    assert mask.lines(b"nothing here") == b"nothing here"


@given(st.binary(min_size=6, max_size=40), st.binary(max_size=9), st.binary(max_size=9))
def test_a_secret_in_the_base64_of_a_longer_text_is_found(secret: bytes, before: bytes, after: bytes) -> None:
    """As by `echo $TOKEN | base64`, which adds a line break, or in `user:password` of a header."""
    masked = Mask([secret.hex()]).lines(base64.b64encode(before + secret.hex().encode() + after))
    assert MASKED in masked
    # Of the secret's own bytes those that share a character with others may be seen: at most one at either end.
    assert len(masked.replace(MASKED, b"")) <= len(base64.b64encode(before + b"x" + after)) + 4


def test_a_long_secret_is_found_in_lines_of_base64() -> None:
    secret = bytes(range(33, 127)) * 2
    lines = base64.encodebytes(secret + b"\n").splitlines(keepends=True)
    assert Mask([secret]).lines(b"".join(lines)) == b"********\n" * 3 + b"********K\n"


def test_short_secrets_leave_other_base64_alone() -> None:
    other = base64.b64encode(bytes(range(256)))
    assert Mask(["abc"]).lines(other) == other


def test_each_line_of_a_key_is_found() -> None:
    mask = Mask([KEY])
    assert mask.lines(KEY) == b"-----BEGIN KEY-----\n********\n********\nAgEA\n-----END KEY-----\n"


def test_of_two_secrets_the_longer_is_taken_out() -> None:
    assert Mask(["abcdef", "abcdefghi"]).text("abcdefghij abcdefg") == "********j ********g"


def test_documents_are_searched_in_values_and_keys() -> None:
    mask = Mask(["hunter22"])
    found = mask.document({"a": ["x hunter22", 5, None], "hunter22": {"b": True}})
    assert found == {"a": ["x ********", 5, None], "********": {"b": True}}


def test_secrets_may_come_later() -> None:
    mask = Mask()
    assert mask.text("late-secret \ud800") == "late-secret \ud800"
    mask.add(["late-secret"])
    assert mask.text("late-secret \ud800") == "******** \ud800"


@given(
    st.lists(st.sampled_from(["hunter2", "2hunter", "hunt", "er2", " ", "é"]), max_size=30).map("".join),
    st.lists(st.integers(1, 12), max_size=40),
)
def test_a_line_in_pieces_is_masked_as_the_whole_line(line: str, sizes: list[int]) -> None:
    mask = Mask(["hunter2", "2hunter", "hunt"])
    data, done, rest = line.encode(), b"", b""
    for size in sizes:
        piece, rest = mask.partial_line(rest + data[:size])
        data, done = data[size:], done + piece
    assert done + mask.lines(rest + data) == mask.lines(line.encode())
    assert b"hunter2" not in done.replace(MASKED, b"")
