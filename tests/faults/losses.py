# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""A worker's node that is lost, cut off or drained in the middle of a training."""

from __future__ import annotations

import time
import typing as t
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from fault import Fault, Result, Setting
from nodes_scene import Scene, ended, result, under_way
from nodes_steps import MPI, TICKS, Training, leader_ticks, left_whole, pytorch
from samples import shown_ticks
from three import Three

from ansible_collections.mlops.eks.plugins.module_utils._local.layout import Node

# No need to wait for what is sure to be lost.
_QUICK = {"lost_rank_grace": 15}


@dataclass(frozen=True, kw_only=True)
class Loss:
    """What happens to a worker's node, and the category of the cause with which the step must fail."""

    hit: Callable[[Three, Node], None]
    how: str
    category: str


def _named(scene: Scene, node: Node, member: str, category: str) -> Iterator[str]:
    """Yield what is wrong with the outcome: a failure of this category, with the member and its node."""
    record = scene.space.record("train")
    cause = record["cause"] or {}
    if (record["outcome"], cause.get("category"), cause.get("object")) != ("failed", category, f"Pod/{member}"):
        yield f"the step ended {record['outcome']} because of {cause}"
    elif node.name not in cause["message"]:
        yield f"the node {node.name} is not named: {cause['message']}"


def _kept(scene: Scene, before: int) -> Iterator[str]:
    """Yield what is missing of the log of the leader, whose node is there all the time."""
    found = leader_ticks(scene.space, scene.training)
    if found[:before] != list(range(1, before + 1)):
        yield f"of {before} ticks that were printed the archive has {found}"


def _terminate(cluster: Three, node: Node) -> None:
    cluster.kill(node)
    cluster.forget(node)


_LOSSES: t.Mapping[str, Loss] = {
    "loss": Loss(
        hit=_terminate,
        how="link down, all processes killed, Node object deleted as EKS does when an instance is gone",
        category="node_lost",
    ),
    "partition": Loss(hit=Three.cut, how="link down and left so", category="node_lost"),
    "drain": Loss(hit=Three.drain, how="kubectl drain --grace-period=2", category="evicted"),
}


def _lose(setting: Setting, training: Training, loss: Loss) -> Result:
    """Inject a fault that costs a node: the step ends soon and names what was lost."""
    with under_way(setting, training, **_QUICK) as scene:
        before = len(shown_ticks(scene.play.text))
        node, member = scene.victim()
        loss.hit(scene.cluster, node)
        late = len(shown_ticks(scene.play.text)) >= TICKS
        violations = ended(scene, rc=None) + ["the training was over before its node was"] * late
        seconds = time.monotonic() - scene.at
        if not violations:
            named = _named(scene, node, member, loss.category)
            violations = [*named, *_kept(scene, before), *left_whole(scene.space)]
    return result(violations, seconds)


# Nobody waits for a worker of this PyTorchJob: it must last until Kubernetes has given the lost one up.
_TRAININGS = {training.name: training for training in (MPI, pytorch(pause=0.8))}


def faults() -> list[Fault]:
    """Return every fault of this kind."""
    return [_loss_fault(of, what) for what in _LOSSES for of in _TRAININGS]


def _loss_fault(of: str, what: str) -> Fault:
    loss = _LOSSES[what]
    return Fault(
        name=f"{of}@{what}",
        group=f"a worker's node: {what}",
        how=f"{of}: {loss.how}",
        user_sees=f"failed, {loss.category}, with the worker and its node; 'retries' runs the step anew",
        kept="everything but what the pods of a silent node wrote last",
        run=lambda setting: _lose(setting, _TRAININGS[of], loss),
    )
