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
from ansible_collections.mlops.eks.plugins.module_utils._step import logs as module
from ansible_collections.mlops.eks.plugins.module_utils._step.logs import LogFollower
from ansible_collections.mlops.eks.plugins.module_utils._step.screen import HELD, Screen

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


Copy = Callable[..., LogFollower]


@pytest.fixture
def copy(serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Copy:
    monkeypatch.setattr(module, "backoff", lambda failures: 0.001)

    def begin(answer: Answer, *, screen: Screen | None = None, ended: bool = True, **more: t.Any) -> LogFollower:
        _, kube = serve(answer)
        follower = LogFollower(
            kube, pod="p", container="main", file=tmp_path / "logs" / "p.main.log", screen=screen, prefix="p", **more
        )
        if ended:
            follower.end()
        follower.start()
        return follower

    return begin


def finished(follower: LogFollower) -> bytes:
    assert follower.done.wait(20)
    follower.join(5)
    return follower.file.read_bytes()


def test_the_archive_is_the_log(copy: Copy) -> None:
    kubelet = Kubelet(numbered(500))
    follower = copy(kubelet.answer)
    assert finished(follower) == kubelet.text()
    assert (follower.lines, follower.bytes) == (500, len(kubelet.text()))
    assert follower.tail_text()[-1] == "line 499"
    assert len(follower.tail_text()) == 40


@pytest.mark.parametrize("end", [b"\n", b""])
@pytest.mark.parametrize("seed", range(6))
def test_lost_connections_lose_and_repeat_nothing(copy: Copy, seed: int, end: bytes) -> None:
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
    follower = copy(kubelet.answer)
    assert finished(follower) == kubelet.text()
    assert follower.lines == len(lines)


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


def test_all_lines_of_one_stamp(copy: Copy) -> None:
    kubelet = Kubelet([(stamp(0), f"line {number}".encode()) for number in range(100)], cuts=[1500, 3000, 10])
    assert finished(copy(kubelet.answer)) == kubelet.text()


@pytest.mark.parametrize("offset", ["+02:00", "-07:00", "+05:30"])
def test_a_node_in_another_time_zone(copy: Copy, offset: str) -> None:
    kubelet = Kubelet(numbered(300), cuts=[4000, 3000, 2000], offset=offset)
    assert finished(copy(kubelet.answer)) == kubelet.text()


def test_the_kubelets_own_words_are_kept_whole_and_not_taken_for_stamps(copy: Copy) -> None:
    words = b"unable to retrieve container logs for containerd://17af"

    def answer(exchange: Exchange) -> None:
        exchange.begin()
        exchange.chunk(f"{stamp(1)}Z one\n".encode() + words + b"\n")
        if exchange.number == 0:
            exchange.cut()
            return
        exchange.end()

    assert finished(copy(answer)) == b"one\n" + words + b"\n"


def test_a_container_that_has_not_started_is_asked_again(copy: Copy) -> None:
    kubelet = Kubelet(numbered(3))

    def answer(exchange: Exchange) -> None:
        if exchange.number < 3:
            exchange.reply({"message": "container main in pod p is waiting to start: ContainerCreating"}, 400)
        else:
            kubelet.answer(exchange)

    assert finished(copy(answer)) == kubelet.text()


def test_a_pod_that_is_gone_ends_it(copy: Copy) -> None:
    follower = copy(lambda ex: ex.reply({"message": 'pods "p" not found'}, 404))
    assert finished(follower) == b""


def test_it_asks_for_what_it_needs(serve: Serve, tmp_path: Path) -> None:
    server, kube = serve(Kubelet([]).answer)
    follower = LogFollower(
        kube, pod="p", container="c", file=tmp_path / "x", screen=None, prefix="p", previous=True, follow=False
    )
    follower.start()
    finished(follower)
    (found,) = server.requests
    assert found.path == "/api/v1/namespaces/team/pods/p/log"
    assert found.params == {"container": "c", "timestamps": "true", "follow": "false", "previous": "true"}


def test_stop_wakes_a_silent_log(copy: Copy) -> None:
    waiting, over = threading.Event(), threading.Event()

    def answer(exchange: Exchange) -> None:
        exchange.begin()
        exchange.chunk(f"{stamp(1)}Z one\n{stamp(2)}Z half a li".encode())
        waiting.set()
        over.wait(20)

    follower = copy(answer, ended=False)
    assert waiting.wait(5)
    while not follower.lines:
        time.sleep(0.001)
    begun = time.monotonic()
    follower.stop()
    text = finished(follower)
    over.set()
    assert time.monotonic() - begun < 1.0
    assert text == b"one\n"


@pytest.mark.parametrize("ended", [False, True])
def test_finish_reads_what_a_silent_connection_did_not_bring(copy: Copy, ended: bool) -> None:
    kubelet, over = Kubelet(numbered(3)), threading.Event()

    def answer(exchange: Exchange) -> None:
        if exchange.params["follow"] == "false":
            kubelet.answer(exchange)
            return
        exchange.begin()
        # One line and a half, then nothing for ever.
        exchange.chunk(b"".join(f"{at}Z ".encode() + line + b"\n" for at, line in numbered(2))[:-3])
        over.wait(20)

    follower = copy(answer, ended=ended)
    while not follower.lines:
        time.sleep(0.001)
    follower.finish()
    text = finished(follower)
    over.set()
    assert text == kubelet.text()
    assert follower.lines == 3


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


def test_an_answer_that_ends_before_the_container_is_not_the_whole_log(copy: Copy) -> None:
    early = Early()
    follower = copy(early.answer, ended=False)
    assert early.asked.acquire(timeout=5)
    assert not follower.done.wait(0.05)
    follower.end()
    assert early.asked.acquire(timeout=5)
    # The answer after the container's end is believed; 300 lines were its log.
    assert finished(follower) == b"".join(b"line %d\n" % number for number in range(299)) + b"li"
    assert len(early.params) == 2


def test_a_log_that_ends_while_its_container_runs_is_asked_for_again(
    copy: Copy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_RESUME", 0.01)
    early = Early()
    follower = copy(early.answer, ended=False)
    for _ in range(4):
        assert early.asked.acquire(timeout=5)
    follower.end()
    assert finished(follower) == early.kubelet.text()
    assert follower.lines == 500


def test_the_rest_of_a_replaced_instance_is_asked_of_the_instance_before(copy: Copy) -> None:
    early = Early()
    follower = copy(early.answer, ended=False)
    assert early.asked.acquire(timeout=5)
    follower.end(replaced=True)
    finished(follower)
    assert [params.get("previous") for params in early.params] == [None, "true"]


def test_the_screen_gets_the_lines_and_counts_what_it_cannot_hold(copy: Copy) -> None:
    woken: list[int] = []
    screen = Screen(lambda: woken.append(1))
    kubelet = Kubelet(numbered(1000))
    assert finished(copy(kubelet.answer, screen=screen)) == kubelet.text()
    shown = list(screen.drain())
    assert shown[0] == "p | line 0"
    assert len(shown) == HELD + 1
    assert shown[-1].startswith("... 800 more lines")
    assert woken == [1]
    assert list(screen.drain()) == []


def test_the_screen_shows_text_that_a_terminal_can_bear() -> None:
    screen = Screen(lambda: None)
    screen.offer("p", [b"a\x1b[31mred\x07", b"1%\r2%\r3%\r", b"\xff\xfe", b"y" * 5000, b"tab\there"])
    red, progress, junk, long, tab = screen.drain()
    assert "\x1b" not in red
    assert progress == "p | 3%"
    assert junk.startswith("p | ")
    assert len(long) == 2004
    assert tab == "p | tab\there"
