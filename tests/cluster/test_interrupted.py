# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Killing anything, at any moment, costs a re-run of the same command and nothing else."""

from __future__ import annotations

import signal
from collections.abc import Callable

import pytest
from plays import Play, until
from proxy import relayed
from samples import consecutive, gated, job, shown_ticks, ticks
from space import Space

pytestmark = pytest.mark.cluster


WAYS: dict[str, Callable[[Play], None]] = {
    "SIGKILL": lambda play: play.send(signal.SIGKILL),
    "Ctrl-C": lambda play: play.send(signal.SIGINT),
    "SIGTERM": lambda play: play.send(signal.SIGTERM),
    "nobody reads it": Play.leave,
}


@pytest.mark.parametrize("way", WAYS)
def test_a_killed_controller_is_followed_by_the_next_one(space: Space, way: str) -> None:
    pipeline = space.pipeline(train=gated(), evaluate=job("echo c"))
    first = space.start("train", pipeline=pipeline)
    first.shows("tick 3")
    first.end_by(WAYS[way])
    begun = space.ledger()["train"]
    assert begun["outcome"] == "running"
    (before,) = space.get("jobs")

    second = space.start("train", pipeline=pipeline)
    second.shows("re-attached")
    space.open_gate()
    shown = second.end()

    assert "waiting to see whether it is alive" not in shown
    assert consecutive(ticks(space.log("train")))
    assert space.log("train")[-2] == "went"
    assert before["metadata"]["uid"] in (space.evidence("train") / "workload.yaml").read_text(encoding="utf-8")
    assert len(space.pods_ever()) == 2
    record = space.record("train")
    assert record["reattached"] is True
    # It began under the first controller.
    assert record["started"] == begun["started"]
    assert {step: entry["outcome"] for step, entry in space.ledger().items()} == {
        "train": "succeeded",
        "evaluate": "succeeded",
    }
    assert space.releases() == []


def test_a_second_controller_refuses_while_the_first_is_alive(space: Space) -> None:
    pipeline = space.pipeline(train=gated())
    first = space.start("train", pipeline=pipeline)
    first.shows("tick 1")

    refused = space.play("train", rc=2, pipeline=pipeline)

    assert "is following it for" in refused
    assert "stop.yml -e release=run" in refused
    space.open_gate()
    first.end()
    assert len(space.pods_ever()) == 1


def test_a_second_controller_waits_when_told_so_and_then_has_nothing_to_do(space: Space) -> None:
    pipeline = space.pipeline(train=gated())
    first = space.start("train", pipeline=pipeline)
    first.shows("tick 1")

    second = space.start("train", pipeline=pipeline, lock_timeout=600)
    second.shows("is locked by")
    space.open_gate()

    assert "changed=1" in first.end()
    assert "skipped: identical step succeeded" in second.end()
    assert len(space.pods_ever()) == 1


def test_another_recipe_does_not_replace_a_running_one_unless_told_so(space: Space) -> None:
    first = space.start("train", pipeline=space.pipeline(train=gated()))
    first.shows("tick 1")
    first.end_by(WAYS["SIGKILL"])
    pipeline = space.pipeline(train=job("echo other"))

    refused = space.play("train", rc=2, pipeline=pipeline)
    assert "it runs step 'train' since" in refused
    assert "stop.yml -e release=run" in refused
    assert "replace=true" in refused
    assert space.names("jobs") == ["data-process-run"]

    shown = space.play("train", pipeline=pipeline, replace=True)
    assert "uninstalling it first" in shown
    assert space.log("train")[0] == "other"
    assert len(space.pods_ever()) == 2


def test_the_api_server_may_go_away_for_a_while(space: Space) -> None:
    with relayed(space.kubeconfig, space.directory) as (relay, kubeconfig):
        inventory = space.write_inventory(
            {"east": {"kubeconfig": kubeconfig, "kube_namespace": space.namespace}}, "relayed.yml"
        )
        play = space.start("train", pipeline=space.pipeline(train=gated()), inventory=inventory)
        play.shows("tick 3")
        relay.cut()
        # Eight seconds of the job's own time, seen by another way.
        seen = len(_printed(space))
        until(lambda: len(_printed(space)) > seen + 40, "forty more lines")
        assert len(shown_ticks(play.text)) <= seen
        relay.restore()
        space.open_gate()
        play.end()

    assert consecutive(ticks(space.log("train")))
    assert space.log("train")[-2] == "went"
    assert space.record("train")["outcome"] == "succeeded"
    assert len(space.pods_ever()) == 1


def _printed(space: Space) -> list[int]:
    return ticks(space.kubectl("logs", "job/data-process-run").splitlines())


def test_a_job_that_ends_while_nobody_follows_is_not_run_again(space: Space) -> None:
    pipeline = space.pipeline(train=gated())
    first = space.start("train", pipeline=pipeline)
    first.shows("tick 1")
    first.end_by(WAYS["SIGKILL"])
    space.open_gate()
    until(lambda: space.get("jobs")[0]["status"].get("succeeded"), "the job succeeded")

    space.play("train", pipeline=pipeline)

    assert consecutive(ticks(space.log("train")))
    assert space.ledger()["train"]["outcome"] == "succeeded"
    assert len(space.pods_ever()) == 1
    assert space.releases() == []
