# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Files that other steps read: complete or absent, never half written."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from digits.errors import DigitsError

PARTIAL = ".partial"


def write_arrays(path: Path, arrays: Mapping[str, npt.NDArray[np.generic]]) -> None:
    """Write `arrays` to the npz file `path` in one step: readers see the old file, then the new one."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, partial = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=PARTIAL)
        with os.fdopen(descriptor, "wb") as stream:
            np.savez(stream, **arrays)  # type: ignore[arg-type]
            stream.flush()
            os.fsync(stream.fileno())
        Path(partial).chmod(0o644)
        Path(partial).replace(path)
    except OSError as error:
        raise DigitsError(f"Cannot write {path}: {error.strerror}. Check the volume behind it.") from error


def read_arrays(path: Path, *, remedy: str) -> dict[str, npt.NDArray[np.generic]]:
    """Return the arrays of the npz file `path`; `remedy` says what to do when it is missing or unreadable."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except FileNotFoundError as error:
        raise DigitsError(f"{path} does not exist. {remedy}") from error
    except (OSError, ValueError, EOFError, BadZipFile) as error:
        raise DigitsError(f"Cannot read {path}: {error}. {remedy}") from error
