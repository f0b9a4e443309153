"""The hand-over of log lines to the printer."""

from __future__ import annotations

from ansible_collections.mlops.eks.plugins.module_utils._logs.console import HELD, Screen


def lines(count: int, text: str = "line") -> bytes:
    return b"".join(f"{text} {number}\n".encode() for number in range(count))


def test_text_that_a_terminal_can_bear() -> None:
    screen = Screen(lambda: None)
    screen.offer("p", b"a\x1b[31mred\x07\n1%\r2%\r3%\r\n\xff\xfe\n" + b"y" * 5000 + b"\ntab\there\nunfinished")
    assert list(screen.drain()) == [
        "p | ared",
        "p | 3%",
        "p | \ufffd\ufffd",
        f"p | {'y' * 2000} ... (clipped; the archive has it whole)",
        "p | tab\there",
        "p | unfinished",
    ]


def test_one_that_is_alone_has_all_the_room() -> None:
    screen = Screen(lambda: None)
    screen.offer("p", lines(HELD + 50))
    shown = list(screen.drain())
    assert len(shown) == HELD + 1
    assert shown[-1].startswith("... 50 more lines")
    assert list(screen.drain()) == []


def test_one_that_floods_leaves_room_for_the_others() -> None:
    screen = Screen(lambda: None)
    for source in ("a", "b"):
        screen.offer(source, lines(1))
    list(screen.drain())
    screen.offer("a", lines(10_000))
    screen.offer("b", lines(10, "step"))
    shown = list(screen.drain())
    assert [line for line in shown if line.startswith("b | ")] == [f"b | step {number}" for number in range(10)]
    assert len(shown) == HELD // 2 + 10 + 1


def test_it_wakes_once_until_it_was_looked_at() -> None:
    woken: list[int] = []
    screen = Screen(lambda: woken.append(1))
    for _ in range(3):
        screen.offer("p", lines(2))
    assert len(woken) == 1
    list(screen.drain())
    screen.note("ours")
    assert len(woken) == 2


def test_a_note_is_shown_once_and_kept() -> None:
    screen = Screen(lambda: None)
    screen.note("may not")
    screen.note("may not")
    assert list(screen.drain()) == ["may not"]
    screen.note("may not")
    assert list(screen.drain()) == []
    assert screen.notes == ("may not",)
