"""A signal that arrives while a line is printed ends the worker after that line, not in it."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator

import pytest

from ansible_collections.mlops.eks.plugins.plugin_utils.whole_lines import whole_lines


@pytest.fixture
def seen() -> Iterator[list[str]]:
    """What happens, in its order; a signal is noted instead of ending the process."""
    found: list[str] = []
    before = signal.signal(signal.SIGINT, lambda *_: found.append("signal"))
    yield found
    signal.signal(signal.SIGINT, before)


def interrupted(seen: list[str], line: str) -> None:
    seen.append(f"begin {line}")
    os.kill(os.getpid(), signal.SIGINT)
    seen.append(f"end {line}")


def test_a_line_is_finished_first(seen: list[str]) -> None:
    with whole_lines(lambda line: interrupted(seen, line)) as say:
        say("a")
    assert seen == ["begin a", "end a", "signal"]


def test_a_line_that_cannot_be_printed_keeps_no_signal_waiting(seen: list[str]) -> None:
    def fail(line: str) -> None:
        interrupted(seen, line)
        raise OSError(line)

    with whole_lines(fail) as say, pytest.raises(OSError, match="a"):
        say("a")
    assert seen == ["begin a", "end a", "signal"]


def test_between_lines_it_acts_at_once(seen: list[str]) -> None:
    with whole_lines(seen.append) as say:
        say("a")
        os.kill(os.getpid(), signal.SIGINT)
        say("b")
    assert seen == ["a", "signal", "b"]


def test_the_line_of_another_thread_is_waited_for(seen: list[str]) -> None:
    speaking, go_on = threading.Event(), threading.Event()

    def show(line: str) -> None:
        speaking.set()
        go_on.wait(10)
        seen.append(line)

    with whole_lines(show) as say:
        other = threading.Thread(target=say, args=("a",))
        other.start()
        speaking.wait(10)
        threading.Timer(0.05, go_on.set).start()
        os.kill(os.getpid(), signal.SIGINT)
        other.join()
    assert seen == ["a", "signal"]


def test_the_handlers_are_put_back(seen: list[str]) -> None:
    before = signal.getsignal(signal.SIGINT)
    with whole_lines(seen.append):
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before
