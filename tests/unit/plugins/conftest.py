"""What the tests of the engine share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fakes.clock import FakeClock
from fakes.http import Answer, Server

from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Kube

Serve = Callable[[Answer], tuple[Server, Kube]]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def serve(tmp_path: Path, clock: FakeClock) -> Iterator[Serve]:
    """Start a real server with the given answer, and a client of it whose waits cost nothing."""
    started: list[Server] = []

    def begin(answer: Answer) -> tuple[Server, Kube]:
        server = Server(answer)
        started.append(server)
        return server, Kube(kubeconfig=server.kubeconfig(tmp_path), context=None, namespace="team", clock=clock)

    yield begin
    for server in started:
        server.close()
