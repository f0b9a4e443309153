"""ansible-playbook ends when its worker is killed, and only then."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import typing as t
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[3]
# Plays ansible-playbook and its worker; both wait, the one for the other, for ever if need be.
PLAY = """
import multiprocessing, sys, time
sys.path.insert(0, {tests!r})
import conftest
from ansible_collections.mlops.eks.plugins.plugin_utils.dead_worker import end_play_if_worker_dies

def work():
    with end_play_if_worker_dies(0.2):
        print(multiprocessing.current_process().pid, flush=True)
        sys.stdin.read(1) if {ends} else time.sleep(600)

worker = multiprocessing.get_context("fork").Process(target=work)
worker.start()
worker.join()
print("ended", flush=True)
time.sleep({then})
"""


@pytest.fixture
def play(request: pytest.FixtureRequest) -> Iterator[subprocess.Popen[str]]:
    """The play and the first line of it: the worker's process id."""
    text = PLAY.format(tests=str(TESTS), **request.param)
    with subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


@pytest.mark.parametrize("play", [{"ends": False, "then": 600}], indirect=True)
def test_a_killed_worker_ends_its_play(play: subprocess.Popen[str]) -> None:
    output = t.cast(t.IO[str], play.stdout)
    os.kill(int(output.readline()), signal.SIGKILL)
    assert output.readline() == "ended\n"
    assert play.wait(30) == -signal.SIGTERM


@pytest.mark.parametrize("play", [{"ends": True, "then": 1.0}], indirect=True)
def test_a_worker_that_has_ended_is_let_go(play: subprocess.Popen[str]) -> None:
    # Standard input of a worker is empty.
    assert play.wait(30) == 0
