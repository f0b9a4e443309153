# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Cache of fetched charts by the digest of their package, and of the package that a reference last resolved to.

Adding a chart removes entries that were not used for 90 days.
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

# Seconds after which an unused entry is removed: longer than any run.
_UNUSED = 90 * 86400.0


@dataclass(frozen=True, kw_only=True)
class FetchedChart:
    """A fetched package and its version.

    `commit` is empty if the source is not git. `immutable` means that this version should never change.
    """

    digest: str
    version: str = ""
    commit: str = ""
    immutable: bool = False


class Store:
    """A directory with one directory per package, each created atomically and never changed.

    The mtime of an entry is the time of its last use.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def package(self, digest: str) -> Path:
        """Return the path of the package with that digest; it may not exist."""
        return self._entry(digest) / "chart.tgz"

    def chart(self, digest: str) -> Path:
        """Return the path of the chart directory with that digest; it may not exist."""
        return self._entry(digest) / "chart"

    def has(self, digest: str) -> bool:
        """Return whether the package is in the cache."""
        return _used(self._entry(digest))

    def add(self, package: bytes, *, shown: str) -> str:
        """Add a package and return its digest. Two processes may add the same package.

        Raises:
            SourceError: it is not a packaged chart.
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
                self._move(made, digest)
                self._prune()
        finally:
            shutil.rmtree(made, ignore_errors=True)
        return digest

    @contextmanager
    def _writable(self) -> Iterator[None]:
        """Convert an `OSError` of the cache to a `SourceError` with a remedy."""
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            yield
        except OSError as error:
            raise SourceError(
                f"cache {self.root}: {error.strerror}. Set MLOPS_EKS_CACHE to a directory that can be written."
            ) from error

    def _move(self, made: Path, digest: str) -> None:
        try:
            made.rename(self._entry(digest))
        except OSError:
            # Another process was faster, with the same bytes.
            if not self.has(digest):
                raise

    def _prune(self) -> None:
        """Remove unused entries, and incomplete ones of killed processes."""
        before = time.time() - _UNUSED
        for path in (*self.root.glob("*sha256-*"), *self.root.glob(".new-*"), *self.root.glob("given/*.json")):
            # Another process may remove it at the same time.
            with suppress(FileNotFoundError):
                if path.stat().st_mtime < before:
                    _remove(path)

    def remember(self, reference: Reference, given: FetchedChart) -> None:
        """Record the package that the reference resolved to."""
        text = to_json({"asked": asdict(reference), "given": asdict(given)})
        with self._writable():
            write_atomically(self._note(reference), text)

    def recall(self, reference: Reference) -> FetchedChart | None:
        """Return the package that the reference resolved to last, if it is in the cache."""
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
    """Return whether an entry exists, and update its time of last use."""
    try:
        os.utime(path)
    except FileNotFoundError:
        return False
    except OSError:
        # The cache is read-only.
        return path.exists()
    return True


def _remove(path: Path) -> None:
    """Remove a file, or a directory atomically."""
    if path.is_dir():
        shutil.rmtree(path.rename(path.with_name(f".old-{path.name}")), ignore_errors=True)
    else:
        path.unlink()
