# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""A training under way on three nodes, to which something happens."""

from __future__ import annotations

import contextlib
import subprocess
import time
import typing as t
from collections.abc import Iterator
from dataclasses import dataclass

from fault import Result, Setting
from nodes_cluster import three_nodes
from nodes_steps import Training
from plays import Play, until
from samples import shown_ticks, ticks
from shown import lines
from space import Space, fresh
from three import Three

from ansible_collections.mlops.eks.plugins.module_utils._local.layout import Node

# The fault comes after this tick.
_MIDDLE = 10
# Seconds in which a step must have ended whatever happened to a node.
LIMIT = 180.0


@dataclass(kw_only=True)
class Scene:
    """One training in a namespace of its own, under way on the cluster."""

    cluster: Three
    training: Training
    space: Space
    play: Play
    at: float = 0.0

    def pods(self) -> dict[str, str]:
        """Return the node of each pod."""
        return {pod["metadata"]["name"]: pod["spec"].get("nodeName", "") for pod in self.space.get("pods")}

    def phases(self) -> list[str]:
        """Return the phase of each pod."""
        return [pod["status"]["phase"] for pod in self.space.get("pods")]

    def node_of(self, part: str) -> Node:
        """Return the node of the first pod whose name has `part` in it."""
        name = next(node for pod, node in sorted(self.pods().items()) if part in pod)
        return next(node for node in self.cluster.nodes if node.name == name)

    def victim(self) -> tuple[Node, str]:
        """Return a node, without the leader and what the cluster itself needs, and the member that is on it."""
        kept = (self.node_of(self.training.leader).name, self.cluster.nodes[0].name)
        members = {node: pod for pod, node in sorted(self.pods().items()) if self.training.member in pod}
        node = next(node for node in self.cluster.nodes if node.name in members and node.name not in kept)
        return node, members[node.name]


@contextlib.contextmanager
def under_way(setting: Setting, training: Training, **waits: t.Any) -> Iterator[Scene]:
    """Yield the training at its middle, the leader and its members on the second and third node."""
    with three_nodes() as cluster, fresh(cluster.kubeconfig, setting.directory) as space:
        cluster.reserve_first()
        play = training.start(space, **waits)
        play.shows(f"| tick {_MIDDLE}\n", seconds=LIMIT)
        scene = Scene(cluster=cluster, training=training, space=space, play=play)
        # The leader may tick before a member runs. One that never ran is replaced, and the training loses nothing.
        until(lambda: scene.phases() == ["Running"] * training.pods, "all pods run")
        cluster.open_all()
        scene.at = time.monotonic()
        yield scene


def ended(scene: Scene, *, rc: int | None, seconds: float = LIMIT) -> list[str]:
    """Wait for the end of the play and return what is wrong with it."""
    try:
        scene.play.process.wait(seconds)
        scene.play.end(scene.play.process.returncode if rc is None else rc)
    except (AssertionError, subprocess.TimeoutExpired) as error:
        return [f"{str(error)[:200]} … {scene.play.text[-1500:]}"]
    return []


def result(scene: Scene, violations: list[str], seconds: float, pattern: str) -> Result:
    """Return what came of the fault; shown were the lines in which `pattern` is found."""
    # Those of earlier attempts as well, which are printed, too.
    logs = scene.space.evidence("train").rglob(f"logs/*{scene.training.leader}*.log")
    archived = sum(len(ticks(log.read_text(encoding="utf-8").splitlines())) for log in logs)
    files = sum(path.is_file() for path in scene.space.evidence("train").rglob("*"))
    return Result(
        injected=1,
        recovered=int(not violations),
        violations=tuple(violations),
        seconds=(round(seconds, 1),),
        said=lines(scene.play.text, pattern),
        kept=(
            f"{archived} of the leader's {len(shown_ticks(scene.play.text))} lines that were printed, {files} files",
        ),
    )
