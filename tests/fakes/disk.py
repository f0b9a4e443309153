"""A file system of a few hundred KiB that a test can fill."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest


class Disk:
    """A tmpfs at `path`; only root may mount one."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def _ballast(self) -> Path:
        return self.path / ".ballast"

    def resize(self, options: str) -> None:
        """Mount it again, with another `size=` or as `ro`."""
        _run("mount", "-o", f"remount,{options}", str(self.path))

    def fill(self, left: int = 0) -> None:
        """Fill the disk except for `left` bytes, rounded to a page."""
        with self._ballast.open("ab", buffering=0) as ballast, contextlib.suppress(OSError):
            while True:
                ballast.write(bytes(4096))
        os.truncate(self._ballast, self._ballast.stat().st_size - left)

    def empty(self) -> None:
        """Remove what `fill` wrote."""
        self._ballast.unlink(missing_ok=True)


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)


@contextlib.contextmanager
def mounted(path: Path, options: str = "size=256k") -> Iterator[Disk]:
    """Yield a disk at `path` until the end of the block."""
    if os.geteuid() != 0:
        pytest.skip("only root may mount a file system")
    path.mkdir(parents=True, exist_ok=True)
    _run("mount", "-t", "tmpfs", "-o", options, "mlops-eks-test", str(path))
    try:
        yield Disk(path)
    finally:
        # Lazily: a thread of a test that failed may hold a file there.
        _run("umount", "-l", str(path))
