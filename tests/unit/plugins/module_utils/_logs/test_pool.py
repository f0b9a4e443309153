"""Many logs by few threads, against a real server."""

from __future__ import annotations

import threading
import time
import typing as t
from collections.abc import Callable
from pathlib import Path

import pytest
from fakes.http import Answer, Exchange, Server

from ansible_collections.mlops.eks.plugins.module_utils._core.secret_mask import Mask
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Kube
from ansible_collections.mlops.eks.plugins.module_utils._logs import pool as module
from ansible_collections.mlops.eks.plugins.module_utils._logs.console import Console
from ansible_collections.mlops.eks.plugins.module_utils._logs.pool import LogPool
from ansible_collections.mlops.eks.plugins.module_utils._logs.sinks import Instance, LogStore, Sinks

Serve = t.Callable[[Answer], tuple[Server, Kube]]
STAMP = "2026-11-21T09:00:00.{:09d}Z"


class Node:
    """A kubelet with many containers, each of which goes on until `over`; it counts what is followed at once."""

    def __init__(self) -> None:
        self.lines: dict[str, list[str]] = {}
        self.ended: set[str] = set()
        self.over = threading.Event()
        self.lock = threading.Lock()
        self.following = self.most = 0

    def answer(self, exchange: Exchange) -> None:
        name = exchange.path.split("/")[-2]
        since = "sinceTime" in exchange.params
        exchange.begin()
        text = "".join(f"{STAMP.format(number)} {line}\n" for number, line in enumerate(self.lines[name]))
        with self.lock:
            self.following += 1
            self.most = max(self.most, self.following)
        try:
            exchange.chunk(text.encode())
            if exchange.params["follow"] == "true" and not since and name not in self.ended:
                self.over.wait(20)
        finally:
            with self.lock:
                self.following -= 1
        exchange.end()


def until(look: Callable[[], object]) -> None:
    deadline = time.monotonic() + 20
    while not look():
        assert time.monotonic() < deadline
        time.sleep(0.002)


def named(number: int, uid: str = "u") -> Instance:
    return Instance(f"worker-{number}", f"{uid}-{number}", "main")


def text(directory: Path, name: str) -> str:
    return (directory / name).read_text(encoding="utf-8")


@pytest.fixture
def node() -> t.Iterator[Node]:
    found = Node()
    yield found
    found.over.set()


def test_more_logs_than_threads_are_all_read_while_none_has_ended(
    serve: Serve, tmp_path: Path, node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_FIRST_TURN", 0.1)
    node.lines = {f"worker-{number}": [f"hello from {number}"] for number in range(20)}
    _, kube = serve(node.answer)
    logs = LogPool(kube, LogStore(directory=tmp_path), Sinks(), streams=4)
    for number in range(20):
        logs.follow(named(number))

    def all_read() -> bool:
        logs.balance()
        return all(file.lines for file in logs.files().values())

    until(all_read)
    assert len(logs._threads) == 4
    logs.close(lambda _: False)
    for number in range(20):
        assert text(tmp_path, f"worker-{number}.main.log") == f"hello from {number}\n"
    assert {file.gap for file in logs.files().values()} == {""}


def test_what_ended_does_not_wait_for_its_turn(serve: Serve, tmp_path: Path, node: Node) -> None:
    node.lines = {f"worker-{number}": ["x"] for number in range(4)}
    _, kube = serve(node.answer)
    logs = LogPool(kube, LogStore(directory=tmp_path), Sinks(), streams=2)
    for number in range(4):
        logs.follow(named(number), source=None, leads=number == 0)
    until(lambda: logs.files()[named(1)].lines)
    # Both threads are taken for as long as nothing ends: a turn is 15 seconds.
    assert logs.files()[named(3)].lines == 0
    node.ended.add("worker-3")
    logs.end(named(3))
    until(lambda: logs._logs[named(3)].done.is_set())
    assert logs.files()[named(3)].lines == 1
    assert named(0) in [log.instance for log in logs._reading]
    node.over.set()
    logs.close(lambda _: True)


def test_a_pod_that_comes_again_under_its_name_has_a_log_of_its_own(serve: Serve, tmp_path: Path, node: Node) -> None:
    node.lines = {"worker-0": ["first life"]}
    _, kube = serve(node.answer)
    logs = LogPool(kube, LogStore(directory=tmp_path), Sinks())
    logs.follow(named(0, "old"))
    until(lambda: logs.files()[named(0, "old")].lines)
    node.lines = {"worker-0": ["second life"]}
    logs.follow(named(0, "new"))
    node.over.set()
    logs.close(lambda _: True)
    assert text(tmp_path, "worker-0.main.log") == "first life\n"
    assert text(tmp_path, "worker-0~2.main.log") == "second life\n"
    assert "another pod took its name" in logs.files()[named(0, "old")].gap
    assert logs.tail("worker-0", "main") == ("second life",)


def test_the_next_controller_goes_on_where_the_last_one_was_killed(serve: Serve, tmp_path: Path, node: Node) -> None:
    first, second = tmp_path / "run-1" / "01-x", tmp_path / "run-2" / "01-x"
    node.lines = {"worker-0": ["one", "two"], "worker-1": ["other"]}
    server, kube = serve(node.answer)
    logs = LogPool(kube, LogStore(directory=first / "logs"), Sinks())
    logs.follow(named(0))
    logs.follow(named(1))
    until(lambda: logs.files()[named(0)].lines == 2 and logs.files()[named(1)].lines)
    # Nobody closes it. The kubelet rotates the first line away.
    node.lines["worker-0"] = ["", "two", "three"]

    console = Console(lambda: None)
    again = LogPool(kube, LogStore(directory=second / "logs", earlier_evidence=(first, second)), Sinks(console=console))
    again.follow(named(0), source="worker-0")
    again.follow(named(1, "another"), source="worker-1")
    node.over.set()
    again.close(lambda _: True)
    assert text(second, "logs/worker-0.main.log") == "one\ntwo\nthree\n"
    assert text(first, "logs/worker-0.main.log").startswith("one\ntwo\n")
    assert sorted(console.drain()) == ["worker-0 | three", "worker-1 | other"]
    assert server.requests[-1].params["follow"] == "true"


def test_where_no_evidence_is_lines_up_to_the_last_sign_of_life_are_not_shown_again(
    serve: Serve, tmp_path: Path, node: Node
) -> None:
    node.lines = {"worker-0": ["a", "b"]}
    _, kube = serve(node.answer)
    console = Console(lambda: None)
    logs = LogPool(kube, LogStore(directory=tmp_path, shown_until=4e9), Sinks(console=console))
    logs.follow(named(0), source="worker-0")
    node.over.set()
    logs.close(lambda _: True)
    assert text(tmp_path, "worker-0.main.log") == "a\nb\n"
    assert list(console.drain()) == []


def test_a_missing_permission_is_said_once_and_nothing_waits_for_it(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_CLOSE_TIMEOUT", 60.0)
    refusal = {"message": 'pods "worker-0" is forbidden: User "u" cannot get resource "pods/log"'}
    server, kube = serve(lambda exchange: exchange.reply(refusal, 403))
    console = Console(lambda: None)
    logs = LogPool(kube, LogStore(directory=tmp_path), Sinks(console=console))
    for number in range(3):
        logs.follow(named(number))
    until(lambda: len(server.requests) >= 3)
    begun = time.monotonic()
    logs.close(lambda _: True)
    # Twice a minute it would wait for.
    assert time.monotonic() - begun < 60.0
    (said,) = console.drain()
    assert "may not 'get' 'pods/log' in namespace team" in said
    assert {file.gap for file in logs.files().values()} == {"reading it was forbidden"}


def test_secrets_and_strangers_are_kept_out(serve: Serve, tmp_path: Path, node: Node) -> None:
    node.lines = {"worker-0": ["token tok-123456"]}
    _, kube = serve(node.answer)
    console = Console(lambda: None)
    logs = LogPool(
        kube, LogStore(directory=tmp_path / "logs", mask=Mask(["tok-123456"]), private=True), Sinks(console=console)
    )
    logs.follow(named(0), source="w")
    until(lambda: logs.files()[named(0)].lines)
    for file in (tmp_path / "logs" / "worker-0.main.log", tmp_path / ".marks" / "worker-0.main.log"):
        assert file.stat().st_mode & 0o777 == 0o600
    node.over.set()
    logs.close(lambda _: True)
    assert text(tmp_path / "logs", "worker-0.main.log") == "token ********\n"
    assert list(console.drain()) == ["w | token ********"]


def test_a_progress_bar_without_lines_is_shown_as_it_goes(serve: Serve, tmp_path: Path) -> None:
    bar = b"".join(b"%d%%".ljust(160) % number + b"\r" for number in range(300))

    def answer(exchange: Exchange) -> None:
        exchange.begin()
        exchange.chunk(STAMP.format(1).encode() + b" " + bar)
        exchange.end()

    _, kube = serve(answer)
    console = Console(lambda: None)
    logs = LogPool(kube, LogStore(directory=tmp_path), Sinks(console=console))
    logs.follow(named(0), source="w")
    logs.close(lambda _: True)
    assert (tmp_path / "worker-0.main.log").read_bytes() == bar
    assert next(console.drain()).rstrip().endswith("%")


def test_a_thousand_logs_behind_a_silent_node_are_asked_for_now_and_then(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MAX_FAST_RETRIES", 2)
    monkeypatch.setattr(module, "_RETRY_INTERVAL", 10.0)
    server, kube = serve(lambda exchange: exchange.reply({"message": "no route to host"}, 500))
    logs = LogPool(kube, LogStore(directory=tmp_path), Sinks(), streams=8)
    for number in range(40):
        logs.follow(named(number))
    until(lambda: len(server.requests) >= 40 * 3)
    until(lambda: len(logs._due) == 40)
    soonest = min(logs._due.values()) - time.monotonic()
    assert soonest > 200
    # What has ended is asked for at once, and given up as before.
    monkeypatch.setattr(module, "_CLOSE_TIMEOUT", 0.2)
    logs.close(lambda _: True)
    assert {file.gap for file in logs.files().values()} == {"the cluster did not send all of it"}
