# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""The wire between a controller and its cluster: every request stops at a gate before and after it is carried out.

What a controller has done to a cluster is the sequence of its requests. To end it between any two of them, and nowhere
else, is therefore to try every state it can leave behind.
"""

from __future__ import annotations

import contextlib
import typing as t
from collections.abc import Callable, Iterator
from pathlib import Path

import yaml
from front import Front, Visit, pieces


class Moment(t.NamedTuple):
    """One request at the gate: `done` tells whether the cluster has carried it out."""

    method: str
    path: str
    body: str
    done: bool


# Returns whether the request may pass; one that is held back is lost with its connection.
Gate = Callable[[Moment], bool]


class Wire:
    """A plain HTTP front of the API server at `kubeconfig`; `gate` is asked about every request, twice."""

    def __init__(self, kubeconfig: str) -> None:
        self.gate: Gate = lambda _: True
        self.front = Front(kubeconfig, self._relay)

    def _relay(self, visit: Visit, body: bytes) -> None:
        """Carry one request to the cluster and its answer back, unless the gate holds either."""
        moment = Moment(visit.command, visit.path, body.decode(errors="replace"), done=False)
        if not self.gate(moment):
            visit.close_connection = True
            return
        with self.front.ask(visit, body) as answer:
            if self.gate(moment._replace(done=True)):
                visit.pass_back(answer, pieces(answer))
            else:
                visit.close_connection = True


@contextlib.contextmanager
def wired(kubeconfig: str, directory: Path) -> Iterator[tuple[Wire, str]]:
    """Yield a wire to a cluster, and the path of a kubeconfig that leads through it."""
    document = yaml.safe_load(Path(kubeconfig).read_text(encoding="utf-8"))
    wire = Wire(kubeconfig)
    document["clusters"][0]["cluster"] = {"server": wire.front.url}
    document["users"][0]["user"] = {}
    path = directory / "wired.kubeconfig"
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    try:
        yield wire, str(path)
    finally:
        wire.front.close()
