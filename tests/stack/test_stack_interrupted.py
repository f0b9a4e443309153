"""Whatever is killed, and however: the same command completes what was begun."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from bucket import Bucket
from plays import Play
from stacks import Stack

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import Clock

pytestmark = pytest.mark.slow


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Path]:
    """A named pipe at which a resource's creation waits."""
    path = tmp_path / "gate"
    os.mkfifo(path)
    yield path
    # What outlived its Terraform waits there still; nobody at it is an error.
    with contextlib.suppress(OSError):
        os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))


def begin(stack: Stack, gate: Path, **arguments: object) -> Play:
    """Start a run and wait until it is creating what waits at the gate."""
    stack.variables = {"command": f"cat {gate}"}
    stack.arguments["protected"] = ["terraform_data"]
    play = Play(stack.play(**arguments))
    play.shows("still creating terraform_data.cluster")
    return play


def process(stack: Stack) -> int:
    """Return the process number of the Terraform that applies."""
    return int((stack.data / "apply.jsonl.process").read_text())


def ended(stack: Stack) -> bool:
    return (stack.data / "apply.jsonl.process").read_text().startswith("ended")


def complete(stack: Stack, **arguments: object) -> None:
    """Run it again, with nothing to wait for, and see that everything is there once."""
    stack.variables = {}
    stack.run(**arguments)
    assert stack.resources() == [
        "module.network.terraform_data.this",
        "terraform_data.cluster",
        "terraform_data.nodes[0]",
    ]
    assert stack.run(**arguments).lines == ["plan: nothing to do"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda number: number.name)
def test_an_interrupted_play_lets_terraform_finish(stack: Stack, gate: Path, number: signal.Signals) -> None:
    play = begin(stack, gate)
    play.send(number)
    play.end(rc=None)
    assert not ended(stack)
    gate.write_text("go")
    complete(stack)
    assert (stack.data / "apply.jsonl.process").read_text() == "ended 0\n"


def test_the_next_run_follows_what_an_interrupted_one_left_at_work(stack: Stack, gate: Path) -> None:
    play = begin(stack, gate)
    play.send(signal.SIGKILL)
    play.end(rc=None)
    again = Play(stack.play(lock_timeout=0))
    again.shows(f"an interrupted run left Terraform running (process {process(stack)})")
    again.shows("[1/3] created module.network.terraform_data.this")
    again.shows("[1/3] still creating terraform_data.cluster")
    gate.write_text("go")
    text = again.end()
    assert "[3/3] created terraform_data.nodes[0]" in text
    assert "plan: nothing to do" in text


def test_a_killed_terraform_is_said_and_taken_up(stack: Stack, gate: Path, program: str) -> None:
    play = begin(stack, gate)
    os.kill(process(stack), signal.SIGKILL)
    text = play.end(rc=2)
    assert f"{program} apply: it was killed by signal 9. Run the same command again" in text
    # OpenTofu writes also a local state only from time to time: what it made is then imported.
    complete(stack)


def test_the_lock_of_a_killed_run_is_released(stack: Stack, gate: Path, bucket: Bucket) -> None:
    play = begin(stack, gate, backend=bucket.backend)
    os.kill(process(stack), signal.SIGKILL)
    play.end(rc=2)
    assert bucket.has(bucket.LOCK), "a killed Terraform cannot have given back its lock"
    stack.variables = {}
    again = stack.run(check=True, backend=bucket.backend)
    assert "a run of this machine was killed and left the state locked" in again.text
    assert not bucket.has(bucket.LOCK)


@pytest.fixture
def forgetful(stack: Stack, gate: Path, bucket: Bucket) -> Stack:
    """A stack of which the first resource is there and the state, for Terraform was killed, knows nothing."""
    stack.arguments["backend"] = bucket.backend
    play = begin(stack, gate)
    os.kill(process(stack), signal.SIGKILL)
    play.end(rc=2)
    stack.variables = {}
    return stack


def test_what_a_killed_run_created_and_could_not_write_is_imported(forgetful: Stack, bucket: Bucket) -> None:
    looked = forgetful.run(check=True)
    assert "would import module.network.terraform_data.this (" in looked.text
    assert not bucket.has(bucket.STATE)
    assert "importing module.network.terraform_data.this (" in forgetful.run().text
    complete(forgetful)


def test_what_a_killed_run_made_and_could_not_write_is_destroyed_too(forgetful: Stack) -> None:
    gone = forgetful.run(state="absent", allow_replace=["terraform_data"])
    assert gone.lines[-1] == "[1/1] destroyed module.network.terraform_data.this"
    assert forgetful.resources() == []


def test_a_state_that_could_not_be_written_is_written_by_the_next_run(stack: Stack, gate: Path, bucket: Bucket) -> None:
    play = begin(stack, gate, backend=bucket.backend)
    bucket.remove(bucket=True)
    gate.write_text("go")
    text = play.end(rc=2)
    assert "It is kept; the next run writes it first" in " ".join(text.split())
    assert (stack.data / "errored.tfstate").stat().st_mode & 0o777 == 0o600
    bucket.client.create_bucket(Bucket=bucket.NAME)
    again = stack.run(backend=bucket.backend)
    assert again.lines == ["wrote the state that the last run could not write", "plan: nothing to do"]
    assert not (stack.data / "errored.tfstate").exists()
    complete(stack, backend=bucket.backend)


def test_somebody_elses_lock_is_respected(stack: Stack, bucket: Bucket) -> None:
    held = {"ID": "4711", "Operation": "OperationTypeApply", "Who": "you@desktop", "Created": "2026-11-21T09:15:02.5Z"}
    bucket.write(bucket.LOCK, json.dumps(held))
    refused = stack.refused(backend=bucket.backend, lock_timeout=0.1)
    assert "you@desktop has locked the state for apply since 2026-11-21" in refused
    assert f"'{stack.data}/run force-unlock 4711'" in refused
    assert bucket.has(bucket.LOCK)
    assert not bucket.has(bucket.STATE)

    play = Play(stack.play(backend=bucket.backend, lock_timeout=120))
    play.shows("; waiting for it, for 2 min at most")
    bucket.remove()
    play.end()
    assert bucket.has(bucket.STATE)


def test_two_at_once_on_one_cluster(stack: Stack, gate: Path) -> None:
    first = begin(stack, gate)
    assert "still holds" in stack.refused(lock_timeout=0.5)
    second = Play(stack.play(lock_timeout=600))
    second.shows("another run is at work")
    gate.write_text("go")
    first.end()
    assert "plan: nothing to do" in second.end()


def test_two_clusters_at_once(stack: Stack, tmp_path: Path, gate: Path) -> None:
    other = Stack(tmp_path, "serve", stack.source)
    play = begin(stack, gate)
    other.run()
    assert len(other.resources()) == 3
    gate.write_text("go")
    play.end()
    assert len(stack.resources()) == 3


def test_a_run_that_takes_too_long_is_left_to_itself(stack: Stack, gate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now, begun = Clock.now, stack.data / "apply.jsonl.process"
    monkeypatch.setattr(Clock, "now", lambda clock: now(clock) + 1e5 * begun.exists())
    stack.variables = {"command": f"cat {gate}"}
    assert "timed out. Terraform continues in the background; the same command follows it" in stack.refused()
    monkeypatch.undo()
    gate.write_text("go")
    complete(stack)
