"""Commands are followed with small programs in the place of Terraform; with Terraform itself: tests/stack."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import Clock
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import CommandError
from ansible_collections.mlops.eks.plugins.module_utils._terraform import process
from ansible_collections.mlops.eks.plugins.module_utils._terraform.process import Ended, Job

Run = Callable[..., tuple[Ended, list[str]]]
_LIMIT = 60.0


@pytest.fixture
def lock(tmp_path: Path) -> Iterator[int]:
    with (tmp_path / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file.fileno()


class Late(Clock):
    """A clock that jumps when a program has said that it is ready, which takes a busy machine a while."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__()
        self._lines = lines

    def now(self) -> float:
        return super().now() + (_LIMIT if "ready" in self._lines else 0.0)


@pytest.fixture
def run(tmp_path: Path, lock: int) -> Run:
    """Follow a command; return how it ended and its lines. The time of one that is `late` is up when it is ready."""

    def begin(argv: list[str], *, late: bool = False, looks_only: bool = False) -> tuple[Ended, list[str]]:
        lines: list[str] = []
        clock = Late(lines) if late else Clock()
        job = Job(argv, tmp_path, os.environ, tmp_path / "log", lock, clock.now() + _LIMIT, looks_only)
        return process.follow(job, clock, lines.append, lambda: None), lines

    return begin


# As Terraform does, and a shell cannot: it minds a SIGINT that was ignored when it was started.
PROGRAM = """
import os, signal, sys, time
asked = []
signal.signal(signal.SIGINT, lambda *_: asked.append("stopped"))
print("ready", flush=True)
while not os.path.exists("go") or asked != sys.argv[1:]:
    time.sleep(0.02)
open("state", "w").write(" ".join(asked))
print("written", flush=True)
sys.exit(1)
"""
UNDISTURBED = [sys.executable, "-c", PROGRAM]
STOPPED = [*UNDISTURBED, "stopped"]


def wait_until(look: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not look():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def is_locked(tmp_path: Path) -> bool:
    with (tmp_path / "lock").open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def test_every_line_is_passed_on_and_kept(run: Run, tmp_path: Path) -> None:
    ended, lines = run(["/bin/sh", "-c", "echo one; echo two >&2; printf '\\377three\\n'; exit 3"])
    assert ended == Ended(3)
    assert lines == ["one", "two", "\ufffdthree"]
    assert (tmp_path / "log").read_bytes() == b"one\ntwo\n\xffthree\n"
    assert not process.was_killed(tmp_path / "log")


def test_a_signal_that_ended_it_is_told(run: Run, tmp_path: Path) -> None:
    ended, _ = run(["/bin/sh", "-c", "kill -9 $$"])
    assert ended.signal == signal.SIGKILL
    assert process.was_killed(tmp_path / "log")


def test_what_only_looks_is_told_to_stop_when_the_time_is_up(run: Run, tmp_path: Path) -> None:
    (tmp_path / "go").touch()
    ended, lines = run(STOPPED, late=True, looks_only=True)
    assert ended == Ended(1, timed_out=True)
    assert lines == ["ready", "written"]


def test_one_that_does_not_stop_is_not_killed(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "STOPPING", 0.5)
    ended, _ = run(STOPPED, late=True, looks_only=True)
    assert (ended.timed_out, ended.stopped) == (True, False)
    assert process.running(tmp_path / "log")
    (tmp_path / "go").touch()
    wait_until(lambda: not process.running(tmp_path / "log"))
    assert (tmp_path / "state").exists()


def test_what_changes_something_is_left_to_itself_when_the_time_is_up(run: Run, tmp_path: Path) -> None:
    ended, _ = run(UNDISTURBED, late=True)
    assert (ended.timed_out, ended.stopped) == (True, False)
    (tmp_path / "go").touch()
    wait_until(lambda: not process.running(tmp_path / "log"))
    assert (tmp_path / "state").read_text() == ""


CONTROLLER = """
import fcntl, os, sys
from pathlib import Path
sys.path.insert(0, "tests")
import conftest
from ansible_collections.mlops.eks.plugins.module_utils._core.clock import Clock
from ansible_collections.mlops.eks.plugins.module_utils._terraform.process import Job, follow
there = Path(sys.argv[1])
with (there / "lock").open("w") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    job = Job(sys.argv[3:], there, os.environ, there / "log", lock.fileno(), 1e12, sys.argv[2] == "looks")
    follow(job, Clock(), lambda line: print(line, flush=True), lambda: None)
"""


@pytest.mark.parametrize(("what", "program", "got"), [("looks", STOPPED, "stopped"), ("changes", UNDISTURBED, "")])
def test_it_outlives_its_controller_and_holds_the_lock_meanwhile(
    what: str, program: list[str], got: str, tmp_path: Path
) -> None:
    root = Path(__file__).resolve().parents[5]
    command = [sys.executable, "-c", CONTROLLER, str(tmp_path), what, *program]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True) as controller:
        assert controller.stdout is not None
        assert controller.stdout.readline() == "ready\n"
        controller.kill()
    assert process.running(tmp_path / "log")
    assert is_locked(tmp_path)
    assert not (tmp_path / "state").exists()
    (tmp_path / "go").touch()
    wait_until(lambda: not is_locked(tmp_path))
    assert (tmp_path / "state").read_text() == got
    assert not process.was_killed(tmp_path / "log")


def test_a_record_of_a_machine_that_died_is_a_kill(tmp_path: Path) -> None:
    assert not process.was_killed(tmp_path / "log")
    (tmp_path / "log.process").write_text("4194305\n")
    assert process.was_killed(tmp_path / "log")
    assert not process.running(tmp_path / "log")


def test_a_short_command_that_fails_tells_why(tmp_path: Path) -> None:
    script = "echo '│ Error: Failed to load state' >&2; exit 1"
    with pytest.raises(CommandError, match=r"^sh -c .*: Error: Failed to load state$") as failed:
        process.ask(["/bin/sh", "-c", script], cwd=tmp_path, env=os.environ)
    assert failed.value.details["rc"] == 1
    assert process.ask(["/bin/sh", "-c", "echo fine"], cwd=tmp_path, env=os.environ) == "fine\n"
