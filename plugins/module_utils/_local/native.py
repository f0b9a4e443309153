# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The entry point of the native cluster for modules and action plug-ins: parameters in, result out."""

from __future__ import annotations

import contextlib
import dataclasses
import time
import typing as t
from collections.abc import Callable
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.cache import cache_dir
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import ConflictError, InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._core.locking import locked
from ansible_collections.mlops.eks.plugins.module_utils._local import (
    addresses,
    containerd,
    network,
    preflight,
    sweep,
    tools,
)
from ansible_collections.mlops.eks.plugins.module_utils._local.cluster import Cluster
from ansible_collections.mlops.eks.plugins.module_utils._local.commands import which
from ansible_collections.mlops.eks.plugins.module_utils._local.layout import Layout

Say = Callable[[str], None]
Result = dict[str, t.Any]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Request:
    """The options of the module `native_cluster`."""

    name: str
    state: str
    nodes: int | None
    namespace: str | None
    state_dir: Path
    images: tuple[Path, ...]
    cache: Path
    tools_dir: Path | None

    @classmethod
    def of(cls, params: dict[str, t.Any]) -> t.Self:
        """Return the request in a module's parameters."""
        return cls(
            name=params["name"],
            state=params["state"],
            nodes=params["nodes"],
            namespace=params["namespace"],
            state_dir=Path(params["state_dir"]),
            images=tuple(Path(path).expanduser() for path in params["images"]),
            cache=Path(params["cache_dir"]).expanduser() if params["cache_dir"] else cache_dir(),
            tools_dir=Path(params["tools_dir"]) if params["tools_dir"] else None,
        )

    @property
    def layout(self) -> Layout:
        """The paths and names of the cluster."""
        return Layout(name=self.name, state_dir=self.state_dir)


def ensure(request: Request, *, check: bool, say: Say) -> Result:
    """Make the cluster present or absent and return the task's result."""
    preflight.check_user()
    if request.nodes is not None and not 1 <= request.nodes <= addresses.MAX_NODES:
        raise InvalidInputError(f"nodes is {request.nodes}: a native cluster has 1 to {addresses.MAX_NODES} nodes")
    run = _present if request.state == "present" else _absent
    if check:
        return run(request, check=True, say=say)
    with locked(request.layout.lock, f"cluster {request.name}", say):
        return run(request, check=False, say=say)


def _present(request: Request, *, check: bool, say: Say) -> Result:
    if check and not _is_built(request):
        # Before the first run nothing is built or installed; report that it would be.
        return {"changed": True, "diff": {"before": {"cluster": "absent"}, "after": {"cluster": "present"}}}
    preflight.check_packages()
    preflight.check_programs(_programs(request))
    cluster = wanted(request, say)
    before, after = cluster.observe(), cluster.desired()
    changed = before != after
    if not check and changed:
        cluster.apply()
    elif not check:
        cluster.wait_until_healthy()
    return {
        "changed": changed,
        "cluster": cluster.describe(),
        "diff": {"before": before, "after": after},
        "seconds": round(time.monotonic() - cluster.began, 1),
    }


def _absent(request: Request, *, check: bool, say: Say) -> Result:
    start, layout = time.monotonic(), request.layout
    before = sweep.leftovers(layout)
    changed = any(before.values())
    if changed and not check:
        say(f"cluster {layout.name} | removing {', '.join(f'{len(found)} {kind}' for kind, found in before.items())}")
        sweep.remove_everything(layout)
        say(f"cluster {layout.name} | {time.monotonic() - start:4.1f} s | removed")
    if not check:
        layout.lock.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            # Not empty when other clusters exist.
            layout.state_dir.rmdir()
    return {
        "changed": changed,
        "diff": {"before": before, "after": {kind: [] for kind in before}},
        "seconds": round(time.monotonic() - start, 1),
    }


def wanted(request: Request, say: Say) -> Cluster:
    """Return the requested cluster, with its programs, images and addresses."""
    layout = request.layout
    return Cluster(
        layout=layout,
        addresses=_addresses(request),
        namespace=request.namespace,
        programs=_programs(request),
        archives=tuple(containerd.read_archive(path) for path in request.images),
        host=preflight.host_facts(),
        say=say,
    )


def _programs(request: Request) -> dict[str, str]:
    programs = {"containerd": str(which("containerd"))}
    for name in tools.CLUSTER_TOOLS:
        directory = tools.built_dir(tools.tool(name), request.cache, request.tools_dir)
        programs.update({program: str(directory / program) for program in tools.tool(name).binaries})
    return programs


def _is_built(request: Request) -> bool:
    files = [*(Path(path) for path in _programs(request).values()), *request.images]
    return not preflight.lacking_packages() and all(path.is_file() for path in files)


def _addresses(request: Request) -> addresses.Addresses:
    """Return the recorded addresses of the cluster, or new ones.

    Raises:
        ConflictError: it was created with another number of nodes.
    """
    layout = request.layout
    found = addresses.recorded(layout.root / "cluster.json")
    if found is None:
        taken = network.taken(layout.state_dir, but=layout.name)
        return addresses.derive(layout.name, taken, nodes=request.nodes or 1)
    if request.nodes not in (None, found.nodes):
        raise ConflictError(
            f"Cluster {layout.name!r}: its number of nodes is {found.nodes} and cannot be changed to {request.nodes}; "
            "remove it first (state absent), or ask for as many as it has"
        )
    return found
