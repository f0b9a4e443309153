# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Components of a cluster that restart, and a node that is away for a moment, in the middle of a training."""

from __future__ import annotations

import time
import typing as t
from collections.abc import Callable

from fault import Fault, Result, Setting
from nodes_scene import Scene, ended, result, under_way
from nodes_steps import MPI, Training, pytorch, undisturbed
from plays import until
from samples import shown_ticks
from shown import TROUBLE

# Shorter than it takes anybody to give a silent node up.
_BLINK = 4.0


def _restart(setting: Setting, training: Training, hit: Callable[[Scene], None]) -> Result:
    """Inject a fault that the step must not even notice."""
    with under_way(setting, training) as scene:
        hit(scene)
        seen = len(shown_ticks(scene.play.text))
        until(
            lambda: len(shown_ticks(scene.play.text)) > seen or scene.play.process.poll() is not None, "the log goes on"
        )
        seconds = time.monotonic() - scene.at
        violations = ended(scene, rc=0) or list(undisturbed(scene.space, training, scene.play))
        return result(scene, violations, seconds, TROUBLE)


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
    node, _ = scene.victim()
    scene.cluster.cut(node)
    time.sleep(_BLINK)
    scene.cluster.join(node)


_RESTARTS: t.Mapping[str, Callable[[Setting], Result]] = {
    "kube-apiserver": _component("kube-apiserver"),
    "etcd": _component("etcd"),
    "kube-controller-manager": _component("kube-controller-manager"),
    "kubelet": _of_leader("kubelet"),
    "containerd": _of_leader("containerd"),
    "mpi-operator": _operator("mpi-operator", MPI),
    "training-operator": _operator("kubeflow", pytorch(pause=0.2)),
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
    return [*restarts, blink]


def _how(name: str) -> str:
    return f"{name}: its pod is deleted by force" if "operator" in name else f"{name}: SIGKILL, started again"


def _unnoticed(name: str, group: str, how: str, run: Callable[[Setting], Result]) -> Fault:
    return Fault(name=name, group=group, how=how, run=run)
