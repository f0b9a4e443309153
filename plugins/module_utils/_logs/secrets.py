# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Values of the Kubernetes Secrets that pods refer to, to mask them in printed lines and archived logs."""

from __future__ import annotations

import base64
import binascii
import time
import typing as t
from collections.abc import Callable, Iterable, Iterator, Sequence

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import ClusterError
from ansible_collections.mlops.eks.plugins.module_utils._core.secret_mask import MASKED, Mask
from ansible_collections.mlops.eks.plugins.module_utils._kube import pods as pod_view
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document, Kube
from ansible_collections.mlops.eks.plugins.module_utils._kube.paths import item

# Shorter values are common words or numbers and are not masked.
SHORTEST = 6
_CONTAINERS = ("initContainers", "containers", "ephemeralContainers")
# Seconds after which a Secret is read again for a container that starts: it may have changed.
_FRESH = 10.0


class Reference(t.NamedTuple):
    """A reference to a Secret: its name, one key (`None` for all), and whether it may be missing."""

    name: str
    key: str | None
    optional: bool = False


class Secrets:
    """Registers with `mask` the Secrets of pods when their containers start; `note` takes a line about failures."""

    def __init__(self, kube: Kube, mask: Mask, note: Callable[[str], None]) -> None:
        self._kube, self._mask, self._note = kube, mask, note
        # When each reference was read; by pod uid, its started containers and their restarts at the last call.
        self._read: dict[Reference, float] = {}
        self._pods: dict[str, object] = {}

    def register(self, pod: Document) -> None:
        """Register the values of every Secret that `pod` refers to, again whenever one of its containers starts."""
        uid, found = pod["metadata"]["uid"], pod_view.containers(pod)
        started = [(one.name, one.restarts) for one in found if one.has_log]
        if self._pods.get(uid) == started:
            return
        self._pods[uid] = started
        now = time.monotonic()
        wanted = {one for one in references(pod["spec"]) if now - self._read.get(one, -_FRESH) >= _FRESH}
        for name in sorted({one.name for one in wanted}):
            asked = [one for one in wanted if one.name == name]
            # A started container has its Secrets; before that, one may still be created.
            values = self._values(name, asked, expected=bool(started))
            if values is not None:
                self._mask.add(values)
                self._read.update(dict.fromkeys(asked, now))

    def _values(self, name: str, asked: Sequence[Reference], *, expected: bool) -> list[bytes] | None:
        """Return the values of a Secret; `None` when it does not exist."""
        try:
            found = self._kube.get(item("v1", "secrets", self._kube.namespace, name))
        except ClusterError as error:
            self._note(f"Secret {name}: its values cannot be read and are not taken out of the logs: {error}")
            return []
        if found is None:
            if expected and not all(one.optional for one in asked):
                self._note(f"Secret {name}: it is gone, and its values cannot be taken out of the logs")
            return None
        keys, data = {one.key for one in asked}, (found.get("data") or {}).items()
        values = [_decoded(text) for key, text in data if None in keys or key in keys]
        return [value for value in values if len(value.strip()) >= SHORTEST]


def references(spec: Document) -> Iterator[Reference]:
    """Yield the Secrets of a pod's containers: single keys or all keys as variables, and files."""
    for container in (one for kind in _CONTAINERS for one in spec.get(kind) or ()):
        for entry in container.get("env") or ():
            ref = (entry.get("valueFrom") or {}).get("secretKeyRef")
            if ref:
                yield Reference(ref["name"], ref["key"], bool(ref.get("optional")))
        for entry in container.get("envFrom") or ():
            if ref := entry.get("secretRef"):
                yield Reference(ref["name"], None, bool(ref.get("optional")))
    for volume in spec.get("volumes") or ():
        sources = (volume, *((volume.get("projected") or {}).get("sources") or ()))
        for ref in filter(None, (source.get("secret") for source in sources)):
            name, keys = ref.get("secretName") or ref["name"], [entry["key"] for entry in ref.get("items") or ()]
            yield from (Reference(name, key, bool(ref.get("optional"))) for key in keys or [None])


def rendered(manifest: Iterable[Document]) -> Iterator[bytes]:
    """Yield the values of the Secrets of a manifest."""
    for entry in manifest:
        if entry.get("kind") == "Secret":
            texts = [str(text).encode() for text in (entry.get("stringData") or {}).values()]
            coded = [_decoded(str(text)) for text in (entry.get("data") or {}).values()]
            yield from (value for value in (*texts, *coded) if len(value.strip()) >= SHORTEST)


def without_data(entry: Document) -> Document:
    """Return an object of a manifest; a Secret without its values."""
    if entry.get("kind") != "Secret":
        return entry
    hidden = {part: dict.fromkeys(entry[part], MASKED.decode()) for part in ("data", "stringData") if entry.get(part)}
    return {**entry, **hidden}


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text)
    except binascii.Error:
        return b""
