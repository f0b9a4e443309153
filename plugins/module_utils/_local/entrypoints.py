# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The entry points for the test bench's modules and action plug-ins: parameters in, a task result out."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Mapping
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core import limits
from ansible_collections.mlops.eks.plugins.module_utils._core.cache import cache_dir
from ansible_collections.mlops.eks.plugins.module_utils._core.names import checked
from ansible_collections.mlops.eks.plugins.module_utils._core.secret_redaction import redacted
from ansible_collections.mlops.eks.plugins.module_utils._local import addon
from ansible_collections.mlops.eks.plugins.module_utils._local.go_build import GoBuilder
from ansible_collections.mlops.eks.plugins.module_utils._local.image_build import (
    ContainerfileImage,
    ImageBuilder,
    StaticImage,
)
from ansible_collections.mlops.eks.plugins.module_utils._local.kubectl import Kubectl, find_kubectl

Params = Mapping[str, t.Any]
Say = Callable[[str], None]
Result = dict[str, t.Any]


@redacted
@checked("go_tool")
def go_tool(params: Params, *, check: bool, say: Say) -> Result:
    """Build the named tools and return the paths of their programs and sources."""
    builder = GoBuilder(cache=_cache(params), tools_dir=_path(params["tools_dir"]), say=say)
    names = list(dict.fromkeys(params["name"]))
    missing = builder.missing(names)
    changed = bool(missing) or builder.links_stale(names)
    if changed and not check:
        builder.build(names)
    sources: dict[str, str] = {}
    for name, modules in (params["sources"] or {}).items():
        sources.update(builder.sources(name, modules))
    return {
        "changed": changed,
        "built": missing,
        "programs": builder.programs(names),
        "sources": sources,
        "diff": {"before": {"missing": missing}, "after": {"missing": []}},
    }


@redacted
@checked("container_image")
def container_image(params: Params, *, check: bool, say: Say) -> Result:
    """Build one image's archive and return its path."""
    builder = ImageBuilder(cache=_cache(params), say=say)
    image = _image(params)
    # In check mode the programs of a static image may not be built yet; then the image is not either.
    lacks_files = isinstance(image, StaticImage) and not all(path.is_file() for path in image.files.values())
    if check and lacks_files:
        return {"changed": True, "name": image.name, "archive": None}
    archive = builder.archive(image)
    changed = not archive.exists()
    if changed and not check:
        builder.build(image)
    before = {"archive": None if changed else str(archive)}
    return {
        "changed": changed,
        "name": image.name,
        "archive": str(archive),
        "diff": {"before": before, "after": {"archive": str(archive)}},
    }


@redacted
@checked("native_cluster")
def native_cluster(params: Params, *, check: bool, say: Say) -> Result:
    """Make a native cluster present or absent."""
    # Imported here because it is slow to import and only this module needs it.
    from ansible_collections.mlops.eks.plugins.module_utils._local import native

    return native.ensure(native.Request.of(dict(params)), check=check, say=say)


@redacted
@checked("kube_apply")
def kube_apply(params: Params, *, check: bool, say: Say) -> Result:
    """Apply an operator's manifests and wait until its deployments are available."""
    if check and not Path(params["kubeconfig"]).expanduser().exists():
        # In check mode the cluster may not exist yet; then everything would be new.
        return {"changed": True, "diff": {"prepared": f"{params['name']} would be installed\n"}}
    kubectl = Kubectl(
        binary=find_kubectl(params["kubectl_binary"], _path(params["cache_dir"])),
        kubeconfig=str(_path(params["kubeconfig"])),
        context=params["context"],
    )
    wanted = addon.Addon(
        name=params["name"],
        resources=params["resources"],
        kustomization=params["kustomization"] or {},
        patches=params["patches"],
        deployments=params["deployments"],
        timeout=limits.unlimited(params["timeout"]),
    )
    return addon.ensure(wanted, kubectl, check=check, say=say)


def _image(params: Params) -> StaticImage | ContainerfileImage:
    if params["context"]:
        return ContainerfileImage(name=params["name"], context=Path(params["context"]).expanduser())
    files = {target: Path(source).expanduser() for target, source in params["files"].items()}
    entrypoint, user = tuple(params["entrypoint"] or ()), params["user"] or ""
    return StaticImage(name=params["name"], files=files, entrypoint=entrypoint, user=user)


def _cache(params: Params) -> Path:
    return _path(params["cache_dir"]) or cache_dir()


def _path(text: str | None) -> Path | None:
    return Path(text).expanduser() if text else None
