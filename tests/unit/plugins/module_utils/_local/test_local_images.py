# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from pathlib import Path

import pytest

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._local import apt, containerd, image_build, oci
from ansible_collections.mlops.eks.plugins.module_utils._local.image_build import ContainerfileImage, StaticImage


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "pause"
    path.write_bytes(b"\x7fELF")
    return path


@pytest.fixture
def archive(tmp_path: Path, program: Path) -> Path:
    oci.layer_of_files({"/opt/pause": program}, tmp_path / "layer.tar")
    image = oci.Image(name="localhost/x:1", entrypoint=["/opt/pause"], user="7:8")
    oci.write_archive(image, tmp_path / "layer.tar", tmp_path / "image.tar")
    return tmp_path / "image.tar"


def blob(archive: Path, digest: str) -> bytes:
    with tarfile.open(archive) as opened:
        member = opened.extractfile(f"blobs/{digest.replace(':', '/')}")
        return member.read() if member else b""


def test_archive_is_whole(archive: Path) -> None:
    read = containerd.read_archive(archive)
    assert read.name == "localhost/x:1"
    manifest = json.loads(blob(archive, read.digest))
    config = json.loads(blob(archive, manifest["config"]["digest"]))
    layer = blob(archive, manifest["layers"][0]["digest"])
    assert (config["config"]["Entrypoint"], config["config"]["User"]) == (["/opt/pause"], "7:8")
    assert config["rootfs"]["diff_ids"] == [manifest["layers"][0]["digest"]]
    assert manifest["layers"][0]["size"] == len(layer)
    with tarfile.open(fileobj=io.BytesIO(layer)) as opened:
        (entry,) = opened.getmembers()
    assert (entry.name, entry.mode, entry.uid, entry.mtime) == ("opt/pause", 0o755, 0, 0)


def test_same_files_same_bytes(archive: Path, tmp_path: Path, program: Path) -> None:
    first = archive.read_bytes()
    program.touch()
    oci.layer_of_files({"/opt/pause": program}, tmp_path / "again.tar")
    image = oci.Image(name="localhost/x:1", entrypoint=["/opt/pause"], user="7:8")
    oci.write_archive(image, tmp_path / "again.tar", archive)
    assert archive.read_bytes() == first


def test_layers_are_decompressed(archive: Path, tmp_path: Path) -> None:
    """Pack the archive as buildah does, then unpack it again: the bytes are the first ones."""
    manifest = json.loads(blob(archive, containerd.read_archive(archive).digest))
    packed = gzip.compress(blob(archive, manifest["layers"][0]["digest"]))
    manifest["layers"][0]["digest"] = f"sha256:{hashlib.sha256(packed).hexdigest()}"
    config = blob(archive, manifest["config"]["digest"])
    text = json.dumps(manifest).encode()
    index = {"manifests": [{"digest": f"sha256:{hashlib.sha256(text).hexdigest()}"}]}
    members = {f"blobs/sha256/{hashlib.sha256(content).hexdigest()}": content for content in (packed, config, text)}
    with tarfile.open(tmp_path / "packed.tar", "w") as out:
        for name, content in {"index.json": json.dumps(index).encode(), **members}.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            out.addfile(entry, io.BytesIO(content))
    oci.decompress(tmp_path / "packed.tar", "localhost/x:1", tmp_path / "unpacked.tar")
    assert (tmp_path / "unpacked.tar").read_bytes() == archive.read_bytes()


def test_unreadable_archives_are_named(tmp_path: Path) -> None:
    broken = tmp_path / "broken.tar"
    broken.write_text("no tar", encoding="utf-8")
    for path in (broken, tmp_path / "absent.tar"):
        with pytest.raises(InvalidInputError, match=f"{path.name}' cannot be read"):
            containerd.read_archive(path)


def test_identity_of_a_static_image(program: Path) -> None:
    image = StaticImage(name="localhost/x:1", files={"/pause": program}, entrypoint=("/pause",))
    before = image_build.identity(image)
    assert image_build.identity(image) == before
    assert image_build.identity(StaticImage(name="localhost/x:2", files=image.files, entrypoint=("/pause",))) != before
    assert image_build.identity(StaticImage(name="localhost/x:1", files=image.files, entrypoint=("/b",))) != before
    program.write_bytes(b"other")
    assert image_build.identity(image) != before


def test_identity_of_a_context(tmp_path: Path) -> None:
    image = ContainerfileImage(name="localhost/x:1", context=tmp_path / "context")
    with pytest.raises(InvalidInputError, match="has no Containerfile"):
        image_build.identity(image)
    image.context.mkdir()
    (image.context / "Containerfile").write_text("FROM scratch\n", encoding="utf-8")
    (image.context / "run.sh").write_text("true\n", encoding="utf-8")
    before = image_build.identity(image)
    (image.context / "__pycache__").mkdir()
    (image.context / "__pycache__" / "x.pyc").write_bytes(b"")
    assert image_build.identity(image) == before
    (image.context / "run.sh").chmod(0o755)
    changed = image_build.identity(image)
    assert changed != before
    (image.context / "run.sh").rename(image.context / "go.sh")
    assert image_build.identity(image) not in (before, changed)


def test_bases_of_a_containerfile() -> None:
    text = "FROM debian:bookworm AS build\nRUN x\nfrom --platform=linux/amd64 debian:bookworm-slim\nCOPY a b\n"
    assert image_build.bases(text) == ["debian:bookworm", "debian:bookworm-slim"]
    assert image_build.bases("FROM scratch\nFROM a AS one\nFROM one\n") == ["a"]


@pytest.mark.parametrize(
    ("base", "suite"),
    [
        ("docker.io/library/debian:bookworm-slim", "bookworm"),
        ("debian:trixie", "trixie"),
        ("debian", None),
        ("x/debian:a", None),
    ],
)
def test_only_debian_can_be_made_here(base: str, suite: str | None) -> None:
    match = image_build.DEBIAN.fullmatch(base)
    assert (match["suite"] if match else None) == suite


def test_slug_is_a_file_name() -> None:
    assert image_build.slug("docker.io/library/debian:bookworm-slim") == "docker.io-library-debian-bookworm-slim"


def test_host_sources_are_taken_when_they_have_the_suite() -> None:
    targets = [
        "http://mirror.example/debian/ bookworm main Debian",
        "http://mirror.example/debian/ bookworm-updates main Debian",
        "http://mirror.example/debian/ bookworm contrib Debian",
        "https://deb.nodesource.com/node_20.x/ nodistro main nodistro",
        "http://other.example/ bookworm main Other",
    ]
    lines = apt.sources(targets, "bookworm").splitlines()
    assert lines == [
        f"deb [signed-by={apt.KEYRING}] http://mirror.example/debian/ bookworm main",
        f"deb [signed-by={apt.KEYRING}] http://mirror.example/debian/ bookworm-updates main",
    ]
    assert apt.sources(targets, "trixie") == ""
    assert apt.sources(targets[1:2], "bookworm") == ""


def test_only_settings_that_reach_a_mirror_are_lent() -> None:
    dump = ['APT::Architecture "amd64";', 'Acquire::http "";', 'Acquire::http::Proxy "http://proxy.example:3128";']
    assert apt.settings(dump) == 'Acquire::http::Proxy "http://proxy.example:3128";\n'


def test_an_image_keeps_debians_own_addresses() -> None:
    assert apt.public_sources("bookworm").splitlines() == [
        "deb http://deb.debian.org/debian bookworm main",
        "deb http://deb.debian.org/debian bookworm-updates main",
        "deb http://deb.debian.org/debian-security bookworm-security main",
    ]
