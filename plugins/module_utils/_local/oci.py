# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Write OCI archives of one image each, with uncompressed layers; same inputs, same bytes."""

from __future__ import annotations

import dataclasses
import gzip
import hashlib
import io
import json
import platform
import shutil
import tarfile
import tempfile
import typing as t
from collections.abc import Mapping, Sequence
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError

Document = dict[str, t.Any]
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Image:
    """The name, command and user of an image; `user` is `uid:gid`, root when empty."""

    name: str
    entrypoint: Sequence[str] = ()
    command: Sequence[str] = ()
    environment: Sequence[str] = ("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",)
    user: str = ""


def layer_of_files(files: Mapping[str, Path], layer: Path) -> None:
    """Write an uncompressed layer of `{path in the image: file}`; files are executable, owned by root, dated 1970."""
    with tarfile.open(layer, "w", format=tarfile.PAX_FORMAT) as archive:
        for target, source in sorted(files.items()):
            entry = tarfile.TarInfo(target.lstrip("/"))
            entry.size, entry.mode = source.stat().st_size, 0o755
            with source.open("rb") as file:
                archive.addfile(entry, file)


def write_archive(image: Image, layer: Path, archive: Path) -> None:
    """Write the archive of an image made of one uncompressed `layer`."""
    layer_digest = _file_digest(layer)
    _write(image.name, _bytes(_config(image, layer_digest)), {layer_digest: layer}, archive)


def decompress(source: Path, name: str, archive: Path) -> None:
    """Copy the OCI archive `source` to `archive` with uncompressed layers, which saves a third of the import time.

    buildah always compresses the layers of an archive.
    """
    with tarfile.open(source) as packed, tempfile.TemporaryDirectory(dir=archive.parent) as scratch:
        manifest = json.loads(_blob(packed, json.loads(_member(packed, "index.json"))["manifests"][0]["digest"]))
        config = _blob(packed, manifest["config"]["digest"])
        layers = {}
        # The configuration lists the digests of the uncompressed layers in the order of the manifest.
        for entry, digest in zip(manifest["layers"], json.loads(config)["rootfs"]["diff_ids"], strict=True):
            layers[digest.removeprefix("sha256:")] = Path(scratch) / digest
            with (Path(scratch) / digest).open("wb") as file, gzip.open(_file(packed, entry["digest"])) as stream:
                shutil.copyfileobj(stream, file, 1 << 20)
        _write(name, config, layers, archive)


def _write(name: str, config: bytes, layers: Mapping[str, Path], archive: Path) -> None:
    manifest = _bytes(_manifest(config, layers))
    index = _bytes(_index(name, manifest))
    with tarfile.open(archive, "w", format=tarfile.PAX_FORMAT) as out:
        # The index comes first: readers of large archives stop early.
        _add(out, "index.json", index)
        _add(out, "oci-layout", _bytes({"imageLayoutVersion": "1.0.0"}))
        for blob in (manifest, config):
            _add(out, f"blobs/sha256/{hashlib.sha256(blob).hexdigest()}", blob)
        for digest, layer in layers.items():
            entry = tarfile.TarInfo(f"blobs/sha256/{digest}")
            entry.size, entry.mode = layer.stat().st_size, 0o644
            with layer.open("rb") as file:
                out.addfile(entry, file)


def _config(image: Image, layer_digest: str) -> Document:
    run = {
        "Env": list(image.environment),
        "Entrypoint": list(image.entrypoint),
        "Cmd": list(image.command),
        "User": image.user,
    }
    return {
        "architecture": ARCHITECTURES.get(platform.machine(), platform.machine()),
        "os": "linux",
        "config": {key: value for key, value in run.items() if value},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{layer_digest}"]},
    }


def _manifest(config: bytes, layers: Mapping[str, Path]) -> Document:
    kind = "application/vnd.oci.image"
    return {
        "schemaVersion": 2,
        "mediaType": f"{kind}.manifest.v1+json",
        "config": _descriptor(f"{kind}.config.v1+json", hashlib.sha256(config).hexdigest(), len(config)),
        "layers": [
            _descriptor(f"{kind}.layer.v1.tar", digest, layer.stat().st_size) for digest, layer in layers.items()
        ],
    }


def _index(name: str, manifest: bytes) -> Document:
    kind = "application/vnd.oci.image.manifest.v1+json"
    descriptor = _descriptor(kind, hashlib.sha256(manifest).hexdigest(), len(manifest))
    names = {"org.opencontainers.image.ref.name": name, "io.containerd.image.name": name}
    return {"schemaVersion": 2, "manifests": [{**descriptor, "annotations": names}]}


def _descriptor(kind: str, digest: str, size: int) -> Document:
    return {"mediaType": kind, "digest": f"sha256:{digest}", "size": size}


def _blob(archive: tarfile.TarFile, digest: str) -> bytes:
    return _file(archive, digest).read()


def _file(archive: tarfile.TarFile, digest: str) -> t.IO[bytes]:
    return _open(archive, f"blobs/{digest.replace(':', '/')}")


def _member(archive: tarfile.TarFile, name: str) -> bytes:
    return _open(archive, name).read()


def _open(archive: tarfile.TarFile, name: str) -> t.IO[bytes]:
    found = archive.extractfile(name)
    if found is None:
        raise InvalidInputError(f"Image archive {archive.name!s} has a directory for {name}; build it again")
    return found


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(content), 0o644
    archive.addfile(entry, io.BytesIO(content))


def _bytes(document: Document) -> bytes:
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()


def _file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
