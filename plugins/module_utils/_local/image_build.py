# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Build a container image into an OCI archive in the cache, without a registry.

static          only the given files: for programs that the Go toolchain links statically
containerfile   `buildah bud` on a directory; mmdebstrap creates its Debian base image, under the same name

An archive's name ends with a hash of all its inputs, so an existing archive is up to date.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import re
import stat
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError, MissingToolError
from ansible_collections.mlops.eks.plugins.module_utils._core.locking import locked
from ansible_collections.mlops.eks.plugins.module_utils._local import apt, oci, pypi
from ansible_collections.mlops.eks.plugins.module_utils._local.commands import run, stream, which

Say = Callable[[str], None]
DEBIAN = re.compile(r"(?:docker\.io/)?(?:library/)?debian:(?P<suite>[a-z]+)(?:-slim)?")
# Increment when the build changes, so that older archives are not used.
RECIPE = "2"
BASE_DOCS = ("/usr/share/man/*", "/usr/share/doc/*", "/usr/share/locale/*", "/usr/share/info/*")
SHOWN_LINES = 200
IGNORED = ("__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".git")


@dataclasses.dataclass(frozen=True, kw_only=True)
class StaticImage:
    """An image of `files`, `{path in the image: file}`, only; it runs as `user` (`uid:gid`, root when empty)."""

    name: str
    files: Mapping[str, Path]
    entrypoint: tuple[str, ...]
    user: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class ContainerfileImage:
    """An image described by `context/Containerfile`."""

    name: str
    context: Path


@dataclasses.dataclass(frozen=True, kw_only=True)
class ImageBuilder:
    """Builds images into `cache`/images."""

    cache: Path
    say: Say

    def archive(self, image: StaticImage | ContainerfileImage) -> Path:
        """Return the path of the archive of `image`, built or not."""
        return self.cache / "images" / f"{slug(image.name)}-{identity(image)}.tar"

    def build(self, image: StaticImage | ContainerfileImage) -> Path:
        """Build the archive unless it exists; return its path."""
        target = self.archive(image)
        target.parent.mkdir(parents=True, exist_ok=True)
        with locked(target.parent / f".{slug(image.name)}.lock", f"image {image.name}", self.say):
            if target.exists():
                return target
            start = time.monotonic()
            self.say(f"image {image.name} | started")
            with tempfile.TemporaryDirectory(prefix=".building-", dir=target.parent) as scratch:
                made = Path(scratch) / "image.tar"
                if isinstance(image, StaticImage):
                    self._static(image, made)
                else:
                    self._containerfile(image, made)
                made.replace(target)
            for older in target.parent.glob(f"{slug(image.name)}-" + "[0-9a-f]" * 12 + ".tar"):
                if older != target:
                    older.unlink()
            size = target.stat().st_size / 1e6
            self.say(f"image {image.name} | done, {size:.0f} MB, {time.monotonic() - start:.0f} s")
        return target

    def _static(self, image: StaticImage, made: Path) -> None:
        layer = made.with_name("layer.tar")
        oci.layer_of_files(image.files, layer)
        config = oci.Image(name=image.name, entrypoint=image.entrypoint, user=image.user)
        oci.write_archive(config, layer, made)

    def _containerfile(self, image: ContainerfileImage, made: Path) -> None:
        for tool in ("buildah", "mmdebstrap"):
            if which(tool) is None:
                raise MissingToolError(f"Image {image.name} needs {tool}: apt-get install buildah mmdebstrap")
        buildah = self._buildah()
        # One build at a time: builds share buildah's storage, and parallel apt-gets are not faster.
        with locked(self.cache / "images" / ".buildah.lock", f"image {image.name}", self.say):
            # Leftovers of a killed build.
            run([*buildah, "rm", "--all"])
            mounts: list[str] = []
            for base in bases((image.context / "Containerfile").read_text(encoding="utf-8")):
                mounts = self._ensure_base(buildah, base, made.parent)
            argv: list[str | Path] = [
                *buildah,
                "bud",
                "--isolation",
                "chroot",
                "--network",
                "host",
                "--pull-never",
                "--layers=false",
            ]
            argv += ["--format", "oci", "--timestamp", "0", *mounts, *pypi.lend(made.parent), "--tag", image.name]
            argv += ["--file", image.context / "Containerfile", image.context]
            self._show(argv, f"image {image.name}")
            packed = made.with_name("packed.tar")
            run([*buildah, "push", "--quiet", image.name, f"oci-archive:{packed}:{image.name}"])
            oci.decompress(packed, image.name, made)
            run([*buildah, "rmi", image.name])

    def _buildah(self) -> list[str | Path]:
        """Return buildah with its own storage, apart from the machine's."""
        key = hashlib.sha256(str(self.cache).encode()).hexdigest()[:8]
        return ["buildah", "--root", self.cache / "containers", "--runroot", f"/run/mlops-eks-buildah-{key}"]

    def _ensure_base(self, buildah: Sequence[str | Path], base: str, scratch: Path) -> list[str]:
        """Create `base` in buildah if it is missing; return the mounts that a build on it needs."""
        match = DEBIAN.fullmatch(base)
        if match is None:
            raise InvalidInputError(
                f"Image {base!r} cannot be made here: only debian:<release> and debian:<release>-slim can"
            )
        access = apt.host_access(match["suite"])
        apt.write(access, scratch / "apt")
        names = run([*buildah, "images", "--format", "{{.Name}}:{{.Tag}}"]).splitlines()
        if base not in names:
            archive = self._base_archive(base, match["suite"], access, scratch)
            run([*buildah, "pull", "--quiet", f"oci-archive:{archive}"])
        return ["--volume", f"{scratch / 'apt'}:/etc/apt:ro"]

    def _base_archive(self, base: str, suite: str, access: apt.AptAccess, scratch: Path) -> Path:
        """Create a minimal Debian root by mmdebstrap, with Debian's own addresses in its sources."""
        layer, archive = scratch / "base-layer.tar", scratch / "base.tar"
        (scratch / "mirror.list").write_text(access.sources, encoding="utf-8")
        (scratch / "public.list").write_text(apt.public_sources(suite), encoding="utf-8")
        settings = scratch / "apt" / "apt.conf.d" / "90host"
        argv = ["mmdebstrap", "--mode=root", "--variant=apt", "--format=tar", f"--aptopt={settings}"]
        argv += [f"--dpkgopt=path-exclude={pattern}" for pattern in BASE_DOCS]
        argv += [
            '--customize-hook=rm -f "$1"/etc/apt/apt.conf.d/99mmdebstrap "$1"/etc/apt/sources.list.d/*',
            f'--customize-hook=cp {scratch / "public.list"} "$1"/etc/apt/sources.list',
        ]
        self._show([*argv, suite, layer, scratch / "mirror.list"], f"image {base}")
        oci.write_archive(oci.Image(name=base, command=("bash",)), layer, archive)
        return archive

    def _show(self, argv: Sequence[str | Path], title: str) -> None:
        shown = 0

        def line(text: str) -> None:
            nonlocal shown
            shown += 1
            if shown <= SHOWN_LINES and re.match(r"STEP|I: |E: |W: |Get:|Setting up|COMMIT", text):
                self.say(f"{title} | {text[:160]}")

        stream(
            argv,
            on_line=line,
            on_silence=lambda seconds: self.say(f"{title} | working, {seconds:.0f} s"),
            env=_environment(),
        )


def bases(containerfile: str) -> list[str]:
    """Return the base images of a Containerfile, without its own stages and `scratch`."""
    found, stages = [], {"scratch"}
    for match in re.finditer(
        r"^FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?\s*$", containerfile, re.MULTILINE | re.IGNORECASE
    ):
        if match[1] not in stages:
            found.append(match[1])
        stages.add(match[2] or "")
    return found


def slug(name: str) -> str:
    """Return an image's name as a file name."""
    return re.sub(r"[^a-z0-9.]+", "-", name.lower())


def identity(image: StaticImage | ContainerfileImage) -> str:
    """Return 12 hex digits that change with every input of the image."""
    digest = hashlib.sha256(f"{RECIPE}\0{image.name}\0".encode())
    if isinstance(image, StaticImage):
        digest.update("\0".join([*image.entrypoint, *([image.user] if image.user else [])]).encode())
        entries = sorted(image.files.items())
    else:
        entries = [(str(path.relative_to(image.context)), path) for path in _context_files(image.context)]
    for target, path in entries:
        mode = stat.S_IMODE(path.stat().st_mode)
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"\0{target}\0{mode:o}\0{content}".encode())
    return digest.hexdigest()[:12]


def _context_files(context: Path) -> list[Path]:
    if not (context / "Containerfile").is_file():
        raise InvalidInputError(f"Image context {str(context)!r} has no Containerfile")
    return sorted(
        path
        for path in context.rglob("*")
        if path.is_file() and not set(path.relative_to(context).parts) & set(IGNORED)
    )


def _environment() -> dict[str, str]:
    return {**os.environ, "LC_ALL": "C.UTF-8", "BUILDAH_LAYERS": "false", "REGISTRY_AUTH_FILE": ""}
