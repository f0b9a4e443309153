"""Taking the kubelet's stamps off a log: any way to cut it, and any place to go on from, gives the same archive."""

from __future__ import annotations

import typing as t
from datetime import datetime

from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.mlops.eks.plugins.module_utils._core.secret_mask import Mask
from ansible_collections.mlops.eks.plugins.module_utils._logs.timestamps import PIECE, Position, TimestampReader

Line = tuple[bytes, bytes]
SECRETS = (b"hunter2", b"2hunter", b"Pa55 word", b"\x00\xff\x00\xff")


def stamp(number: int) -> bytes:
    """A stamp of line `number`: some lines share one, and there are three in a second."""
    return f"2026-11-21T09:{number // 180:02d}:{number // 3 % 60:02d}.{number % 3 * 3_000_000:09d}Z".encode()


texts = st.one_of(
    st.binary(max_size=40).map(lambda text: text.replace(b"\n", b"")),
    st.sampled_from([b"", b" ", b"2026-11-21T09:00:00.000000000Z looks stamped", b"\r\x1b[31m", *SECRETS]),
    st.builds(lambda times, text: text * times, st.integers(PIECE // 8, PIECE // 2), st.sampled_from(SECRETS)),
)


@st.composite
def logs(draw: st.DrawFn) -> tuple[list[Line], bytes]:
    """Lines in the order of their stamps, and how the last one ends."""
    found = draw(st.lists(texts, min_size=1, max_size=12))
    numbers = sorted(draw(st.lists(st.integers(0, 9), min_size=len(found), max_size=len(found))))
    end = draw(st.sampled_from([b"\n", b""]))
    if not end:
        # An empty line without an end is no line.
        found[-1] += b"."
    return [(stamp(number), text) for number, text in zip(numbers, found, strict=True)], end


def answer(lines: list[Line], end: bytes, since: str = "") -> bytes:
    """What the kubelet sends."""
    start = datetime.fromisoformat(since) if since else None
    shown = [line for line in lines if start is None or datetime.fromisoformat(line[0].decode()) >= start]
    return b"\n".join(at + b" " + text for at, text in shown) + (end if shown else b"")


def expected(lines: list[Line], end: bytes, mask: Mask) -> bytes:
    return b"\n".join(mask.lines(text) for _, text in lines) + end


def pieces(data: bytes, cuts: list[int]) -> t.Iterator[bytes]:
    places = sorted({cut % (len(data) + 1) for cut in cuts})
    for start, stop in zip([0, *places], [*places, len(data)], strict=True):
        if start < stop:
            yield data[start:stop]


@given(log=logs(), cuts=st.lists(st.integers(0, 1 << 20), max_size=20), secret=st.booleans())
def test_any_way_to_cut_a_log_gives_the_same_archive(
    log: tuple[list[Line], bytes], cuts: list[int], secret: bool
) -> None:
    (lines, end), mask = log, Mask(SECRETS if secret else ())
    reader = TimestampReader(Position(), mask)
    found = b"".join(old + new for old, new in map(reader.feed, pieces(answer(lines, end), cuts)))
    found += reader.end(whole=True).new
    assert found == expected(lines, end, mask)
    assert reader.position.size == len(found)
    assert reader.position.lines == len(lines)
    assert not reader.gap


@given(log=logs(), breaks=st.lists(st.lists(st.integers(0, 1 << 20), min_size=1, max_size=4), max_size=5))
def test_any_way_to_break_off_and_go_on_gives_the_same_archive(
    log: tuple[list[Line], bytes], breaks: list[list[int]]
) -> None:
    (lines, end), mask, archive, position = log, Mask(SECRETS), b"", Position()
    for cuts in breaks:
        reader = TimestampReader(position, mask)
        found = list(pieces(answer(lines, end, position.since if position.stamp else ""), cuts))
        # The last piece never arrives.
        archive += b"".join(old + new for old, new in map(reader.feed, found[:-1]))
        position = reader.position
        archive = archive[: position.size]
        assert not reader.gap
    reader = TimestampReader(position, mask)
    old, new = reader.feed(answer(lines, end, position.since if position.stamp else ""))
    archive += old + new + reader.end(whole=True).new
    assert archive == expected(lines, end, mask)
    assert (reader.position.size, reader.position.lines, reader.gap) == (len(archive), len(lines), False)


@given(log=logs(), cuts=st.lists(st.integers(0, 1 << 20), max_size=8), number=st.integers(0, 10))
def test_what_an_earlier_controller_showed_is_old(log: tuple[list[Line], bytes], cuts: list[int], number: int) -> None:
    lines, _ = log
    seen = datetime.fromisoformat(stamp(number).decode()).timestamp()
    reader = TimestampReader(Position(), Mask(), seen=seen)
    texts = [reader.feed(piece) for piece in pieces(answer(lines, b"\n"), cuts)]
    assert b"".join(one.old for one in texts) == b"".join(text + b"\n" for at, text in lines if at <= stamp(number))
    assert b"".join(one.new for one in texts) == b"".join(text + b"\n" for at, text in lines if at > stamp(number))


def resumed(position: Position, data: bytes) -> TimestampReader:
    reader = TimestampReader(position, Mask())
    reader.feed(data)
    reader.end(whole=True)
    return reader


def test_a_log_that_was_rotated_meanwhile_has_a_gap() -> None:
    position = Position(stamp=stamp(4), same=2, size=10, lines=3)
    assert resumed(position, stamp(5) + b" later\n").gap
    assert resumed(position, b"").gap
    assert not resumed(position, stamp(4) + b" a\n" + stamp(4) + b" b\n" + stamp(5) + b" c\n").gap
    assert not resumed(position, stamp(3) + b" the end of an older line\n" + stamp(4) + b" a\n").gap


def test_half_a_line_is_no_line_until_the_log_is_whole() -> None:
    reader = TimestampReader(Position(), Mask())
    assert reader.feed(stamp(1) + b" one\n" + stamp(2) + b" ha").new == b"one\n"
    assert reader.end(whole=False).new == b""
    assert (reader.position.size, reader.position.lines) == (4, 1)


def test_a_line_without_end_needs_no_memory() -> None:
    reader, size = TimestampReader(Position(), Mask([b"x" * 50])), 0
    for piece in [stamp(1) + b" ", *[b"0123456789" * 1000] * 1000]:
        size += len(reader.feed(piece).new)
        assert len(reader._rest) <= PIECE
    assert size >= 10_000_000 - PIECE
    assert reader.inside
    assert reader.position.size == 0
