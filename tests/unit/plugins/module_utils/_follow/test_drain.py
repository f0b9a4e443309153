"""Pods that somebody stops, at a real server that forgets them as soon as they have ended."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest
from fakes.http import Answer, Exchange, Server

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import Clock
from ansible_collections.mlops.eks.plugins.module_utils._follow.drain import Drain, release_selector
from ansible_collections.mlops.eks.plugins.module_utils._kube import pods as pod_view
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Kube
from ansible_collections.mlops.eks.plugins.module_utils._logs.sinks import LogStore

Serve = t.Callable[[Answer], tuple[Server, Kube]]
Json = dict[str, t.Any]


def pod(version: int, phase: str, *, uid: str = "u", **state: t.Any) -> Json:
    return {
        "metadata": {"name": "x-1", "uid": uid, "resourceVersion": str(version)},
        "spec": {"containers": [{"name": "main", "image": "i"}], "terminationGracePeriodSeconds": 5},
        "status": {"phase": phase, "containerStatuses": [{"name": "main", "restartCount": 0, "state": state}]},
    }


RUNNING = pod(1, "Running")
ENDED = pod(7, "Failed", terminated={"exitCode": 143, "finishedAt": "2026-11-22T09:00:00Z"})


class Leaving:
    """A server whose pod is there at `listed`, and of which it tells `events` when it is let go."""

    def __init__(self, listed: list[Json], *events: tuple[str, Json]) -> None:
        self.listed, self.events, self.server = listed, events, t.cast(Server, None)

    def __call__(self, exchange: Exchange) -> None:
        if "watch" in exchange.params:
            exchange.begin()
            for kind, entry in self.events:
                exchange.event(kind, entry)
            self.server.closing.wait(20)
        else:
            exchange.reply(
                {"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "5"}, "items": self.listed}
            )


@pytest.fixture
def leave(serve: Serve, tmp_path: Path) -> t.Callable[..., tuple[Drain, list[str]]]:
    def begin(listed: list[Json], *events: tuple[str, Json]) -> tuple[Drain, list[str]]:
        leaving = Leaving(listed, *events)
        leaving.server, kube = serve(leaving)
        said: list[str] = []
        log_store = LogStore(directory=tmp_path / "logs")
        departure = Drain(kube, [RUNNING], [release_selector("x")], log_store, clock=Clock(), say=said.append)
        departure.complete()
        return departure, said

    return begin


Leave = t.Callable[..., tuple[Drain, list[str]]]


def codes(departure: Drain) -> list[int | None]:
    return [container.exit_code for one in departure.pods.values() for container in pod_view.containers(one)]


def test_how_a_pod_ended_is_kept_though_it_is_gone_at_once(leave: Leave) -> None:
    departure, said = leave([RUNNING], ("MODIFIED", ENDED), ("DELETED", ENDED))
    assert codes(departure) == [143]
    assert not any("still there" in line for line in said)


def test_a_pod_that_went_before_anybody_looked_is_not_waited_for(leave: Leave) -> None:
    departure, said = leave([])
    assert codes(departure) == [None]
    assert not any("still there" in line for line in said)


def test_another_pod_of_the_same_name_is_not_taken_for_it(leave: Leave) -> None:
    departure, _ = leave([pod(9, "Running", uid="other")])
    assert [one["metadata"]["uid"] for one in departure.pods.values()] == ["u"]
