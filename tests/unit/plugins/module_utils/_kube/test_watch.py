"""The watch against a real server that closes, cuts, forgets and refuses."""

from __future__ import annotations

import queue
import threading
import time
import typing as t
from collections.abc import Iterator

import pytest
from fakes.http import Answer, Exchange, Server

from ansible_collections.mlops.eks.plugins.module_utils._kube import watch as module
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Kube
from ansible_collections.mlops.eks.plugins.module_utils._kube.watch import Watch, backoff

Serve = t.Callable[[Answer], tuple[Server, Kube]]
Document = dict[str, t.Any]
PATH = "/api/v1/namespaces/team/pods"


def pod(name: str, version: int) -> Document:
    return {"metadata": {"name": name, "uid": f"uid-{name}", "resourceVersion": str(version)}}


def listed(version: int, *items: Document) -> Document:
    return {"metadata": {"resourceVersion": str(version)}, "items": list(items)}


class Scene:
    """A watch and what it delivered; `lists` and `watches` answer one request after another, the last one for ever."""

    def __init__(self, lists: list[Answer], watches: list[Answer]) -> None:
        self.lists, self.watches = lists, watches
        self.heard: queue.SimpleQueue[tuple[str, Document]] = queue.SimpleQueue()
        self.listed = self.watched = 0
        self.asked: list[dict[str, str]] = []

    def answer(self, exchange: Exchange) -> None:
        if "watch" in exchange.params:
            self.asked.append(exchange.params)
            self.watched += 1
            self.watches[min(self.watched, len(self.watches)) - 1](exchange)
        else:
            self.listed += 1
            self.lists[min(self.listed, len(self.lists)) - 1](exchange)

    def next(self) -> tuple[str, Document]:
        return self.heard.get(timeout=10)

    def named(self, count: int) -> list[str]:
        found = [self.next() for _ in range(count)]
        return [f"{verb} {entry['metadata']['name']}" if "metadata" in entry else verb for verb, entry in found]


Play = t.Callable[[list[Answer], list[Answer]], tuple[Scene, Watch]]


@pytest.fixture
def play(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> Iterator[Play]:
    monkeypatch.setattr(module, "backoff", lambda failures: 0.001)
    running: list[Watch] = []

    def begin(lists: list[Answer], watches: list[Answer]) -> tuple[Scene, Watch]:
        scene = Scene(lists, watches)
        server, kube = serve(scene.answer)
        scene.watches = [*watches, lambda ex: hold(ex, server.closing)]
        watch = Watch(kube, PATH, {"labelSelector": "a=b"}, lambda verb, entry: scene.heard.put((verb, entry)))
        running.append(watch)
        watch.start()
        return scene, watch

    yield begin
    for watch in running:
        watch.stop()
        watch.join(5)
        assert not watch.is_alive()


def hold(exchange: Exchange, closing: threading.Event) -> None:
    """A silent watch."""
    exchange.begin()
    closing.wait(30)


def answers(*documents: Document) -> list[Answer]:
    return [lambda ex, document=document: ex.reply(document) for document in documents]  # type: ignore[misc]


def says(*events: tuple[str, Document], cut: bool = False) -> Answer:
    def answer(exchange: Exchange) -> None:
        exchange.begin()
        for kind, entry in events:
            exchange.event(kind, entry)
        if cut:
            exchange.cut()
        else:
            exchange.end()

    return answer


def test_list_then_changes(play: Play) -> None:
    scene, _ = play(
        answers(listed(5, pod("a", 1))),
        [says(("ADDED", pod("b", 6)), ("MODIFIED", pod("a", 7)), ("DELETED", pod("b", 8)))],
    )
    assert scene.named(5) == ["SEEN a", "SYNCED", "SEEN b", "SEEN a", "GONE b"]
    assert scene.asked[0]["resourceVersion"] == "5"
    assert scene.asked[0]["allowWatchBookmarks"] == "true"
    assert scene.asked[0]["labelSelector"] == "a=b"


def test_what_nobody_reads_is_not_kept(play: Play) -> None:
    entries = [pod(name, version) for name, version in (("a", 1), ("b", 6))]
    for entry in entries:
        entry["metadata"]["managedFields"] = [{"manager": "kubelet"}]
    scene, _ = play(answers(listed(5, entries[0])), [says(("ADDED", entries[1]))])
    found = [scene.next() for _ in range(3)]
    assert [sorted(entry["metadata"]) for verb, entry in found if verb == "SEEN"] == [
        ["name", "resourceVersion", "uid"]
    ] * 2


def test_a_closed_watch_goes_on_where_it_was(play: Play) -> None:
    bookmark = {"metadata": {"resourceVersion": "99"}}
    scene, _ = play(
        answers(listed(5)),
        [says(("ADDED", pod("a", 6)), ("BOOKMARK", bookmark)), says(("ADDED", pod("b", 100)))],
    )
    assert scene.named(3) == ["SYNCED", "SEEN a", "SEEN b"]
    assert [params["resourceVersion"] for params in scene.asked[:2]] == ["5", "99"]
    assert scene.listed == 1


def test_a_cut_watch_goes_on_where_it_was(play: Play) -> None:
    scene, _ = play(answers(listed(5)), [says(("ADDED", pod("a", 6)), cut=True), says(("MODIFIED", pod("a", 7)))])
    assert scene.named(3) == ["SYNCED", "SEEN a", "SEEN a"]
    assert [params["resourceVersion"] for params in scene.asked[:2]] == ["5", "6"]


def test_a_line_cut_in_the_middle_is_not_delivered(play: Play) -> None:
    def half(exchange: Exchange) -> None:
        exchange.begin()
        exchange.event("ADDED", pod("a", 6))
        exchange.chunk(b'{"type": "ADDED", "obj')
        exchange.cut()

    scene, _ = play(answers(listed(5)), [half, says(("ADDED", pod("b", 7)))])
    assert scene.named(3) == ["SYNCED", "SEEN a", "SEEN b"]


@pytest.mark.parametrize("how", ["http", "event"])
def test_a_forgotten_version_lists_again_and_tells_what_vanished(play: Play, how: str) -> None:
    def gone(exchange: Exchange) -> None:
        if how == "http":
            exchange.reply({"message": "too old"}, 410)
        else:
            says(("ERROR", {"kind": "Status", "code": 410, "message": "too old"}))(exchange)

    scene, _ = play(answers(listed(5, pod("a", 1), pod("b", 2)), listed(50, pod("b", 2), pod("c", 9))), [gone])
    expected = ["SEEN a", "SEEN b", "SYNCED", "GONE a", "SEEN c", "SYNCED"]
    assert scene.named(len(expected)) == expected


@pytest.mark.parametrize("code", [403, 404])
def test_a_refused_watch_continues(play: Play, code: int) -> None:
    refuse: Answer = lambda ex: ex.reply({"message": "no"}, code)  # noqa: E731
    scene, watch = play(answers(listed(5), listed(6), listed(7)), [refuse, refuse, says(("ADDED", pod("a", 8)))])
    heard = []
    while "SEEN a" not in heard:
        heard += scene.named(1)
    # Once, not with every attempt.
    assert heard.count("ERROR") == 1
    assert watch.is_alive()


@pytest.mark.parametrize("code", [401, 429, 500, 503])
def test_a_watch_goes_on_where_it_was_after_a_hiccup(play: Play, code: int) -> None:
    refuse: Answer = lambda ex: ex.reply({"message": "no"}, code)  # noqa: E731
    scene, _ = play(answers(listed(5)), [says(("ADDED", pod("a", 6))), refuse, says(("ADDED", pod("b", 8)))])
    # Nothing is printed, and nothing is listed again: that would add load to a busy server.
    assert scene.named(3) == ["SYNCED", "SEEN a", "SEEN b"]
    assert scene.listed == 1
    assert scene.asked[2]["resourceVersion"] == "6"


def test_a_server_that_stays_away_is_told_once(play: Play) -> None:
    refuse: Answer = lambda ex: ex.reply({"message": "no"}, 503)  # noqa: E731
    scene, _ = play(answers(listed(5)), [*[refuse] * 8, says(("ADDED", pod("b", 8)))])
    heard = [scene.next() for _ in range(3)]
    assert [verb for verb, _ in heard] == ["SYNCED", "ERROR", "SEEN"]
    assert "does not answer (HTTP 503)" in heard[1][1]["message"]


def test_the_wait_that_a_server_asks_for_is_kept(play: Play) -> None:
    refuse: Answer = lambda ex: ex.reply({"message": "no"}, 429, Retry_After="1")  # noqa: E731
    begun = time.monotonic()
    scene, _ = play(answers(listed(5)), [refuse, says(("ADDED", pod("b", 8)))])
    assert scene.named(2) == ["SYNCED", "SEEN b"]
    assert time.monotonic() - begun >= 1.0


def test_a_list_refused_is_told_and_tried_again(play: Play) -> None:
    lists: list[Answer] = [lambda ex: ex.reply({"message": "pods is forbidden"}, 403), *answers(listed(5, pod("a", 1)))]
    scene, _ = play(lists, [])
    verb, entry = scene.next()
    assert verb == "ERROR"
    assert "pods is forbidden" in entry["message"]
    assert scene.named(2) == ["SEEN a", "SYNCED"]


def test_a_repeated_version_is_delivered_once(play: Play) -> None:
    scene, _ = play(
        answers(listed(5, pod("a", 5))),
        [says(("ADDED", pod("a", 5)), ("MODIFIED", pod("a", 6)), ("MODIFIED", pod("a", 6)), ("ADDED", pod("z", 7)))],
    )
    assert scene.named(4) == ["SEEN a", "SYNCED", "SEEN a", "SEEN z"]


def test_late_and_repeated_news_of_an_object_are_not_delivered(play: Play) -> None:
    events = [("ADDED", pod("a", 6)), ("MODIFIED", pod("a", 10)), ("MODIFIED", pod("a", 9)), ("ADDED", pod("b", 8))]
    scene, _ = play(answers(listed(5)), [says(*events), says(("ADDED", pod("z", 11)))])
    assert scene.named(5) == ["SYNCED", "SEEN a", "SEEN a", "SEEN b", "SEEN z"]
    # 9 is later than 10 as text only; and late news do not throw the watch back.
    assert scene.asked[1]["resourceVersion"] == "10"


def test_late_news_do_not_bring_a_deleted_object_back(play: Play) -> None:
    events = [("ADDED", pod("a", 6)), ("DELETED", pod("a", 8)), ("MODIFIED", pod("a", 7)), ("DELETED", pod("a", 8))]
    scene, _ = play(answers(listed(5)), [says(*events, ("ADDED", pod("a", 9)), ("DELETED", pod("a", 8)))])
    # 9: it matches the selector again.
    assert scene.named(4) == ["SYNCED", "SEEN a", "GONE a", "SEEN a"]
    assert scene.heard.empty()


def test_versions_that_are_no_numbers_are_told_apart(play: Play) -> None:
    def opaque(version: str) -> Document:
        return {"metadata": {"name": "a", "uid": "u", "resourceVersion": version}}

    events = [("ADDED", opaque("x9")), ("MODIFIED", opaque("x9")), ("MODIFIED", opaque("x10"))]
    scene, _ = play(answers(listed(5)), [says(*events)])
    assert scene.named(3) == ["SYNCED", "SEEN a", "SEEN a"]


@pytest.mark.parametrize("line", [b"null", b"[]", b"{}", b'{"type": "ADDED", "object": {}}', b"<html>", b"\xff"])
def test_what_is_no_event_does_not_end_it(play: Play, line: bytes) -> None:
    def odd(exchange: Exchange) -> None:
        exchange.begin()
        exchange.chunk(line + b"\n")
        exchange.end()

    scene, _ = play(answers(listed(5)), [odd, says(("ADDED", pod("b", 7)))])
    assert scene.named(2) == ["SYNCED", "SEEN b"]


def test_a_restored_cluster_may_go_back_in_time(play: Play) -> None:
    unknown = ("ERROR", {"kind": "Status", "code": 504, "message": "Too large resource version"})
    lists = answers(listed(90, pod("a", 80)), listed(40, pod("a", 30)))
    scene, _ = play(lists, [says(unknown), says(("MODIFIED", pod("a", 41)))])
    assert scene.named(5) == ["SEEN a", "SYNCED", "SEEN a", "SYNCED", "SEEN a"]
    assert scene.asked[1]["resourceVersion"] == "40"


def test_many_events_in_one_packet_and_one_event_in_many(play: Play) -> None:
    def pieces(exchange: Exchange) -> None:
        import json

        lines = b"".join(
            json.dumps({"type": "ADDED", "object": pod(f"p{n}", 10 + n)}).encode() + b"\n" for n in range(50)
        )
        exchange.begin()
        exchange.chunk(lines[:3000])
        for start in range(3000, len(lines), 7):
            exchange.chunk(lines[start : start + 7])
        exchange.end()

    scene, _ = play(answers(listed(5)), [pieces])
    assert scene.named(51) == ["SYNCED", *[f"SEEN p{n}" for n in range(50)]]


def test_stop_wakes_a_silent_watch(play: Play) -> None:
    scene, watch = play(answers(listed(5)), [])
    assert scene.named(1) == ["SYNCED"]
    while not scene.watched:
        time.sleep(0.001)
    watch.stop()
    watch.join(5)
    assert not watch.is_alive()


def test_a_server_that_closes_at_once_is_not_asked_at_once(serve: Serve) -> None:
    scene = Scene(answers(listed(5)), [says()])
    _, kube = serve(scene.answer)
    watch = Watch(kube, PATH, {}, lambda verb, entry: None)
    watch.start()
    while not scene.watched:
        time.sleep(0.001)
    watch.join(1.0)
    watch.stop()
    watch.join(5)
    assert scene.watched <= 6


def test_backoff_grows_to_a_bound() -> None:
    assert 0.1 <= backoff(1) <= 0.4
    assert all(0.2 <= backoff(failures) <= 10.0 for failures in range(1, 40))
    assert min(backoff(30) for _ in range(20)) >= 5.0
