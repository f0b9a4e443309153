# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Images of a native cluster's nodes: read archives, import missing images into containerd."""

from __future__ import annotations

import dataclasses
import json
import tarfile
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._local.commands import run
from ansible_collections.mlops.eks.plugins.module_utils._local.layout import Node

# Annotations that containerd and buildah use for the image's full name in an OCI index.
NAME_ANNOTATIONS = ("io.containerd.image.name", "org.opencontainers.image.ref.name")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Archive:
    """An OCI archive on disk: the image's name and the digest of its manifest."""

    path: Path
    name: str
    digest: str


def read_archive(path: Path) -> Archive:
    """Return name and digest from the archive's index.

    Raises:
        InvalidInputError: the file is missing or not an OCI archive, or its image has no name.
    """
    try:
        with tarfile.open(path) as archive:
            member = archive.extractfile("index.json")
            index = json.loads(member.read()) if member else {}
    except (OSError, tarfile.TarError, KeyError, ValueError) as error:
        raise InvalidInputError(f"Image archive {str(path)!r} cannot be read: {error}; build it again") from error
    for manifest in index.get("manifests", []):
        for annotation in NAME_ANNOTATIONS:
            if name := manifest.get("annotations", {}).get(annotation):
                return Archive(path=path, name=name, digest=manifest["digest"])
    raise InvalidInputError(
        f"Image archive {str(path)!r} names no image; build it with a full name such as localhost/x:1"
    )


def present(node: Node) -> dict[str, str]:
    """Return `{image name: digest}` of containerd's images for Kubernetes."""
    found = {}
    for line in run([*_ctr(node), "images", "list"]).splitlines()[1:]:
        fields = line.split()
        found[fields[0]] = fields[2]
    return found


def import_archive(node: Node, archive: Archive) -> None:
    """Import one archive and unpack it."""
    run([*_ctr(node), "images", "import", archive.path])


def is_up(node: Node) -> bool:
    """Return whether containerd answers on its socket."""
    return node.containerd_socket.is_socket() and "Server:" in run([*_ctr(node, timeout="2s"), "version"])


def _ctr(node: Node, timeout: str = "0") -> list[str]:
    return ["ctr", "--timeout", timeout, "--address", str(node.containerd_socket), "--namespace", "k8s.io"]
