"""Container logs against a real server that keeps a log as the kubelet does and cuts connections."""

from __future__ import annotations

import random
import threading
import time
import typing as t
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from fakes.http import Answer, Exchange, Server

from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Kube
from ansible_collections.mlops.eks.plugins.module_utils._logs import reader as module
from ansible_collections.mlops.eks.plugins.module_utils._logs.console import HELD, Console
from ansible_collections.mlops.eks.plugins.module_utils._logs.offsets import DIRECTORY
from ansible_collections.mlops.eks.plugins.module_utils._logs.pool import LogPool
from ansible_collections.mlops.eks.plugins.module_utils._logs.sinks import Instance, LogStore, Sinks

Serve = t.Callable[[Answer], tuple[Server, Kube]]
Line = tuple[str, bytes]


class Kubelet:
    """Serves one log by the rules of `pkg/kubelet/kuberuntime/logs`: stamps when asked, lines since a whole second."""

    def __init__(
        self, lines: list[Line], *, end: bytes = b"\n", cuts: list[int] | None = None, offset: str = "Z"
    ) -> None:
        self.lines, self.end, self.cuts, self.offset = lines, end, list(cuts or []), offset

    def text(self) -> bytes:
        return b"\n".join(line for _, line in self.lines) + self.end if self.lines else b""

    def answer(self, exchange: Exchange) -> None:
        since = exchange.params.get("sinceTime")
        start = datetime.fromisoformat(since) if since else None
        stamped = [(f"{stamp}{self.offset}", line) for stamp, line in self.lines]
        shown = [(stamp, line) for stamp, line in stamped if start is None or datetime.fromisoformat(stamp) >= start]
        data = b"\n".join(stamp.encode() + b" " + line for stamp, line in shown) + (self.end if shown else b"")
        exchange.begin()
        if self.cuts:
            for piece in _pieces(data[: self.cuts.pop(0)], 4096):
                exchange.chunk(piece)
            exchange.cut()
            return
        for piece in _pieces(data, 1 << 16):
            exchange.chunk(piece)
        exchange.end()


def _pieces(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]


def stamp(number: int) -> str:
    """A stamp for line `number`: about forty lines a second."""
    return f"2026-11-21T09:{number // 2400 % 60:02d}:{number // 40 % 60:02d}.{number % 40 * 1000:09d}"


def numbered(count: int) -> list[Line]:
    return [(stamp(number), f"line {number}".encode()) for number in range(count)]


ONE = Instance("p", "uid-1", "main")


class Copy:
    """One log on its way to its archive."""

    def __init__(self, kube: Kube, directory: Path, *, console: Console | None = None, **more: t.Any) -> None:
        self.console = console or Console(lambda: None)
        self.logs = LogPool(kube, LogStore(directory=directory / "logs", **more), Sinks(console=self.console))
        self.logs.follow(ONE, source="p" if console else None)
        self.log = self.logs._logs[ONE]

    def end(self, *, previous: bool = False) -> None:
        self.logs.end(ONE, previous=previous)

    def finished(self) -> bytes:
        assert self.log.done.wait(20)
        self.logs.close(lambda _: True)
        return self.log.file.read_bytes()


Begin = Callable[..., Copy]


@pytest.fixture
def copy(serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Begin:
    monkeypatch.setattr(module, "backoff", lambda failures: 0.001)

    def begin(answer: Answer, *, ended: bool = True, **more: t.Any) -> Copy:
        _, kube = serve(answer)
        copied = Copy(kube, tmp_path, **more)
        if ended:
            copied.end()
        return copied

    return begin


def test_the_archive_is_the_log(copy: Begin) -> None:
    kubelet = Kubelet(numbered(500))
    copied = copy(kubelet.answer)
    assert copied.finished() == kubelet.text()
    assert copied.logs.files()[ONE] == ("logs/p.main.log", 500, len(kubelet.text()), "")
    assert copied.logs.tail("p", "main")[-1] == "line 499"
    assert len(copied.logs.tail("p", "")) == 40
    assert not (copied.log.file.parent.parent / DIRECTORY).exists()


@pytest.mark.parametrize("end", [b"\n", b""])
@pytest.mark.parametrize("seed", range(6))
def test_lost_connections_lose_and_repeat_nothing(copy: Begin, seed: int, end: bytes) -> None:
    dice = random.Random(seed)
    lines = [
        # Several lines of one stamp, empty ones, long ones, blanks at both ends, bytes that are no text.
        (stamp(number // dice.choice((1, 1, 5))), dice.choice(TEXTS).replace(b"#", str(number).encode()))
        for number in range(400)
    ]
    lines.sort(key=lambda line: line[0])
    lines[-1] = (lines[-1][0], b"the end")
    size = len(Kubelet(lines).text()) + 31 * len(lines)
    kubelet = Kubelet(lines, end=end, cuts=[dice.randrange(1, size) for _ in range(7)])
    copied = copy(kubelet.answer)
    assert copied.finished() == kubelet.text()
    assert (copied.log.position.lines, copied.log.gap) == (len(lines), "")


TEXTS = (
    b"step # loss 0.5",
    b"",
    b" # ",
    b"x" * 20000 + b"#",
    bytes(byte for byte in range(256) if byte != 10) + b"#",
    "Genauigkeit # \u2265 0,95 \U0001f680".encode(),
    b"2026-11-21T09:00:00.000000000Z a line that looks stamped #",
    b"progress 1%\rprogress 2%\r#",
)


def test_all_lines_of_one_stamp(copy: Begin) -> None:
    kubelet = Kubelet([(stamp(0), f"line {number}".encode()) for number in range(100)], cuts=[1500, 3000, 10])
    assert copy(kubelet.answer).finished() == kubelet.text()


@pytest.mark.parametrize("offset", ["+02:00", "-07:00", "+05:30"])
def test_a_node_in_another_time_zone(copy: Begin, offset: str) -> None:
    kubelet = Kubelet(numbered(300), cuts=[4000, 3000, 2000], offset=offset)
    assert copy(kubelet.answer).finished() == kubelet.text()


def test_the_kubelets_own_words_are_kept_whole_and_not_taken_for_stamps(copy: Begin) -> None:
    words = b"unable to retrieve container logs for containerd://17af"

    def answer(exchange: Exchange) -> None:
        exchange.begin()
        exchange.chunk(f"{stamp(1)}Z one\n".encode() + words + b"\n")
        if exchange.number == 0:
            exchange.cut()
            return
        exchange.end()

    assert copy(answer).finished() == b"one\n" + words + b"\n"


def test_a_container_that_has_not_started_is_asked_again(copy: Begin) -> None:
    kubelet = Kubelet(numbered(3))

    def answer(exchange: Exchange) -> None:
        if exchange.number < 3:
            exchange.reply({"message": "container main in pod p is waiting to start: ContainerCreating"}, 400)
        else:
            kubelet.answer(exchange)

    assert copy(answer).finished() == kubelet.text()


def test_a_pod_that_is_gone_ends_it(copy: Begin) -> None:
    copied = copy(lambda ex: ex.reply({"message": 'pods "p" not found'}, 404))
    assert copied.finished() == b""
    assert copied.log.gap == "its pod was gone before all of it was read"


def test_a_pod_that_goes_after_its_log_was_sent_leaves_nothing_out(copy: Begin) -> None:
    kubelet, sent = Kubelet(numbered(3)), threading.Event()

    def answer(exchange: Exchange) -> None:
        if exchange.number:
            exchange.reply({"message": 'pods "p" not found'}, 404)
            return
        kubelet.answer(exchange)
        sent.set()

    copied = copy(answer, ended=False)
    assert sent.wait(5)
    copied.end()
    assert copied.finished() == kubelet.text()
    assert copied.log.gap == ""


def test_it_asks_for_what_it_needs(serve: Serve, tmp_path: Path) -> None:
    server, kube = serve(Kubelet([]).answer)
    copied = Copy(kube, tmp_path)
    copied.end(previous=True)
    copied.finished()
    assert {found.path for found in server.requests} == {"/api/v1/namespaces/team/pods/p/log"}
    last = server.requests[-1].params
    assert last == {"container": "main", "timestamps": "true", "follow": "false", "previous": "true"}


def test_a_permission_that_was_seen_since_is_not_taken_for_missing(copy: Begin) -> None:
    """Refusals count in a row: broken connections between them show that reading is allowed."""
    kubelet = Kubelet(numbered(500), cuts=[900 * number for number in range(1, 9)])
    refusals = [number % 2 == 0 for number in range(16)]

    def answer(exchange: Exchange) -> None:
        if refusals and refusals.pop():
            exchange.reply({"message": "no"}, 403)
        else:
            kubelet.answer(exchange)

    copied = copy(answer)
    assert copied.finished() == kubelet.text()
    assert copied.logs.files()[ONE].gap == ""


def test_answers_that_end_before_what_was_read_say_nothing_of_the_end_or_of_a_gap(copy: Begin) -> None:
    """Many lines have one second, and each answer begins with the first of them: a short one brings nothing."""
    kubelet = Kubelet([(f"2026-11-21T09:00:00.{number:09d}", b"line %d" % number) for number in range(500)])
    whole = len(kubelet.text()) + 500 * len(f"{kubelet.lines[0][0]}Z ")
    lengths = [part * whole // 10 for part in (6, *[2] * 12, 9, *[3] * 12)]

    def answer(exchange: Exchange) -> None:
        stamped = b"".join(at.encode() + b"Z " + line + b"\n" for at, line in kubelet.lines)
        exchange.begin()
        exchange.chunk(stamped[: lengths.pop(0)] if lengths else stamped)
        exchange.end()

    copied = copy(answer)
    assert copied.finished() == kubelet.text()
    assert copied.logs.files()[ONE].gap == ""


def test_giving_up_wakes_a_silent_log(copy: Begin) -> None:
    waiting, over = threading.Event(), threading.Event()

    def answer(exchange: Exchange) -> None:
        exchange.begin()
        exchange.chunk(f"{stamp(1)}Z one\n{stamp(2)}Z half a li".encode())
        waiting.set()
        over.wait(20)

    copied = copy(answer, ended=False)
    assert waiting.wait(5)
    while not copied.log.position.lines:
        time.sleep(0.001)
    begun = time.monotonic()
    copied.log.give_up("enough")
    text = copied.finished()
    over.set()
    assert time.monotonic() - begun < 10.0
    assert (text, copied.log.gap) == (b"one\n", "enough")


@pytest.mark.parametrize("ended", [False, True])
def test_finish_reads_what_a_silent_connection_did_not_bring(copy: Begin, ended: bool) -> None:
    kubelet, over = Kubelet(numbered(3)), threading.Event()

    def answer(exchange: Exchange) -> None:
        if exchange.params["follow"] == "false":
            kubelet.answer(exchange)
            return
        exchange.begin()
        # One line and a half, then nothing for ever.
        exchange.chunk(b"".join(f"{at}Z ".encode() + line + b"\n" for at, line in numbered(2))[:-3])
        over.wait(20)

    copied = copy(answer, ended=ended)
    while not copied.log.position.lines:
        time.sleep(0.001)
    copied.log.finish()
    text = copied.finished()
    over.set()
    assert text == kubelet.text()
    assert copied.log.position.lines == 3


class Early:
    """A log whose first answers end properly, but early: in the middle of line 150, then of line 300."""

    def __init__(self) -> None:
        self.kubelet, self.asked = Kubelet(numbered(500)), threading.Semaphore(0)
        self.params: list[dict[str, str]] = []

    def answer(self, exchange: Exchange) -> None:
        self.params.append(exchange.params)
        whole = self.kubelet.lines
        number = (150, 300)[exchange.number] if exchange.number < 2 else None
        self.kubelet.lines, self.kubelet.end = whole[:number], b"" if number else b"\n"
        if number:
            self.kubelet.lines[-1] = (self.kubelet.lines[-1][0], b"li")
        self.kubelet.answer(exchange)
        self.kubelet.lines = whole
        self.asked.release()


def test_an_answer_that_ends_before_the_container_is_not_the_whole_log(copy: Begin) -> None:
    early = Early()
    copied = copy(early.answer, ended=False)
    assert early.asked.acquire(timeout=5)
    assert not copied.log.done.wait(0.05)
    copied.end()
    assert early.asked.acquire(timeout=5)
    # Nor is the first one after its end: two that end at the same place are believed.
    assert copied.finished() == early.kubelet.text()
    assert len(early.params) == 4


def test_a_log_that_ends_while_its_container_runs_is_asked_for_again(
    copy: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_RESUME", 0.01)
    early = Early()
    copied = copy(early.answer, ended=False)
    for _ in range(4):
        assert early.asked.acquire(timeout=5)
    copied.end()
    assert copied.finished() == early.kubelet.text()
    assert copied.log.position.lines == 500


def test_the_rest_of_a_replaced_instance_is_asked_of_the_instance_before(copy: Begin) -> None:
    early = Early()
    copied = copy(early.answer, ended=False)
    assert early.asked.acquire(timeout=5)
    copied.end(previous=True)
    copied.finished()
    assert [params.get("previous") for params in early.params][:2] == [None, "true"]
    assert {params.get("previous") for params in early.params[1:]} == {"true"}


def test_a_log_that_never_ends_at_the_same_place_is_given_up_and_says_so(
    copy: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "backoff", lambda failures: 0.0)
    kubelet = Kubelet(numbered(1), end=b"")

    def answer(exchange: Exchange) -> None:
        kubelet.lines = [*numbered(1), (stamp(1), b"x" * exchange.number)]
        kubelet.answer(exchange)

    copied = copy(answer, ended=True)
    assert copied.finished() == b"line 0\n"
    assert copied.log.gap == "its end may be missing: every answer ended elsewhere"


def test_the_screen_gets_the_lines_and_counts_what_it_cannot_hold(copy: Begin) -> None:
    woken: list[int] = []
    console = Console(lambda: woken.append(1))
    kubelet = Kubelet(numbered(1000))
    assert copy(kubelet.answer, console=console).finished() == kubelet.text()
    shown = list(console.drain())
    assert shown[0] == "p | line 0"
    assert len(shown) == HELD + 1
    assert shown[-1].startswith("... 800 more lines")
    assert woken == [1]
    assert list(console.drain()) == []
