# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""A worker's node that is lost, cut off or drained in the middle of a training."""

from __future__ import annotations

import time
import typing as t
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from fault import Fault, Result, Setting
from nodes_scene import Scene, ended, result, under_way
from nodes_steps import MPI, TICKS, Training, leader_ticks, left_whole, pytorch
from samples import shown_ticks
from three import Three

from ansible_collections.mlops.eks.plugins.module_utils._local.layout import Node

# Lines that tell how an attempt or a step has ended, and what comes next.
ENDED = r"(failed|timed_out|succeeded|lost|cancelled) after|attempt \d+ begins"
# Seconds in which a step that is tried again after a loss must have ended: it takes its time twice, and the mpirun of
# the first attempt may need five minutes to notice that a rank cannot be told to end.
_TWICE = 900.0
# Seconds that the pods of the next two rows may take to end; on a node that is lost nobody sees them do it.
_LONG, _SHORT, _LIMIT = 600, 40, 20
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
        return result(scene, violations, seconds, ENDED)


def _saving(seconds: int) -> Training:
    """Return the MPIJob whose pods have so many seconds to end."""
    return replace(MPI, recipe={**MPI.recipe, "termination_grace_period_seconds": seconds})


def _retried(setting: Setting) -> Result:
    """Lose a node for good: the retry begins when its pods are gone with it, long before their grace period is over."""
    with under_way(setting, _saving(_LONG), **_QUICK, retries=1, retry_backoff=1, timeout=1800) as scene:
        node, _ = scene.victim()
        _terminate(scene.cluster, node)
        violations = ended(scene, rc=0, seconds=_TWICE)
        seconds = time.monotonic() - scene.at
        if not violations:
            entry, record = scene.space.ledger()["train"], scene.space.record("train")
            if (record["outcome"], record["attempt"]) != ("succeeded", 2):
                violations.append(f"attempt {record['attempt']} ended {record['outcome']}: {record['cause']}")
            if [one["category"] for one in entry["tried"]] != ["node_lost"]:
                violations.append(f"the ledger has tried {entry['tried']}")
            if (found := leader_ticks(scene.space, scene.training)) != list(range(1, TICKS + 1)):
                violations.append(f"the second attempt's log has {found}")
            violations += left_whole(scene.space)
        return result(scene, violations, seconds, ENDED)


def _no_room(setting: Setting) -> Result:
    """Cut a node off and leave it so: the retry waits for its pods, and then the step has failed."""
    limits = {**_QUICK, "retries": 1, "retry_backoff": 1, "leftover_grace": _LIMIT, "timeout": 1800}
    with under_way(setting, _saving(_SHORT), **limits) as scene:
        node, member = scene.victim()
        scene.cluster.cut(node)
        violations = ended(scene, rc=None, seconds=_TWICE)
        seconds = time.monotonic() - scene.at
        if not violations:
            entry, cause = scene.space.ledger()["train"], scene.space.record("train")["cause"] or {}
            if (entry["outcome"], bool(entry["finished"])) != ("failed", True):
                violations.append(f"the ledger says {entry['outcome']}, finished {entry['finished']}")
            said = f"{cause.get('message')} {cause.get('remedy')}"
            wanted = (member, node.name, "leftover_grace", f"kubectl delete pod {member}")
            if cause.get("reason") != "StuckTerminating" or any(word not in said for word in wanted):
                violations.append(f"the cause is {cause}")
            if left := [*scene.space.releases(), *scene.space.names("mpijobs"), *scene.space.names("leases")]:
                violations.append(f"left: {left}")
        return result(scene, violations, seconds, f"{ENDED}|did not go away|earlier attempt")


# Nobody waits for a worker of this PyTorchJob: it must last until Kubernetes has given the lost one up.
_TRAININGS = {training.name: training for training in (MPI, pytorch(pause=1.4))}


def faults() -> list[Fault]:
    """Return every fault of this kind."""
    return [
        *(_loss_fault(of, what) for what in _LOSSES for of in _TRAININGS),
        Fault(
            name="mpi@loss-retried",
            group="a worker's node: loss, and a retry",
            how=f"as above; grace period {_LONG} s, retries: 1",
            run=_retried,
        ),
        Fault(
            name="mpi@partition-retried",
            group="a worker's node: partition, and a retry",
            how=f"as above; grace period {_SHORT} s, leftover_grace: {_LIMIT}, retries: 1",
            run=_no_room,
        ),
    ]


def _loss_fault(of: str, what: str) -> Fault:
    loss = _LOSSES[what]
    return Fault(
        name=f"{of}@{what}",
        group=f"a worker's node: {what}",
        how=f"{of}: {loss.how}",
        run=lambda setting: _lose(setting, _TRAININGS[of], loss),
    )
