# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Apply and follow workloads, all at the same time because most of it is waiting, and return the results."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from samples import Json
from space import Space

from ansible_collections.mlops.eks.plugins.module_utils._engine.entrypoints import workload_wait
from ansible_collections.mlops.eks.plugins.module_utils._plan.argspec import FOLLOW

# Something that is done to a workload while it is followed.
Act = Callable[[Space], None]


@dataclass(frozen=True, kw_only=True)
class Found:
    """The result and the printed lines of one workload."""

    outcome: str
    cause: Json
    lines: tuple[str, ...]

    @property
    def told(self) -> tuple[str, str, str]:
        """Outcome, and reason and category of its cause."""
        return self.outcome, self.cause["reason"], self.cause["category"]

    @property
    def waited_for(self) -> str:
        """The printed reason why it waits."""
        return " ".join(line for line in self.lines if ": pending: " in line)


def follow(space: Space, workload: Json, awaited: str = "", *, waits: bool = False) -> Found:
    """Follow one workload to its end, or delete it when a line with `awaited` is printed.

    A workload that `waits` must reach `pending_timeout`; no other may, however long its pods take to start.
    """
    lines: list[str] = []
    name = workload["metadata"]["name"]

    def say(line: str) -> None:
        lines.append(line)
        if awaited and awaited in line:
            space.kubectl("delete", workload["kind"], name, "--wait=false", "--ignore-not-found")

    params = {
        **{key: row.get("default") for key, row in FOLLOW.items()},
        "kubeconfig": space.kubeconfig,
        "context": None,
        "namespace": space.namespace,
        "api_retry_timeout": 60.0,
        "name": name,
        "kind": workload["kind"],
        "api_version": workload["apiVersion"],
        "timeout": 600.0,
        # Long enough to be explained twice, with what was looked up for it.
        "pending_timeout": 45.0 if waits else 0.0,
        "unschedulable_grace": 600.0 if awaited or waits else 30.0,
        "infeasible_grace": 0.0,
        "config_grace": 5.0,
        "runs_dir": str(space.runs),
    }
    record = workload_wait(params, cluster=space.host, say=say)
    return Found(outcome=record["outcome"], cause=t.cast(Json, record["cause"]), lines=tuple(lines))


def follow_all(
    space: Space,
    before: Sequence[Json],
    workloads: Sequence[Json],
    *,
    acts: Sequence[Act] = (),
    awaited: Mapping[str, str] | None = None,
    waiting: Collection[str] = (),
) -> dict[str, Found]:
    """Apply `before` and `workloads`; return the results by name.

    `acts` are done while they are followed; those that are `awaited` are followed until a line with these words,
    those that are `waiting` until they have waited for too long.
    """
    for entry in (*before, *workloads):
        space.apply(entry)
    names = [workload["metadata"]["name"] for workload in workloads]
    with ThreadPoolExecutor(len(workloads) + len(acts)) as pool:
        doing = [pool.submit(act, space) for act in acts]
        results = [
            pool.submit(follow, space, workload, (awaited or {}).get(name, ""), waits=name in waiting)
            for name, workload in zip(names, workloads, strict=True)
        ]
        for one in doing:
            one.result()
        return {name: one.result() for name, one in zip(names, results, strict=True)}
