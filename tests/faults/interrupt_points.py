# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Where a controller is killed: the boundaries of its phases, each known by one request or by one line of output."""

from __future__ import annotations

import re
from dataclasses import dataclass

from wire import Moment

RANDOM = "random"
SERVE = "serve"
_BATCH = ("prepare", "flaky", "train")
ALL = (*_BATCH, SERVE)
_WORKLOAD = r"/(jobs|mpijobs|deployments)"
_LEDGER = r"/configmaps(/mlops-eks-run)?\b"
_RELEASE = r"/secrets/sh\.helm\.release\."


@dataclass(frozen=True, kw_only=True)
class Point:
    """One boundary: `said` in the output, or a request `method path` with `body`, before or after it is `done`."""

    means: str
    steps: tuple[str, ...] = ALL
    said: str = ""
    method: str = ""
    path: str = ""
    body: str = ""
    done: bool = True

    @property
    def at_random(self) -> bool:
        """Whether only the time decides."""
        return not self.method and not self.said

    def is_at(self, moment: Moment) -> bool:
        """Return whether `moment` is this boundary."""
        return bool(
            self.method
            and self.done is moment.done
            and re.fullmatch(self.method, moment.method)
            and re.search(self.path, moment.path)
            and re.search(self.body, moment.body)
        )


def _ledger(outcome: str) -> str:
    """Return a pattern of a ledger entry, which is JSON within JSON."""
    return rf'outcome\\": \\"({outcome})\\"'


def _marked(status: str) -> str:
    """Return a pattern of the label that Helm sets; its requests are in protobuf."""
    return rf"status\x12.{status}"


# In the order in which a step passes them.
POINTS: dict[str, Point] = {
    "start": Point(means="before it has done anything", said="Read the pipeline and check", steps=("prepare",)),
    "before-lock": Point(means="before it takes the lock", method="POST", path=r"/leases$", done=False),
    "locked": Point(means="once it holds the lock", method="POST", path=r"/leases$"),
    "begun": Point(
        means="once the ledger says that the step runs",
        method="POST|PATCH",
        path=_LEDGER,
        body=_ledger("running"),
    ),
    "installing": Point(means="before Helm has stored anything", method="POST", path=r"/secrets(\?|$)", done=False),
    "stored": Point(means="once Helm has stored the release, nothing else", method="POST", path=r"/secrets(\?|$)"),
    "created": Point(means="once the workload is created", method="PATCH", path=rf"{_WORKLOAD}/.*fieldManager=helm"),
    "unmarked": Point(
        means="before Helm marks the release as deployed",
        method="PUT",
        path=_RELEASE,
        body=_marked("deployed"),
        done=False,
    ),
    "installed": Point(means="once Helm has installed it", method="PUT", path=_RELEASE, body=_marked("deployed")),
    "following": Point(means="while it begins to watch", method="GET", path=r"/pods\?.*watch"),
    "evidence": Point(
        means="when the workload has ended and its evidence is kept, before the ledger knows",
        method="PATCH",
        path=_LEDGER,
        body=_ledger("succeeded|ready"),
        done=False,
    ),
    "settled": Point(
        means="once the ledger knows the end", method="PATCH", path=_LEDGER, body=_ledger("succeeded|ready")
    ),
    "uninstalling": Point(
        means="once Helm has begun to uninstall",
        method="PUT",
        path=_RELEASE,
        body=_marked("uninstalling"),
        steps=_BATCH,
    ),
    "deleted": Point(means="once the workload is deleted", method="DELETE", path=rf"{_WORKLOAD}/", steps=_BATCH),
    "uninstalled": Point(means="once Helm has uninstalled it", method="DELETE", path=_RELEASE, steps=_BATCH),
    "unlocked": Point(means="once it has given the lock back", method="DELETE", path=r"/leases/"),
    "report": Point(means="before it writes the report", said="4/4: serve]", steps=(SERVE,)),
    RANDOM: Point(means="at a random moment", steps=("",)),
}
# Points that one step can pass in turn, a kill at each: in every way, Helm may outlive the controller and go on.
CHAINS: tuple[tuple[str, ...], ...] = (
    ("before-lock", "installing", "following", "uninstalling"),
    ("locked", "stored", "evidence", "deleted"),
    ("begun", "created", "settled", "uninstalled"),
    ("start", "unmarked", "unlocked", "report"),
    ("installed",),
    (RANDOM,),
)
