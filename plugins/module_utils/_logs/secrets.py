# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Values of the Kubernetes Secrets that pods refer to, so that they can be taken out of what is printed and kept."""

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

# Shorter values are words or numbers that a log is full of.
SHORTEST = 6
_CONTAINERS = ("initContainers", "containers", "ephemeralContainers")
# Seconds after which a Secret is read again for a container that starts: it may have been changed.
_FRESH = 10.0


class Reference(t.NamedTuple):
    """A Secret's name, which of its keys (`None` for all), and whether it may be missing."""

    name: str
    key: str | None
    optional: bool = False


class Secrets:
    """Registers with `mask` what pods refer to, as it is when their containers start; `note` is told of refusals."""

    def __init__(self, kube: Kube, mask: Mask, note: Callable[[str], None]) -> None:
        self._kube, self._mask, self._note = kube, mask, note
        # When each was read, and which containers of each pod had been started, how often, when it was looked at.
        self._read: dict[Reference, float] = {}
        self._pods: dict[str, object] = {}

    def register(self, pod: Document) -> None:
        """Register the values of every Secret that `pod` takes from, again whenever a container of it has started."""
        uid, found = pod["metadata"]["uid"], pod_view.containers(pod)
        started = [(one.name, one.restarts) for one in found if one.has_log]
        if self._pods.get(uid) == started:
            return
        self._pods[uid] = started
        now = time.monotonic()
        wanted = {one for one in references(pod["spec"]) if now - self._read.get(one, -_FRESH) >= _FRESH}
        for name in sorted({one.name for one in wanted}):
            asked = [one for one in wanted if one.name == name]
            # A container that has started has got them: it is known for sure only then what is missing.
            values = self._values(name, asked, expected=bool(started))
            if values is not None:
                self._mask.add(values)
                self._read.update(dict.fromkeys(asked, now))

    def _values(self, name: str, asked: Sequence[Reference], *, expected: bool) -> list[bytes] | None:
        """Return what is secret of a Secret; `None` when it is not there."""
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
    """Yield the Secrets that a pod's containers see: by variable, by all their keys, and as files."""
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
    """Yield what the Secrets of a manifest hold."""
    for entry in manifest:
        if entry.get("kind") == "Secret":
            texts = [str(text).encode() for text in (entry.get("stringData") or {}).values()]
            coded = [_decoded(str(text)) for text in (entry.get("data") or {}).values()]
            yield from (value for value in (*texts, *coded) if len(value.strip()) >= SHORTEST)


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
