# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""A run whose evidence goes to a disk that is full: nothing is lost, and its pods stay until all of it is kept."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from fakes.disk import Disk, mounted
from plays import Play
from samples import GATE, Json, job
from space import Space

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

_FIRST, _ALL = 100, 100000
_FULL = "no space left on device (0.0 MiB free of 1 MiB)"


def counter() -> Json:
    """A Job that counts to `_FIRST`, stands at its gate, and counts on; silent for a moment at its end."""
    return job(f"seq 1 {_FIRST}", GATE, f"seq {_FIRST + 1} {_ALL}", "sleep 2")


@pytest.fixture
def disk(space: Space) -> Iterator[Disk]:
    with mounted(space.runs, "size=1m") as found:
        yield found


def archived(space: Space) -> bytes:
    (file,) = (space.evidence("train") / "logs").iterdir()
    return file.read_bytes()


def on_node(space: Space) -> Path:
    """Return the file on its node that the log of the only pod is in."""
    (pod,) = space.get("pods")
    name = "_".join((space.namespace, pod["metadata"]["name"], pod["metadata"]["uid"]))
    (log,) = (Path(space.kubeconfig).parent / "pod-logs" / name).glob("*/0.log")
    return log


def written(log: Path) -> bytes:
    """Return what a container wrote, of the file on its node: each line has its time, its stream and a flag."""
    return b"".join(line.split(b" ", 3)[3] for line in log.read_bytes().splitlines(keepends=True))


def fills_up(space: Space, disk: Disk) -> Play:
    """Return a play whose disk is full, and whose workload has ended."""
    play = space.start("train", pipeline=space.pipeline(train=counter()))
    play.shows(f"| {_FIRST}\n")
    disk.fill()
    space.open_gate()
    play.shows(f"{_FULL}; following goes on")
    play.shows(f"{_FULL}; the step has ended; its pods stay until the evidence is whole")
    assert "Free space there." in play.text
    return play


def stays(space: Space) -> bytes:
    """Nothing is removed, and nothing is written down as done; return what the container wrote."""
    assert space.releases() == ["run"]
    assert [pod["status"]["phase"] for pod in space.get("pods")] == ["Succeeded"]
    assert space.ledger()["train"]["outcome"] == "running"
    return written(on_node(space))


def is_whole(space: Space, log: bytes) -> None:
    assert archived(space) == log
    assert len(log.splitlines()) >= _ALL
    record = space.record("train")
    assert (record["outcome"], record["pods"][0]["containers"][0]["log_gap"]) == ("succeeded", "")
    assert space.ledger()["train"]["outcome"] == "succeeded"
    assert (space.releases(), space.names("jobs"), len(space.pods_ever())) == ([], [], 1)


def test_the_pods_stay_until_there_is_room_for_their_logs(space: Space, disk: Disk) -> None:
    play = fills_up(space, disk)
    log = stays(space)
    disk.resize("size=16m")
    said = play.end()
    assert "the evidence can be written again" in said
    is_whole(space, log)
    assert list(space.runs.glob("*/report.html"))


def test_who_does_not_wait_goes_on_later(space: Space, disk: Disk) -> None:
    play = fills_up(space, disk)
    play.end_by(lambda one: one.send(signal.SIGINT))
    stays(space)
    # Where there is still no room it is said at once, and nothing is touched.
    refused = space.play("train", rc=2, pipeline=space.directory / "run")
    assert f"{_FULL}. Free space there. Or set 'runs_dir' to another directory. Nothing was changed." in refused
    log = stays(space)
    disk.resize("size=16m")
    assert "re-attached" in space.play("train", pipeline=space.directory / "run")
    is_whole(space, log)


def test_a_run_is_stopped_with_its_evidence_on_another_disk(space: Space, disk: Disk) -> None:
    play = fills_up(space, disk)
    refused = space.play("stop", rc=2, release="run")
    assert f"{_FULL}. Free space there. Or set 'runs_dir' to another directory, or 'evidence' to false." in refused
    log, other = stays(space), space.directory / "other"
    assert "stopped train" in space.play("stop", release="run", runs_dir=other)
    assert "stopped from" in play.end(2)
    (found,) = other.glob("*/east/run/logs/*.log")
    assert found.read_bytes() == log
    assert (space.releases(), space.ledger()["train"]["outcome"]) == ([], "cancelled")


def test_nothing_is_installed_where_no_evidence_can_be_kept(space: Space, disk: Disk) -> None:
    disk.fill()
    said = space.play("train", rc=2, pipeline=space.pipeline(train=job("true")))
    assert "no space left on device (0.0 MiB free of 1 MiB). Free space there. Or set 'runs_dir'" in said
    assert (said.count("fatal: "), said.count("Errno"), said.count("report | ")) == (1, 0, 0)
    disk.empty()
    disk.resize("ro")
    said = space.play("train", rc=2, pipeline=space.pipeline(train=job("true")))
    assert "the file system is read-only. Mount it writable." in said
    assert (space.releases(), space.ledger(), space.pods_ever()) == ([], {}, set())


def test_a_report_that_cannot_be_written_does_not_hide_how_the_run_ended(space: Space, disk: Disk) -> None:
    page = space.runs / "mine" / "report.html"
    page.mkdir(parents=True)
    pipeline = space.pipeline(train=job("exit 3", backoff_limit=0))
    said = space.play("train", rc=2, pipeline=pipeline, run_id="mine")
    assert f"report | mine | not written: {page}: it is a directory. Remove what is in the way." in said
    assert (said.count("fatal: "), "exit code 3" in said) == (1, True)

    page.rmdir()
    disk.fill()
    said = reported(space, rc=2)
    assert f"{page.parent}/" in said
    assert f"{_FULL}. Free space there." in said
    assert "Errno" not in said
    disk.empty()
    reported(space)
    assert page.is_file()


def reported(space: Space, rc: int = 0) -> str:
    task = {"mlops.eks.run_report": {"runs_dir": str(space.runs), "run_id": "mine"}}
    path = space.directory / "report.yml"
    path.write_text(yaml.safe_dump([{"hosts": "clusters", "gather_facts": False, "tasks": [task]}]), encoding="utf-8")
    return space.play(path, rc=rc)


def test_what_the_kubelet_rotated_away_meanwhile_is_counted_and_reported(space: Space, disk: Disk) -> None:
    play = fills_up(space, disk)
    log, rest = stays(space), 1000
    # What the kubelet serves of a log that was rotated.
    file = on_node(space)
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[-rest:]))
    disk.resize("size=16m")
    said = play.end()

    found = archived(space)
    gap = space.record("train")["pods"][0]["containers"][0]["log_gap"]
    missing = len(log.splitlines()) - len(found.splitlines())
    assert missing > 1000
    assert gap == (
        f"{missing} lines ({len(log) - len(found)} bytes) are missing: they could not be kept (no space left on "
        "device) before the kubelet removed them"
    )
    kept = len(found.splitlines()) - rest
    assert found.splitlines() == [*log.splitlines()[:kept], *log.splitlines()[-rest:]]
    assert f"): {gap}" in said
    (page,) = space.runs.glob("*/report.html")
    assert f"): {gap}" in page.read_text(encoding="utf-8")
