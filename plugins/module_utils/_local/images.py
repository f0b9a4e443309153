# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The images that every node of a native cluster must have, and their import.

Each node imports each archive, because two containerds cannot share a store.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator, Sequence

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import EksError
from ansible_collections.mlops.eks.plugins.module_utils._local import containerd
from ansible_collections.mlops.eks.plugins.module_utils._local.layout import Node


@dataclasses.dataclass(frozen=True, kw_only=True)
class Images:
    """The wanted archives of the nodes."""

    nodes: Sequence[Node]
    archives: Sequence[containerd.Archive]

    def desired(self) -> dict[str, str]:
        """Return `{image: digest}`; on nodes after the first the image's name is followed by the node's."""
        return {_label(node, archive): archive.digest for node in self.nodes for archive in self.archives}

    def observe(self, is_running: Callable[[Node], bool]) -> dict[str, str]:
        """Return the observed `{image: digest}`; `absent` where it is missing or its containerd does not run."""
        found = {}
        for node in self.nodes:
            present = _present(node) if is_running(node) else {}
            found.update({_label(node, archive): present.get(archive.name, "absent") for archive in self.archives})
        return found

    def bring(self, note: Callable[[str], None]) -> None:
        """Import missing images, as soon as each containerd answers."""
        # Smallest first, one at a time: the sandbox image is needed at once, shared layers are unpacked once,
        # and the control plane, which starts meanwhile, keeps a core.
        for node, archive in sorted(self._lacking(), key=lambda lack: lack[1].path.stat().st_size):
            start = time.monotonic()
            containerd.import_archive(node, archive)
            size = archive.path.stat().st_size / 1e6
            note(f"image {_label(node, archive)} imported ({size:.0f} MB in {time.monotonic() - start:.1f} s)")

    def _lacking(self) -> Iterator[tuple[Node, containerd.Archive]]:
        for node in self.nodes:
            present = containerd.present(node)
            yield from ((node, archive) for archive in self.archives if present.get(archive.name) != archive.digest)


def _present(node: Node) -> dict[str, str]:
    try:
        return containerd.present(node)
    except EksError:
        return {}


def _label(node: Node, archive: containerd.Archive) -> str:
    return archive.name if node.is_first else f"{archive.name} on {node.name}"
