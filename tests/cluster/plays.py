# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Plays run as a user runs them, and the programs beside them."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
import typing as t
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# A shell lets what it starts in the background ignore Ctrl-C, and that is inherited.
_HEEDS_CTRL_C = ("env", "--default-signal=INT")
# Longer than anything here takes on a machine with ten times as much to do as it can; a test that meets it has failed.
PATIENCE = 180.0


def until[T](look: Callable[[], T], what: str, seconds: float = PATIENCE) -> T:
    """Return the first true result of `look`."""
    deadline = time.monotonic() + seconds
    while not (found := look()):
        if time.monotonic() > deadline:
            raise AssertionError(f"after {seconds:g} s still not: {what}")
        time.sleep(0.05)
    return found


def ansible_playbook() -> str:
    """Return the program of the environment the tests run in."""
    return str(Path(sys.executable).parent / "ansible-playbook")


def kubectl_binary() -> str:
    """Return the kubectl this project built, or the one on PATH."""
    return _built("kubectl")


def helm_binary() -> str:
    """Return the Helm the plays use."""
    return os.environ.get("MLOPS_EKS_HELM") or _built("helm")


def _built(program: str) -> str:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    built = Path(os.environ.get("MLOPS_EKS_CACHE") or Path(base) / "mlops-eks") / "bin" / program
    return str(built) if built.exists() else program


def _parents() -> dict[int, int]:
    """Return the parent of every process that has not ended."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                state, parent, *_ = (entry / "stat").read_text().rsplit(")", 1)[1].split()
                found |= {int(entry.name): int(parent)} if state != "Z" else {}
    return found


class Play:
    """One running `ansible-playbook`; `text` is what it has printed so far."""

    def __init__(self, command: list[str]) -> None:
        self.text = ""
        self._left = False
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            [*_HEEDS_CTRL_C, *command], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, start_new_session=True, errors="replace",
        )  # fmt: skip
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        with t.cast(t.IO[str], self.process.stdout) as output:
            for line in output:
                self.text += line
                if self._left:
                    return

    def leave(self) -> None:
        """Read the next line, as `| head` does, and close the pipe."""
        self._left = True
        self._reader.join(PATIENCE)

    def shows(self, text: str, seconds: float = PATIENCE) -> None:
        """Wait until the play has printed `text`."""
        deadline = time.monotonic() + seconds
        while text not in self.text:
            if not self._reader.is_alive():
                assert text in self.text, f"the play ended without {text!r}:\n{self.text}"
            assert time.monotonic() < deadline, f"after {seconds:g} s no {text!r} in:\n{self.text}"
            time.sleep(0.05)

    def send(self, number: signal.Signals) -> None:
        """Send a signal to its process group, as a terminal or the kernel does."""
        os.killpg(self.process.pid, number)

    @property
    def family(self) -> set[int]:
        """The processes of the play: itself and all its descendants, as workers and Helm have groups of their own."""
        parents, found = _parents(), {self.process.pid}
        while more := {child for child, parent in parents.items() if parent in found} - found:
            found |= more
        return found

    def send_all(self, number: signal.Signals) -> None:
        """Send a signal to all processes of the play, as sleep or loss of a machine does."""
        for pid in sorted(self.family, reverse=True):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def kill(self) -> None:
        """Kill all processes at once, including Helm, as the end of a container or machine does."""
        if self.process.poll() is None:
            # What stands still cannot start another process meanwhile.
            os.kill(self.process.pid, signal.SIGSTOP)
            self.send_all(signal.SIGKILL)

    def end_by(self, act: Callable[[Play], None]) -> None:
        """Interrupt the play by `act`, and wait until none of its workers is left.

        A worker notices within a second or so that its play is gone; until then it is alive, and holds its locks.
        """
        workers = [pid for pid, parent in _parents().items() if parent == self.process.pid]
        act(self)
        self.end(rc=None)
        until(lambda: not [pid for pid in workers if pid in _parents()], "the workers have ended")

    def end(self, rc: int | None = 0, seconds: float = 2 * PATIENCE) -> str:
        """Wait for the end, check the exit code (`None`: any but 0) and return everything it printed."""
        try:
            found = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"still running after {seconds:g} s:\n{self.text}") from None
        self._reader.join(30)
        assert "Traceback" not in self.text, self.text
        assert found == rc if rc is not None else found != 0, f"exit code {found}:\n{self.text}"
        return self.text
