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


# What is wrong with the end of a step that has lost this node with this member.
End = Callable[[Scene, Node, str], Iterator[str]]


def _fails(category: str) -> End:
    """Expect the step to fail and to name the member and its node."""

    def look(scene: Scene, node: Node, member: str) -> Iterator[str]:
        record = scene.space.record("train")
        cause = record["cause"] or {}
        if (record["outcome"], cause.get("category"), cause.get("object")) != ("failed", category, f"Pod/{member}"):
            yield f"the step ended {record['outcome']} because of {cause}"
        elif node.name not in cause["message"]:
            yield f"the node {node.name} is not named: {cause['message']}"

    return look


def _is_replaced(scene: Scene, node: Node, member: str) -> Iterator[str]:
    """Expect the step to succeed with another pod in the place of the member, which is counted."""
    record = scene.space.record("train")
    where = {pod["name"]: pod["node"] for pod in record["pods"]}
    if record["outcome"] != "succeeded":
        yield f"the step ended {record['outcome']} because of {record['cause']}"
    elif where.get(member) in (None, node.name) or not record["restarts"]:
        yield f"{member} was not made anew on another node: {where}, {record['restarts']} restarts"


def _is_warned_of(scene: Scene, node: Node, member: str) -> Iterator[str]:
    """Expect the step to succeed without the member, of whose silent node the user was told."""
    record = scene.space.record("train")
    if record["outcome"] != "succeeded":
        yield f"the step ended {record['outcome']} because of {record['cause']}"
    if scene.cluster.is_ready(node):
        yield f"{node.name} was not cut off"
    if f"Pod/{member}: NodeNotReady" not in scene.play.text:
        yield f"nobody was told of {member}'s node"


def _kept(scene: Scene, before: int) -> Iterator[str]:
    """Yield what is missing of the log of the leader, whose node is there all the time."""
    found = leader_ticks(scene.space, scene.training)
    if found[:before] != list(range(1, before + 1)):
        yield f"of {before} ticks that were printed the archive has {found}"


def _terminate(cluster: Three, node: Node) -> None:
    cluster.kill(node)
    cluster.forget(node)


@dataclass(frozen=True, kw_only=True)
class Loss:
    """What happens to a worker's node, what the user sees of it, and what each training must come to."""

    hit: Callable[[Three, Node], None]
    how: str
    user_sees: t.Mapping[str, str]
    ends: t.Mapping[str, End]


_NAMED = "failed, {}, with worker and node"
_ANEW = "the worker is made anew elsewhere, which is counted as a restart; the step succeeds"
_LOSSES: t.Mapping[str, Loss] = {
    "loss": Loss(
        hit=_terminate,
        how="link down, all processes killed, Node object deleted as EKS does when an instance is gone",
        user_sees={"mpi": _NAMED.format("NodeLost"), "pytorch": _ANEW},
        ends={"mpi": _fails("node_lost"), "pytorch": _is_replaced},
    ),
    "partition": Loss(
        hit=Three.cut,
        how="link down and left so",
        user_sees={
            "mpi": _NAMED.format("NodeLost"),
            "pytorch": "'NodeNotReady' of the worker; the step ends with its master",
        },
        ends={"mpi": _fails("node_lost"), "pytorch": _is_warned_of},
    ),
    "drain": Loss(
        hit=Three.drain,
        how="kubectl drain --grace-period=2",
        user_sees=dict.fromkeys(("mpi", "pytorch"), _NAMED.format("evicted")),
        ends=dict.fromkeys(("mpi", "pytorch"), _fails("evicted")),
    ),
}


def _lose(setting: Setting, training: Training, loss: Loss) -> Result:
    """Inject a fault that costs a node: the step recovers, or ends soon and names what was lost."""
    with under_way(setting, training, **_QUICK) as scene:
        before = len(shown_ticks(scene.play.text))
        node, member = scene.victim()
        loss.hit(scene.cluster, node)
        late = len(shown_ticks(scene.play.text)) >= TICKS
        violations = ended(scene, rc=None) + ["the training was over before its node was"] * late
        seconds = time.monotonic() - scene.at
        if not violations:
            end = loss.ends[training.name]
            violations = [*end(scene, node, member), *_kept(scene, before), *left_whole(scene.space)]
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
        user_sees=f"{of}: {loss.user_sees[of]}",
        kept="everything but what the pods of a silent node wrote last",
        run=lambda setting: _lose(setting, _TRAININGS[of], loss),
    )
