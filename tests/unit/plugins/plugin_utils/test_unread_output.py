"""A process whose output nobody reads any more is known, and no other is taken for one."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import typing as t
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ansible_collections.mlops.eks.plugins.plugin_utils.unread_output import is_unread

TESTS = Path(__file__).parents[3]
# Plays ansible-playbook, which waits for a worker that watches it.
PLAY = """
import multiprocessing, sys, time
sys.path.insert(0, {tests!r})
import conftest
from ansible_collections.mlops.eks.plugins.plugin_utils import live

def work():
    live._exit_with_parent()
    print("works", flush=True)
    time.sleep(600)

worker = multiprocessing.get_context("fork").Process(target=work)
worker.start()
worker.join()
"""


@contextmanager
def printing_to(output: t.Any) -> Iterator[int]:
    with subprocess.Popen(["sleep", "600"], stdout=output) as process:
        try:
            yield process.pid
        finally:
            process.kill()


def test_a_pipe_is_unread_when_its_reader_is_gone() -> None:
    reader, writer = os.pipe()
    with printing_to(writer) as process:
        os.close(writer)
        assert not is_unread(process)
        os.close(reader)
        assert is_unread(process)


def test_a_named_pipe_is_unread_when_its_reader_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with path.open("wb") as writer, printing_to(writer) as process:
        assert not is_unread(process)
        os.close(reader)
        assert is_unread(process)


def test_what_is_no_pipe_is_not_unread(tmp_path: Path) -> None:
    with (tmp_path / "log").open("wb") as file, printing_to(file) as process:
        assert not is_unread(process)
    left, right = socket.socketpair()
    with left, right, printing_to(right) as process:
        assert not is_unread(process)


def test_a_process_that_is_gone_is_not_unread() -> None:
    with printing_to(subprocess.DEVNULL) as process:
        pass
    assert not is_unread(process)


def test_a_play_that_nobody_reads_ends() -> None:
    program = [sys.executable, "-c", PLAY.format(tests=str(TESTS))]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as play:
        output = t.cast(t.IO[str], play.stdout)
        try:
            assert output.readline() == "works\n"
            output.close()
            assert play.wait(30) != 0
        finally:
            play.kill()
