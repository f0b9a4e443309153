# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Cancel a run: evidence first, then the ledger, then Helm."""

from __future__ import annotations

import socket
import typing as t
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import Clock, iso
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import AbsentError
from ansible_collections.mlops.eks.plugins.module_utils._core.files import to_yaml_stream, write_atomically
from ansible_collections.mlops.eks.plugins.module_utils._helm.cli import Helm
from ansible_collections.mlops.eks.plugins.module_utils._helm.releases import revisions
from ansible_collections.mlops.eks.plugins.module_utils._kube import pods as pod_view
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document, Kube
from ansible_collections.mlops.eks.plugins.module_utils._kube.paths import collection
from ansible_collections.mlops.eks.plugins.module_utils._step.evidence import without_noise
from ansible_collections.mlops.eks.plugins.module_utils._step.keeping import Audience, Instance, Keeping
from ansible_collections.mlops.eks.plugins.module_utils._step.ledger import Entry, Ledger
from ansible_collections.mlops.eks.plugins.module_utils._step.logs import Logs

Say = Callable[[str], None]


def stop(kube: Kube, helm: Helm, *, release: str, directory: Path, check: bool, say: Say) -> dict[str, t.Any]:
    """Stop everything installed for run `release`: its running step and what it keeps.

    Raises:
        AbsentError: there is no such run in the namespace.
    """
    ledger, clock = Ledger(kube, release), Clock()
    entries = ledger.read()
    installed = [name for name in _helm_releases(release, entries) if revisions(kube, name)]
    if not entries and not installed:
        raise AbsentError(
            f"run {release}: nothing of that name in namespace {kube.namespace}. 'status.yml' lists the runs."
        )
    going = [entry for entry in entries.values() if entry.going or entry.helm_release in installed]
    stopped = [entry for entry in going if entry.going or entry.kept]
    if not check:
        for name in installed:
            _evidence(kube, name, directory / name, say=say)
        for entry in stopped:
            said = f"stopped from {socket.gethostname()}"
            # A controller that follows the step reads this when its workload goes away.
            ledger.finish(replace(entry, outcome="cancelled", finished=iso(clock.now()), cause=said))
        for name in installed:
            say(f"uninstalling {name}")
            helm.uninstall(name)
    steps = sorted(entry.step for entry in stopped)
    done = f"{'would stop' if check else 'stopped'} {', '.join(steps)}"
    said = f"run {release}: {done if steps else 'nothing is running'}"
    say(said)
    return {"changed": bool(steps or installed), "msg": said, "stopped": steps, "uninstalled": installed}


def _helm_releases(release: str, entries: dict[str, Entry]) -> list[str]:
    return sorted({release, *(entry.helm_release for entry in entries.values())})


def _evidence(kube: Kube, name: str, directory: Path, *, say: Say) -> None:
    """Copy pods and logs of a Helm release as they are now."""
    selector = {"labelSelector": f"app.kubernetes.io/instance={name}"}
    found = kube.get(collection("v1", "pods", kube.namespace), selector) or {}
    pods = [{"apiVersion": "v1", "kind": "Pod", **pod} for pod in found.get("items") or []]
    say(f"keeping the evidence of {name}: {len(pods)} pods in {directory}")
    write_atomically(directory / "pods.yaml", to_yaml_stream(without_noise(pod) for pod in pods))
    _logs(kube, pods, Keeping(directory=directory / "logs"))


def _logs(kube: Kube, pods: list[Document], keeping: Keeping) -> None:
    logs = Logs(kube, keeping, Audience())
    for pod in pods:
        for container in pod_view.containers(pod):
            if container.has_log:
                logs.follow(Instance(pod_view.name(pod), pod["metadata"]["uid"], container.name, container.restarts))
    logs.close(lambda _: False)
