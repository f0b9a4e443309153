# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Write an OCI archive: one layer, one manifest, one name; same inputs, same bytes."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import platform
import tarfile
import typing as t
from collections.abc import Mapping, Sequence
from pathlib import Path

Document = dict[str, t.Any]
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Image:
    """What an image runs and what it is called."""

    name: str
    entrypoint: Sequence[str] = ()
    command: Sequence[str] = ()
    environment: Sequence[str] = ("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",)


def layer_of_files(files: Mapping[str, Path], layer: Path) -> None:
    """Write an uncompressed layer of `{path in the image: file}`, all executable, owned by root, dated 1970."""
    with tarfile.open(layer, "w", format=tarfile.PAX_FORMAT) as archive:
        for target, source in sorted(files.items()):
            entry = tarfile.TarInfo(target.lstrip("/"))
            entry.size, entry.mode = source.stat().st_size, 0o755
            with source.open("rb") as file:
                archive.addfile(entry, file)


def write_archive(image: Image, layer: Path, archive: Path) -> None:
    """Write the archive of an image made of one uncompressed `layer`."""
    layer_digest = _file_digest(layer)
    config = _bytes(_config(image, layer_digest))
    manifest = _bytes(_manifest(config, layer, layer_digest))
    index = _bytes(_index(image.name, manifest))
    with tarfile.open(archive, "w", format=tarfile.PAX_FORMAT) as out:
        # The index comes first: readers of large archives stop early.
        _add(out, "index.json", index)
        _add(out, "oci-layout", _bytes({"imageLayoutVersion": "1.0.0"}))
        for blob in (manifest, config):
            _add(out, f"blobs/sha256/{hashlib.sha256(blob).hexdigest()}", blob)
        entry = tarfile.TarInfo(f"blobs/sha256/{layer_digest}")
        entry.size, entry.mode = layer.stat().st_size, 0o644
        with layer.open("rb") as file:
            out.addfile(entry, file)


def _config(image: Image, layer_digest: str) -> Document:
    run = {"Env": list(image.environment), "Entrypoint": list(image.entrypoint), "Cmd": list(image.command)}
    return {
        "architecture": ARCHITECTURES.get(platform.machine(), platform.machine()),
        "os": "linux",
        "config": {key: value for key, value in run.items() if value},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{layer_digest}"]},
    }


def _manifest(config: bytes, layer: Path, layer_digest: str) -> Document:
    kind = "application/vnd.oci.image"
    return {
        "schemaVersion": 2,
        "mediaType": f"{kind}.manifest.v1+json",
        "config": _descriptor(f"{kind}.config.v1+json", hashlib.sha256(config).hexdigest(), len(config)),
        "layers": [_descriptor(f"{kind}.layer.v1.tar", layer_digest, layer.stat().st_size)],
    }


def _index(name: str, manifest: bytes) -> Document:
    kind = "application/vnd.oci.image.manifest.v1+json"
    descriptor = _descriptor(kind, hashlib.sha256(manifest).hexdigest(), len(manifest))
    names = {"org.opencontainers.image.ref.name": name, "io.containerd.image.name": name}
    return {"schemaVersion": 2, "manifests": [{**descriptor, "annotations": names}]}


def _descriptor(kind: str, digest: str, size: int) -> Document:
    return {"mediaType": kind, "digest": f"sha256:{digest}", "size": size}


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(content), 0o644
    archive.addfile(entry, io.BytesIO(content))


def _bytes(document: Document) -> bytes:
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()


def _file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
