# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Files and programs are read up to their bound, whatever they hold."""

from __future__ import annotations

import resource
import subprocess
import time
from pathlib import Path

import pytest

from ansible_collections.mlops.eks.plugins.module_utils._core import bounds
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError


def test_a_file_is_read_up_to_its_bound(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"a" * 2048)
    assert bounds.read(file, 2048, what="kubeconfig a") == b"a" * 2048
    with pytest.raises(InvalidInputError, match=r"^kubeconfig a: it is larger than 1 KiB\. Is it the right file\?$"):
        bounds.read(file, 1024, what="kubeconfig a")
    # Nothing of a file without an end is kept.
    with pytest.raises(InvalidInputError):
        bounds.read(Path("/dev/zero"), 1024, what="zero")


def test_what_a_program_writes_is_kept_up_to_a_bound() -> None:
    done = bounds.capture(["sh", "-c", "cat; echo error >&2; exit 3"], stdin="a" * 200_000, most=300_000)
    assert done == bounds.Completed(3, "a" * 200_000, "error\n")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    done = bounds.capture(["sh", "-c", "head -c 300000000 /dev/zero; echo last >&2"], most=1000)
    assert (done.rc, len(done.stdout), done.stderr, done.over) == (0, 1000, "last\n", True)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000


def test_a_program_that_does_not_read_is_no_error() -> None:
    assert bounds.capture(["true"], stdin="a" * 10_000_000).rc == 0


def test_a_program_that_takes_too_long_is_killed_with_what_it_started() -> None:
    begun = time.monotonic()
    with pytest.raises(subprocess.TimeoutExpired):
        bounds.capture(["sh", "-c", "sleep 60 & sleep 60"], timeout=0.2)
    assert time.monotonic() - begun < 30
