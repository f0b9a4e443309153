# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Remove everything a cluster left on the machine. It is found by inspection, not from records.

processes   inside the network namespaces of its nodes or its cgroup, and shims of its containerds
mounts      below the cluster's directory (pod file systems, volumes, pods' network namespaces)
files       shims' sockets, CNI results and log links outside the cluster's directory
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import ConflictError
from ansible_collections.mlops.eks.plugins.module_utils._local import cgroups, network, processes
from ansible_collections.mlops.eks.plugins.module_utils._local.commands import run
from ansible_collections.mlops.eks.plugins.module_utils._local.layout import Layout

CNI_RESULTS = Path("/var/lib/cni/results")
CONTAINER_LOGS = Path("/var/log/containers")
SHIM_SOCKETS = Path("/run/containerd/s")
# Directories that several clusters and other software may share, inner ones first.
SHARED = (
    SHIM_SOCKETS,
    SHIM_SOCKETS.parent / "io.containerd.runtime.v2.task",
    SHIM_SOCKETS.parent,
    CNI_RESULTS,
    CNI_RESULTS.parent,
    CONTAINER_LOGS,
)


def leftovers(layout: Layout) -> dict[str, list[str]]:
    """Return `{kind: names}` of everything of the cluster on the machine; empty lists when it is gone."""
    groups = [str(hierarchy / layout.cgroup) for hierarchy in cgroups.hierarchies()]
    link = Path("/sys/class/net", layout.link)
    return {
        "processes": [str(pid) for pid in sorted(_processes(layout))],
        "mounts": _mounts(layout),
        "cgroups": [group for group in groups if Path(group).exists()],
        "network": [str(path) for path in [link, *network.namespaces(layout)] if path.exists()],
        "files": [str(path) for path in [layout.root, *_stray_files(layout)] if path.exists() or path.is_symlink()],
    }


def stop_everything(layout: Layout) -> None:
    """Kill all processes, unmount, remove cgroups and network; keep the cluster's files.

    Raises:
        ConflictError: a process outside the cluster still uses a resource.
    """
    sockets = list(_shim_sockets(layout))
    # Kubelets and containerds first: they would restart what is killed later.
    for program in ("kubelet", "containerd"):
        for record in sorted((layout.root / "run").glob(f"{program}*.json")):
            processes.stop(layout, record.stem, grace_period=0)
    processes.until(lambda: not _kill(layout), 15)
    for mount in reversed(_mounts(layout)):
        run(["umount", "--lazy", mount])
    stuck = cgroups.remove(layout.cgroup)
    network.take_down(layout)
    for path in [*sockets, *_stray_files(layout)]:
        path.unlink(missing_ok=True)
    for record in [*(layout.root / "run").glob("*"), *(layout.root / "nodes").glob("*/run/*")]:
        record.unlink()
    if stuck:
        raise ConflictError(
            f"Cluster {layout.name!r}: cgroup {stuck[0]} is still in use; end the processes in it and run this again"
        )


def remove_everything(layout: Layout) -> None:
    """Stop everything and remove the cluster's directory too."""
    stop_everything(layout)
    if layout.root.exists():
        shutil.rmtree(layout.root)
    # Programs created these for the first cluster on the machine; `rmdir` fails while they are in use.
    if not _listed(layout.netns_path.parent):
        network.forget_namespaces(layout.netns_path.parent)
    for path in SHARED:
        with contextlib.suppress(OSError):
            path.rmdir()


def remove_dead_sockets(layout: Layout) -> None:
    """Remove the sockets that dead shims left; containerd drops their names when it starts."""
    for path in _shim_sockets(layout):
        with socket.socket(socket.AF_UNIX) as probe:
            try:
                probe.connect(str(path))
            except ConnectionRefusedError:
                path.unlink(missing_ok=True)
            except FileNotFoundError:
                continue


def _kill(layout: Layout) -> set[int]:
    found = _processes(layout)
    processes.end(found, grace_period=0)
    return found


def _processes(layout: Layout) -> set[int]:
    found = cgroups.members(layout.cgroup)
    inodes = {path.stat().st_ino for path in network.namespaces(layout)}
    for pid in (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()):
        if processes.netns_inode(pid) in inodes or _is_ours(pid, layout):
            found.add(pid)
    return {pid for pid in found if processes.start_time(pid) is not None} - {os.getpid()}


def _is_ours(pid: int, layout: Layout) -> bool:
    """Return whether a process is a shim of the cluster's containerds, or a component in a removed namespace."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except (FileNotFoundError, ProcessLookupError):
        return False
    if "containerd-shim" in words[0]:
        return any(word.startswith(f"{layout.root}/") for word in words)
    recorded = [processes.recorded(layout, path.stem) for path in (layout.root / "run").glob("*.json")]
    return any(entry and entry.pid == pid and entry.started == processes.start_time(pid) for entry in recorded)


def _mounts(layout: Layout) -> list[str]:
    """Return mount points below the cluster's directory, in mount order."""
    lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    points = [line.split()[4].encode().decode("unicode_escape") for line in lines]
    return [point for point in points if point.startswith(f"{layout.root}/")]


def _shim_sockets(layout: Layout) -> Iterator[Path]:
    """Yield the sockets of the shims; their names are hashes, recorded in each task's directory."""
    tasks = "containerd/state/io.containerd.runtime.v2.task/*/*/address"
    for note in [*layout.root.glob(tasks), *layout.root.glob(f"nodes/*/{tasks}")]:
        # Pods may end during the search.
        with contextlib.suppress(FileNotFoundError):
            path = Path(note.read_text(encoding="utf-8").strip().removeprefix("unix://"))
            if path.parent == SHIM_SOCKETS:
                yield path


def _stray_files(layout: Layout) -> list[Path]:
    found = [
        path
        for path in _listed(CNI_RESULTS)
        if re.fullmatch(rf"{re.escape(layout.netns)}(\.\d+)?-[0-9a-f]{{64}}-\w+", path.name)
    ]
    links = [path for path in _listed(CONTAINER_LOGS) if path.is_symlink()]
    return [*found, *(path for path in links if str(path.readlink()).startswith(f"{layout.root}/"))]


def _listed(directory: Path) -> list[Path]:
    return sorted(directory.iterdir()) if directory.is_dir() else []
