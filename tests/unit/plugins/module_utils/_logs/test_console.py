"""The hand-over of log lines to the printer."""

from __future__ import annotations

from ansible_collections.mlops.eks.plugins.module_utils._logs.console import HELD, Console


def lines(count: int, text: str = "line") -> bytes:
    return b"".join(f"{text} {number}\n".encode() for number in range(count))


def test_text_that_a_terminal_can_bear() -> None:
    console = Console(lambda: None)
    console.offer("p", b"a\x1b[31mred\x07\n1%\r2%\r3%\r\n\xff\xfe\n" + b"y" * 5000 + b"\ntab\there\nunfinished")
    assert list(console.drain()) == [
        "p | ared",
        "p | 3%",
        "p | \ufffd\ufffd",
        f"p | {'y' * 2000} ... (clipped; the archive has it whole)",
        "p | tab\there",
        "p | unfinished",
    ]


def test_a_single_pod_may_use_the_whole_console() -> None:
    console = Console(lambda: None)
    console.offer("p", lines(HELD + 50))
    shown = list(console.drain())
    assert len(shown) == HELD + 1
    assert shown[-1].startswith("... 50 more lines")
    assert list(console.drain()) == []


def test_a_pod_that_floods_the_console_leaves_room_for_others() -> None:
    console = Console(lambda: None)
    for source in ("a", "b"):
        console.offer(source, lines(1))
    list(console.drain())
    console.offer("a", lines(10_000))
    console.offer("b", lines(10, "step"))
    shown = list(console.drain())
    assert [line for line in shown if line.startswith("b | ")] == [f"b | step {number}" for number in range(10)]
    assert len(shown) == HELD // 2 + 10 + 1


def test_the_console_notifies_once_until_it_is_drained() -> None:
    woken: list[int] = []
    console = Console(lambda: woken.append(1))
    for _ in range(3):
        console.offer("p", lines(2))
    assert len(woken) == 1
    list(console.drain())
    console.note("ours")
    assert len(woken) == 2


def test_a_note_is_shown_once_and_kept() -> None:
    console = Console(lambda: None)
    console.note("may not")
    console.note("may not")
    assert list(console.drain()) == ["may not"]
    console.note("may not")
    assert list(console.drain()) == []
    assert console.notes == ("may not",)
