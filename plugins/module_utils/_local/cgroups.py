# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The cgroup of all pods of a cluster, in every mounted hierarchy.

Tested on cgroup v1. The v2 branch follows the kernel's documentation and is untested.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._local.processes import send, until

ROOT = Path("/sys/fs/cgroup")
# cpu.shares for each processor that the node offers to pods, as the kubelet computes it.
WEIGHT = 1024


def is_v2(root: Path = ROOT) -> bool:
    """Return whether the machine uses only the unified hierarchy."""
    return (root / "cgroup.controllers").exists()


def hierarchies(root: Path = ROOT) -> list[Path]:
    """Return the mount points that may hold the cluster's cgroup, each once."""
    if is_v2(root):
        return [root]
    return sorted({path.resolve() for path in root.iterdir() if path.is_dir()}) if root.is_dir() else []


def create(name: str, root: Path = ROOT) -> None:
    """Create the cgroup in every hierarchy. The kubelet does not create its root and does not start without it."""
    for hierarchy in hierarchies(root):
        group = hierarchy / name
        group.mkdir(exist_ok=True)
        if is_v2(root):
            _delegate(hierarchy)
            _delegate(group)
        # No process can run in a new v1 cpuset until it names processors and memory nodes.
        for file in ("cpuset.cpus", "cpuset.mems"):
            if (group / file).exists() and not (group / file).read_text(encoding="ascii").strip() and not is_v2(root):
                (group / file).write_text((hierarchy / file).read_text(encoding="ascii"), encoding="ascii")
        # By default v1 gives all pods together the weight of one process of the machine.
        if (group / "cpu.shares").exists():
            (group / "cpu.shares").write_text(str(WEIGHT * (os.cpu_count() or 1)), encoding="ascii")


def exists(name: str, root: Path = ROOT) -> bool:
    """Return whether every hierarchy has the cgroup."""
    return all((hierarchy / name).is_dir() for hierarchy in hierarchies(root))


def members(name: str, root: Path = ROOT) -> set[int]:
    """Return the pids of every process in the cgroup or below it."""
    pids: set[int] = set()
    for hierarchy in hierarchies(root):
        for directory, _below, files in os.walk(hierarchy / name):
            if "cgroup.procs" in files:
                pids.update(_pids(Path(directory, "cgroup.procs")))
    return pids


def remove(name: str, root: Path = ROOT) -> list[Path]:
    """Kill every process in the cgroup and remove it, deepest first; return what could not be removed."""

    def empty() -> bool:
        left = members(name, root)
        for pid in left:
            send(pid, signal.SIGKILL)
        return not left

    until(empty, 10)
    groups = [hierarchy / name for hierarchy in hierarchies(root)]

    def gone() -> bool:
        _remove_trees(groups)
        return not any(group.exists() for group in groups)

    until(gone, 5, pause=0.05)
    return [group for group in groups if group.exists()]


def _remove_trees(groups: Iterable[Path]) -> None:
    for group in groups:
        for directory, _below, _files in os.walk(group, topdown=False):
            try:
                Path(directory).rmdir()
            except OSError:
                # The kernel releases a cgroup a moment after its last process ends; the caller retries.
                continue


def _delegate(group: Path) -> None:
    available = (group / "cgroup.controllers").read_text(encoding="ascii").split()
    for controller in available:
        if controller in ("cpu", "cpuset", "io", "memory", "pids", "hugetlb"):
            (group / "cgroup.subtree_control").write_text(f"+{controller}", encoding="ascii")


def _pids(path: Path) -> set[int]:
    try:
        return {int(line) for line in path.read_text(encoding="ascii").split()}
    except OSError:
        return set()
