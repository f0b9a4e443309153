# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Pack charts so that equal charts have equal bytes, and unpack untrusted packages safely."""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
import typing as t
import zlib
from pathlib import Path, PurePosixPath

from ansible_collections.mlops.eks.plugins.module_utils._core import bounds
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import SourceError
from ansible_collections.mlops.eks.plugins.module_utils._core.text import shown as quoted
from ansible_collections.mlops.eks.plugins.module_utils._recipe.chart import files


def sha256(data: bytes) -> str:
    """Return the digest as `sha256:` and 64 hexadecimal digits."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def pack(chart: Path, name: str) -> bytes:
    """Return a chart directory as a package that `helm install` takes; symbolic links become their targets."""
    raw = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=raw, mode="wb", mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        # Helm expects Chart.yaml first.
        for path, file in sorted(files(chart), key=lambda entry: (entry[0] != "Chart.yaml", entry[0])):
            content = file.read_bytes()
            member = tarfile.TarInfo(f"{name}/{path}")
            member.size, member.mode = len(content), 0o644
            archive.addfile(member, io.BytesIO(content))
    return raw.getvalue()


def unpack(package: bytes, into: Path, *, shown: str) -> None:
    """Write the files of a package below `into`, without the top directory.

    Raises:
        SourceError: it is not a packaged chart, has a path outside its directory, or cannot be written.
    """
    into.mkdir(parents=True)
    try:
        # Decompress all at once, to notice a package that is truncated in its last bytes.
        raw = gzip.GzipFile(fileobj=io.BytesIO(package)).read(bounds.CHART + 1)
        if len(raw) > bounds.CHART:
            raise _UnsafeError(f"it has more than {bounds.size(bounds.CHART)} unpacked")
        with tarfile.open(fileobj=io.BytesIO(raw), mode="r:") as archive:
            _extract(archive, into)
    except (tarfile.TarError, zlib.error, EOFError, OSError, ValueError, _UnsafeError) as error:
        raise SourceError(f"chart {shown}: its package cannot be unpacked: {error}.") from error
    if not (into / "Chart.yaml").is_file():
        raise SourceError(f"chart {shown}: its package holds no Chart.yaml.")


class _UnsafeError(Exception):
    """A package has content that no chart has."""


def _extract(archive: tarfile.TarFile, into: Path) -> None:
    for count, member in enumerate(archive, start=1):
        name, parts = quoted(member.name), PurePosixPath(member.name).parts
        if count > bounds.CHART_FILES:
            raise _UnsafeError(f"it has more than {bounds.CHART_FILES} files")
        if len(parts) > bounds.CHART_DEPTH:
            raise _UnsafeError(f"{name} is more than {bounds.CHART_DEPTH} directories deep")
        if member.isdir() or len(parts) < 2:
            continue
        # A sparse file of a few bytes can have any size.
        if not member.isreg() or member.issparse() or ".." in parts or parts[0] == "/":
            raise _UnsafeError(f"{name} is not a file below its directory")
        if member.size > bounds.CHART_FILE:
            raise _UnsafeError(f"{name} is larger than {bounds.size(bounds.CHART_FILE)}, which Helm does not take")
        target = into.joinpath(*parts[1:])
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(t.cast(t.IO[bytes], archive.extractfile(member)).read())
