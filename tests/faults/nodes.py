# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Parts of a cluster that are restarted, cut off, drained or lost in the middle of a training."""

from __future__ import annotations

import contextlib
import subprocess
import time
import typing as t
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from fault import Batch, Fault, Result, Setting
from nodes_cluster import three_nodes
from nodes_steps import MPI, PYTORCH, TICKS, Training, leader_ticks, left_whole, shown_ticks, undisturbed
from plays import Play, until
from space import Space, fresh
from three import Three

from ansible_collections.mlops.eks.plugins.module_utils._local.layout import Node

# The fault comes after this tick.
_MIDDLE = 10
# Seconds in which a step must have ended whatever happened to a node.
_LIMIT = 180.0
# Shorter than it takes anybody to give a silent node up.
_BLINK = 4.0
# No need to wait for what is sure to be lost.
_QUICK = {"lost_rank_grace": 15}


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

    def node_of(self, part: str) -> Node:
        """Return the node of the first pod whose name has `part` in it."""
        name = next(node for pod, node in sorted(self.pods().items()) if part in pod)
        return next(node for node in self.cluster.nodes if node.name == name)

    def victim(self) -> Node:
        """Return a node with a member, and without the leader and what the cluster itself needs."""
        kept = (self.node_of(self.training.leader).name, self.cluster.nodes[0].name)
        found = {node for pod, node in self.pods().items() if self.training.member in pod and node not in kept}
        return next(node for node in self.cluster.nodes if node.name in found)


@contextlib.contextmanager
def _scene(setting: Setting, training: Training, **waits: t.Any) -> Iterator[Scene]:
    """Yield the training at its middle, the leader and its members on the second and third node."""
    with three_nodes() as cluster, fresh(cluster.kubeconfig, setting.directory) as space:
        cluster.reserve_first()
        play = training.start(space, **waits)
        play.shows(f"| tick {_MIDDLE}\n", seconds=_LIMIT)
        cluster.open_all()
        yield Scene(cluster=cluster, training=training, space=space, play=play, at=time.monotonic())


def _restart(setting: Setting, training: Training, hit: Callable[[Scene], None]) -> Result:
    """Inject a fault that the step must not even notice."""
    with _scene(setting, training) as scene:
        hit(scene)
        seen = len(shown_ticks(scene.play))
        until(lambda: len(shown_ticks(scene.play)) > seen or scene.play.process.poll() is not None, "the log goes on")
        seconds = time.monotonic() - scene.at
        violations = _ended(scene, rc=0) or list(undisturbed(scene.space, training, scene.play))
    return _result(violations, seconds)


def _lose(setting: Setting, training: Training, hit: Callable[[Scene], tuple[str, ...]]) -> Result:
    """Inject a fault that costs a node: the step recovers, or ends soon and names what was lost."""
    with _scene(setting, training, **_QUICK) as scene:
        before = len(shown_ticks(scene.play))
        lost = hit(scene)
        late = len(shown_ticks(scene.play)) >= TICKS
        violations = _ended(scene, rc=None) + ["the training was over before its node was"] * late
        seconds = time.monotonic() - scene.at
        if not violations:
            violations = [*_named(scene, lost), *_kept(scene, before), *left_whole(scene.space)]
    return _result(violations, seconds)


def _ended(scene: Scene, *, rc: int | None) -> list[str]:
    """Wait for the end of the play and return what is wrong with it."""
    try:
        scene.play.process.wait(_LIMIT)
        scene.play.end(scene.play.process.returncode if rc is None else rc)
    except (AssertionError, subprocess.TimeoutExpired) as error:
        return [f"{str(error)[:200]} … {scene.play.text[-1500:]}"]
    return []


def _named(scene: Scene, lost: tuple[str, ...]) -> Iterator[str]:
    """Yield what is wrong with the outcome: success, or a failure of one of the categories `lost`."""
    record = scene.space.record("train")
    if record["outcome"] == "succeeded":
        return
    if record["outcome"] != "failed" or record["cause"]["category"] not in lost:
        yield f"the step ended {record['outcome']} because of {record['cause']}"


def _kept(scene: Scene, before: int) -> Iterator[str]:
    """Yield what is missing of the log of the leader, whose node is there all the time."""
    found = leader_ticks(scene.space, scene.training)
    if found[:before] != list(range(1, before + 1)):
        yield f"of {before} ticks that were printed the archive has {found}"


def _result(violations: list[str], seconds: float) -> Result:
    return Result(injected=1, recovered=int(not violations), violations=tuple(violations), seconds=(round(seconds, 1),))


def _component(name: str, training: Training = MPI) -> Callable[[Setting], Result]:
    return lambda setting: _restart(setting, training, lambda scene: scene.cluster.restart(name))


def _of_leader(program: str) -> Callable[[Setting], Result]:
    def hit(scene: Scene) -> None:
        scene.cluster.restart(scene.node_of(scene.training.leader).named(program))

    return lambda setting: _restart(setting, MPI, hit)


def _operator(namespace: str, training: Training) -> Callable[[Setting], Result]:
    return lambda setting: _restart(setting, training, lambda scene: scene.cluster.restart_operator(namespace))


def _blink(scene: Scene) -> None:
    """Cut the node off for less than it takes anybody to give it up."""
    victim = scene.victim()
    scene.cluster.cut(victim)
    time.sleep(_BLINK)
    scene.cluster.join(victim)


def _loss(scene: Scene) -> tuple[str, ...]:
    victim = scene.victim()
    scene.cluster.kill(victim)
    scene.cluster.forget(victim)
    return ("node_lost",)


def _partition(scene: Scene) -> tuple[str, ...]:
    scene.cluster.cut(scene.victim())
    return ("node_lost",)


def _drain(scene: Scene) -> tuple[str, ...]:
    scene.cluster.drain(scene.victim())
    return ("evicted",)


_TRAININGS = {"mpi": MPI, "pytorch": PYTORCH}
_RESTARTS: t.Mapping[str, Callable[[Setting], Result]] = {
    "kube-apiserver": _component("kube-apiserver"),
    "etcd": _component("etcd"),
    "kube-controller-manager": _component("kube-controller-manager"),
    "kubelet": _of_leader("kubelet"),
    "containerd": _of_leader("containerd"),
    "mpi-operator": _operator("mpi-operator", MPI),
    "training-operator": _operator("kubeflow", PYTORCH),
}
# What happens to a worker's node, how, and what the user sees of it.
_LOSSES: t.Mapping[str, tuple[Callable[[Scene], tuple[str, ...]], str]] = {
    "loss": (_loss, "link down, all processes killed, Node object deleted as EKS does when an instance is gone"),
    "partition": (_partition, "link down and left so"),
    "drain": (_drain, "kubectl drain --grace-period=2"),
}
_SEEN: t.Mapping[str, str] = {
    "loss": "MPIJob: failed, NodeLost with worker and node; PyTorchJob: the worker is made anew, the step succeeds",
    "partition": "MPIJob: failed, NodeLost with worker and node; PyTorchJob: the step ends with its master",
    "drain": "failed, evicted, with worker and node, or the worker is made anew and the step succeeds",
}


def faults() -> list[Fault]:
    """Return every fault of this kind."""
    restarts = [
        _unnoticed(f"{name}@restart", "a component restarts", _how(name), run) for name, run in _RESTARTS.items()
    ]
    blink = _unnoticed(
        "mpi@blink",
        "a worker's node is away for a moment",
        f"link down for {_BLINK:g} s",
        lambda setting: _restart(setting, MPI, _blink),
    )
    return [*restarts, blink, *(_loss_fault(of, what) for what in _LOSSES for of in _TRAININGS)]


def batches() -> list[Batch]:
    """Return nothing: these faults share a cluster, and each is put right before the next."""
    return []


def _how(name: str) -> str:
    return f"{name}: its pod is deleted by force" if "operator" in name else f"{name}: SIGKILL, started again"


def _unnoticed(name: str, group: str, how: str, run: Callable[[Setting], Result]) -> Fault:
    return Fault(
        name=name, group=group, how=how, user_sees="nothing but a pause in the log", kept="everything", run=run
    )


def _loss_fault(of: str, what: str) -> Fault:
    hit, how = _LOSSES[what]
    return Fault(
        name=f"{of}@{what}",
        group=f"a worker's node: {what}",
        how=f"{of}: {how}",
        user_sees=_SEEN[what],
        kept="everything but what the pods of a silent node wrote last",
        run=lambda setting: _lose(setting, _TRAININGS[of], hit),
    )
