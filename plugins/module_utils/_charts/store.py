# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Charts fetched before, by the digest of their package; and which of them a source last gave for which version.

What was not used for ninety days goes when something new comes.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._charts.package import sha256, unpack
from ansible_collections.mlops.eks.plugins.module_utils._charts.reference import Reference
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import SourceError
from ansible_collections.mlops.eks.plugins.module_utils._core.files import to_json, write_atomically

# Longer than anything runs: nobody who still needs a chart has not looked at it for so long.
_UNUSED = 90 * 86400.0


@dataclass(frozen=True, kw_only=True)
class FetchedChart:
    """What a source gave: a package, and which `version` that is.

    `commit` is empty where the source is not git; `immutable` says that this version is not supposed to change.
    """

    digest: str
    version: str = ""
    commit: str = ""
    immutable: bool = False


class Store:
    """A directory with one directory per package, which is there whole or not at all, and never changed.

    Its time of modification is when it was last asked for.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def package(self, digest: str) -> Path:
        """Return where the package of that digest is, or would be."""
        return self._entry(digest) / "chart.tgz"

    def chart(self, digest: str) -> Path:
        """Return where the chart directory of that digest is, or would be."""
        return self._entry(digest) / "chart"

    def has(self, digest: str) -> bool:
        """Return whether the package is here."""
        return _used(self._entry(digest))

    def add(self, package: bytes, *, shown: str) -> str:
        """Keep a package and return its digest. Two that add the same do not disturb each other.

        Raises:
            SourceError: it is no packaged chart.
        """
        digest = sha256(package)
        if self.has(digest):
            return digest
        with self._writable():
            made = Path(tempfile.mkdtemp(prefix=".new-", dir=self.root))
        try:
            unpack(package, made / "chart", shown=shown)
            with self._writable():
                (made / "chart.tgz").write_bytes(package)
                made.chmod(0o755)
                self._settle(made, digest)
                self._prune()
        finally:
            shutil.rmtree(made, ignore_errors=True)
        return digest

    @contextmanager
    def _writable(self) -> Iterator[None]:
        """Say what to do about a cache that cannot be written."""
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            yield
        except OSError as error:
            raise SourceError(
                f"cache {self.root}: {error.strerror}. Set MLOPS_EKS_CACHE to a directory that can be written."
            ) from error

    def _settle(self, made: Path, digest: str) -> None:
        try:
            made.rename(self._entry(digest))
        except OSError:
            # Somebody else was faster, with the same bytes.
            if not self.has(digest):
                raise

    def _prune(self) -> None:
        """Remove what nobody asked for any more, and what killed controllers left half made or half removed."""
        before = time.time() - _UNUSED
        for path in (*self.root.glob("*sha256-*"), *self.root.glob(".new-*"), *self.root.glob("given/*.json")):
            # Another controller may be at it, too.
            with suppress(FileNotFoundError):
                if path.stat().st_mtime < before:
                    _remove(path)

    def remember(self, reference: Reference, given: FetchedChart) -> None:
        """Note what the source gave for this reference."""
        text = to_json({"asked": asdict(reference), "given": asdict(given)})
        with self._writable():
            write_atomically(self._note(reference), text)

    def recall(self, reference: Reference) -> FetchedChart | None:
        """Return what the source gave last time, if it is still here."""
        try:
            given = FetchedChart(**json.loads(self._note(reference).read_text(encoding="utf-8"))["given"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return given if self.has(given.digest) and _used(self._note(reference)) else None

    def _entry(self, digest: str) -> Path:
        return self.root / digest.replace(":", "-")

    def _note(self, reference: Reference) -> Path:
        key = json.dumps([reference.chart, reference.repo, reference.version])
        return self.root / "given" / f"{hashlib.sha256(key.encode()).hexdigest()}.json"


def _used(path: Path) -> bool:
    """Return whether it is there, and note that it was asked for."""
    try:
        os.utime(path)
    except FileNotFoundError:
        return False
    except OSError:
        # Somebody else's cache, which can only be read.
        return path.exists()
    return True


def _remove(path: Path) -> None:
    """Remove a file, or a directory at once, so that nobody finds half of it."""
    if path.is_dir():
        shutil.rmtree(path.rename(path.with_name(f".old-{path.name}")), ignore_errors=True)
    else:
        path.unlink()
