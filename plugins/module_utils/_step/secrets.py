# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Values of the Kubernetes Secrets that pods refer to, so that they can be taken out of what is printed and kept."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterator

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import ClusterError
from ansible_collections.mlops.eks.plugins.module_utils._core.mask import MASKED, Mask
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document, Kube
from ansible_collections.mlops.eks.plugins.module_utils._kube.paths import item

# Shorter values are words or numbers that a log is full of.
SHORTEST = 6
# A Secret's name, and which of its keys; `None` for all.
Reference = tuple[str, str | None]


class Secrets:
    """Registers with `mask` what pods refer to. Each Secret is read once; `note` is told of refusals."""

    def __init__(self, kube: Kube, mask: Mask, note: Callable[[str], None]) -> None:
        self._kube, self._mask, self._note = kube, mask, note
        self._known: set[Reference] = set()
        self._pods: set[str] = set()

    def look(self, pod: Document) -> None:
        """Register the values of every Secret that `pod` takes from."""
        uid = pod["metadata"]["uid"]
        if uid in self._pods:
            return
        self._pods.add(uid)
        fresh = set(references(pod["spec"])) - self._known
        self._known |= fresh
        for name in sorted({name for name, _ in fresh}):
            keys = {key for wanted, key in fresh if wanted == name}
            self._mask.add(self._values(name, keys))

    def _values(self, name: str, keys: set[str | None]) -> list[bytes]:
        try:
            found = self._kube.get(item("v1", "secrets", self._kube.namespace, name)) or {}
        except ClusterError as error:
            self._note(f"Secret {name}: its values cannot be read and are not taken out of the logs: {error}")
            return []
        data = (found.get("data") or {}).items()
        values = [_decoded(text) for key, text in data if None in keys or key in keys]
        return [value for value in values if len(value.strip()) >= SHORTEST]


def references(spec: Document) -> Iterator[Reference]:
    """Yield the Secrets that a pod's containers see: by variable, by all their keys, and as files."""
    for container in (*(spec.get("initContainers") or ()), *(spec.get("containers") or ())):
        for entry in container.get("env") or ():
            ref = (entry.get("valueFrom") or {}).get("secretKeyRef")
            if ref:
                yield ref["name"], ref["key"]
        for entry in container.get("envFrom") or ():
            if ref := entry.get("secretRef"):
                yield ref["name"], None
    for volume in spec.get("volumes") or ():
        sources = (volume, *((volume.get("projected") or {}).get("sources") or ()))
        for ref in filter(None, (source.get("secret") for source in sources)):
            name, items = ref.get("secretName") or ref["name"], ref.get("items")
            yield from ((name, entry["key"]) for entry in items) if items else ((name, None),)


def without_data(entry: Document) -> Document:
    """Return a manifest's object; of a Secret only its keys."""
    if entry.get("kind") != "Secret":
        return entry
    hidden = {part: dict.fromkeys(entry[part], MASKED.decode()) for part in ("data", "stringData") if entry.get(part)}
    return {**entry, **hidden}


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text)
    except binascii.Error:
        return b""
