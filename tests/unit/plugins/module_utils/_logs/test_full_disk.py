"""Logs whose archive cannot be written for a while, on a real file system that is full."""

from __future__ import annotations

import os
import shutil
import threading
import time
import typing as t
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fakes.disk import Disk, mounted
from fakes.http import Answer, Exchange, Server

from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Kube
from ansible_collections.mlops.eks.plugins.module_utils._logs import archive, pool, reader
from ansible_collections.mlops.eks.plugins.module_utils._logs.console import Console
from ansible_collections.mlops.eks.plugins.module_utils._logs.offsets import DIRECTORY
from ansible_collections.mlops.eks.plugins.module_utils._logs.pool import LogPool
from ansible_collections.mlops.eks.plugins.module_utils._logs.sinks import Instance, LogStore, Sinks

Serve = t.Callable[[Answer], tuple[Server, Kube]]
ONE = Instance("p", "uid-1", "main")
_LINE = 200


class Node:
    """A kubelet with one container that goes on writing; `rotate` forgets what it wrote so far."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._lines: list[tuple[str, bytes]] = []
        self._from, self.wrote, self.ended, self.gone = 0, b"", False, False

    def write(self, count: int) -> None:
        with self._changed:
            for number in range(len(self._lines), len(self._lines) + count):
                stamp = f"2026-11-21T09:{number // 2400 % 60:02d}:{number // 40 % 60:02d}.{number % 40 * 1000000:09d}Z"
                line = f"line {number} ".encode().ljust(_LINE - 1, b".") + b"\n"
                self._lines.append((stamp, line))
                self.wrote += line
            self._changed.notify_all()

    def rotate(self) -> None:
        with self._changed:
            self._from = len(self._lines)

    def end(self) -> None:
        with self._changed:
            self.ended = True
            self._changed.notify_all()

    def answer(self, exchange: Exchange) -> None:
        if self.gone:
            exchange.reply({"message": 'pods "p" not found'}, 404)
            return
        since = exchange.params.get("sinceTime", "")[:19]
        exchange.begin()
        at, ended = self._from, False
        while not ended:
            with self._changed:
                while at == len(self._lines) and not (ended := self.ended or exchange.params["follow"] == "false"):
                    self._changed.wait(20)
                more, at = self._lines[at:], len(self._lines)
            for stamp, line in more:
                if stamp[:19] >= since:
                    exchange.chunk(f"{stamp} ".encode() + line)
        exchange.end()


def until(look: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + 20
    while not look():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


class Copy:
    """The log of that container on its way to a disk."""

    def __init__(self, serve: Serve, disk: Disk) -> None:
        self.node, self.disk = Node(), disk
        _, kube = serve(self.node.answer)
        self.console, self.shown = Console(lambda: None), list[str]()
        self.log_store = LogStore(directory=disk.path / "step" / "logs")
        self.logs = LogPool(kube, self.log_store, Sinks(console=self.console))
        self.logs.follow(ONE, source="p")

    @property
    def archived(self) -> bytes:
        return self.log.file.read_bytes() if self.log.file.exists() else b""

    @property
    def log(self) -> t.Any:
        return self.logs._logs[ONE]

    def reads(self) -> None:
        """Wait until everything that was written was read, whether it could be archived or not."""
        size = len(self.node.wrote)
        until(lambda: self.log.reached.size >= size and self._drained(), f"{self.log.reached} of {size} bytes")

    def _drained(self) -> bool:
        self.shown += [line for line in self.console.drain() if line.startswith("p | ")]
        return True

    def catches_up(self, *, without: int = 0) -> None:
        """Wait until all but so many lines are archived."""

        def caught_up() -> bool:
            self.logs.balance()
            return not self.log.behind and self.log.position.size == len(self.node.wrote) - without * _LINE

        until(caught_up, f"{self.log.position} of {len(self.node.wrote)} bytes")

    def ends(self, wait: Callable[[], bool] = lambda: False) -> str:
        self.node.end()
        self.logs.end(ONE)
        self.logs.close(lambda _: True, wait)
        self._drained()
        (found,) = self.logs.files().values()
        return found.gap


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    with mounted(tmp_path / "disk") as found:
        yield found


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "backoff", lambda failures: 0.001)
    for module in (reader, pool):
        monkeypatch.setattr(module, "RETRY", 0.05)
    monkeypatch.setattr(pool, "_CLOSE_TIMEOUT", 0.5)


@pytest.fixture
def copy(serve: Serve, disk: Disk) -> Copy:
    return Copy(serve, disk)


def test_following_goes_on_and_the_archive_is_whole_when_there_is_room(copy: Copy) -> None:
    copy.node.write(50)
    copy.reads()
    copy.disk.fill()
    for _ in range(20):
        copy.node.write(20)
        copy.reads()
    error = copy.log_store.storage.error
    assert error is not None
    assert str(error).startswith(f"{copy.log.file}: no space left on device (0.0 MiB free of 0 MiB). Free space there")
    assert copy.log.behind
    assert len(copy.archived) < len(copy.node.wrote)

    copy.disk.empty()
    copy.catches_up()
    assert copy.log_store.storage.error is None
    copy.node.write(30)
    copy.reads()
    assert copy.ends() == ""
    assert copy.archived == copy.node.wrote
    # On the terminal every line was seen once.
    assert [int(line.split()[3]) for line in copy.shown] == list(range(480))
    assert not (copy.log.file.parent.parent / DIRECTORY).exists()


def test_what_the_kubelet_rotated_away_meanwhile_is_counted(copy: Copy) -> None:
    copy.node.write(10)
    copy.reads()
    copy.disk.fill()
    copy.node.write(100)
    copy.reads()
    kept = copy.log.position
    copy.node.rotate()
    copy.node.write(40)
    copy.reads()
    copy.disk.empty()
    copy.catches_up(without=110 - kept.lines)
    missing = 110 - kept.lines
    assert missing > 0
    assert copy.ends() == (
        f"{missing} lines ({missing * _LINE} bytes) are missing: they could not be kept (no space left on device) "
        "before the kubelet removed them"
    )
    assert copy.archived == copy.node.wrote[: kept.size] + copy.node.wrote[110 * _LINE :]


def test_the_end_of_a_log_is_waited_for(copy: Copy) -> None:
    copy.node.write(10)
    copy.reads()
    copy.disk.fill()
    copy.node.write(300)
    copy.reads()
    looks = 0

    def wait() -> bool:
        nonlocal looks
        looks += 1
        if looks == 3:
            copy.disk.empty()
        return True

    assert copy.ends(wait) == ""
    assert looks >= 3
    assert copy.archived == copy.node.wrote


def test_an_archive_that_is_given_up_reports_its_gap(copy: Copy) -> None:
    copy.node.write(10)
    copy.reads()
    copy.disk.fill()
    copy.node.write(300)
    copy.reads()
    kept = copy.log.position
    assert copy.ends() == (
        f"{310 - kept.lines} lines ({310 * _LINE - kept.size} bytes) are missing: they could not be kept (no space "
        "left on device) before the kubelet removed them"
    )
    assert copy.log_store.storage.error is None
    # The next controller on this machine goes on there.
    assert (copy.log.file.parent.parent / DIRECTORY / copy.log.file.name).read_text().split()[1] == str(kept.size)


def test_a_pod_that_goes_meanwhile_is_not_waited_for(copy: Copy) -> None:
    copy.node.write(10)
    copy.reads()
    copy.disk.fill()
    copy.node.write(300)
    copy.reads()
    kept = copy.log.position
    copy.node.gone = True
    assert copy.ends(lambda: True).startswith(f"{310 - kept.lines} lines ")


def test_a_disk_that_is_full_from_the_beginning(disk: Disk, serve: Serve) -> None:
    disk.fill()
    copy = Copy(serve, disk)
    copy.node.write(100)
    copy.reads()
    assert copy.archived == b""
    disk.empty()
    copy.catches_up()
    assert copy.ends() == ""
    assert copy.archived == copy.node.wrote
    assert len(copy.shown) == 100


def test_a_directory_that_is_removed_is_written_again(copy: Copy) -> None:
    copy.node.write(100)
    copy.reads()
    shutil.rmtree(copy.disk.path / "step")
    copy.node.write(10)
    copy.reads()
    assert copy.ends() == ""
    assert copy.archived == copy.node.wrote
    assert len(copy.shown) == 110


def test_what_the_disk_drops_when_it_is_synced_is_read_again(copy: Copy, monkeypatch: pytest.MonkeyPatch) -> None:
    real, failures = os.fsync, iter([OSError(28, "No space left on device")])

    def fsync(descriptor: int) -> None:
        error = next(failures, None)
        if error:
            # A network file system that was full forgets what it had taken.
            os.ftruncate(descriptor, 0)
            raise error
        real(descriptor)

    monkeypatch.setattr(archive.os, "fsync", fsync)
    copy.node.write(100)
    copy.reads()
    assert copy.ends(lambda: True) == ""
    assert copy.archived == copy.node.wrote


def test_names_that_are_too_long_for_a_file_are_cut_and_stay_different(serve: Serve, tmp_path: Path) -> None:
    node = Node()
    _, kube = serve(node.answer)
    node.write(3)
    node.end()
    logs = LogPool(kube, LogStore(directory=tmp_path / "logs"), Sinks())
    names = ["c" * 62 + last for last in "ab"]
    for name in names:
        logs.follow(Instance("p" * 253, "u", name))
    logs.close(lambda _: True)
    files = sorted(path.name for path in (tmp_path / "logs").iterdir())
    assert [(len(name), name.endswith(".log")) for name in files] == [(240, True)] * 2
    assert [(file.lines, file.gap) for file in logs.files().values()] == [(3, "")] * 2
