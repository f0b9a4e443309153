# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Build the tools of `tools.py` into the cache, unless they are there."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import CommandError
from ansible_collections.mlops.eks.plugins.module_utils._core.locking import locked
from ansible_collections.mlops.eks.plugins.module_utils._local import toolchain, tools
from ansible_collections.mlops.eks.plugins.module_utils._local.commands import run, stream

Say = Callable[[str], None]
# `go build -v` writes one import path per compiled package; a line with a blank is a message.
PACKAGE = re.compile(r"[\w.~/-]+")


@dataclasses.dataclass(frozen=True, kw_only=True)
class GoBuilder:
    """Builds tools of `tools_dir` (the collection's own when `None`) into `cache`."""

    cache: Path
    tools_dir: Path | None
    say: Say

    def missing(self, names: Sequence[str]) -> list[str]:
        """Return the `names` that are not built yet, in order."""
        return [name for name in names if not self.directory(name).is_dir()]

    def directory(self, name: str) -> Path:
        """Return the directory of the programs of `name`, built or not."""
        return tools.built_dir(tools.tool(name), self.cache, self.tools_dir)

    def programs(self, names: Sequence[str]) -> dict[str, str]:
        """Return `{program: path}` of all programs of `names`."""
        return {
            program: str(self.directory(name) / program)
            for name in names
            for program in sorted(tools.tool(name).binaries)
        }

    def build(self, names: Sequence[str]) -> list[str]:
        """Build the missing ones of `names`; return the built names."""
        built = []
        for number, name in enumerate(names, start=1):
            with locked(self.cache / "bin" / f".{name}.lock", f"build {name}", self.say):
                if not self.directory(name).is_dir():
                    self._build_one(tools.tool(name), f"build {name} ({number} of {len(names)})")
                    built.append(name)
                self._link(tools.tool(name))
        return built

    def links_stale(self, names: Sequence[str]) -> bool:
        """Return whether a stable path is missing or points to another build."""
        return any(
            os.path.realpath(self.cache / "bin" / program) != os.path.realpath(self.directory(name) / program)
            for name in names
            for program in tools.tool(name).links
        )

    def sources(self, name: str, modules: Sequence[str]) -> dict[str, str]:
        """Return `{module: directory}` of the pinned sources of `modules`, fetched if necessary."""
        if not modules:
            return {}
        directory = tools.source_dir(tools.tool(name), self.tools_dir)
        go, environ = self._go(directory)
        text = run([go, "mod", "download", "-json", *modules], env=environ, cwd=directory)
        return {entry["Path"]: entry["Dir"] for entry in _documents(text)}

    def _go(self, directory: Path) -> tuple[Path, dict[str, str]]:
        needed = tools.go_version((directory / "go.mod").read_text(encoding="utf-8"))
        with locked(self.cache / ".go.lock", "go toolchain", self.say):
            go = toolchain.find(self.cache, needed, self.say)
        return go, toolchain.environment(go, self.cache)

    def _build_one(self, row: tools.Tool, title: str) -> None:
        directory = tools.source_dir(row, self.tools_dir)
        go, environ = self._go(directory)
        target = self.directory(row.name)
        progress = _Progress(title, self.say)
        with tempfile.TemporaryDirectory(prefix=f".{row.name}-", dir=target.parent) as scratch:
            argv: list[str | Path] = [
                go,
                "build",
                "-v",
                *tools.FLAGS,
                "-ldflags",
                tools.ldflags(row, _text(directory / "go.mod")),
            ]
            argv += ["-o", f"{scratch}/", *row.binaries.values()]
            try:
                stream(argv, on_line=progress.line, on_silence=progress.beat, env=environ, cwd=directory)
            except CommandError as error:
                raise CommandError(f"Cannot build {row.name}: {progress.complaint or error}", **error.details) from None
            out = Path(scratch) / "out"
            out.mkdir()
            for program, package in row.binaries.items():
                (Path(scratch) / _default_name(package)).rename(out / program)
            out.chmod(0o755)
            out.rename(target)
        self._forget_older(row, target)
        progress.done()

    def _link(self, row: tools.Tool) -> None:
        for program in row.links:
            link = self.cache / "bin" / program
            fresh = link.with_name(f".{program}.new")
            fresh.unlink(missing_ok=True)
            fresh.symlink_to(Path(self.directory(row.name).name) / program)
            fresh.replace(link)

    def _forget_older(self, row: tools.Tool, current: Path) -> None:
        """Remove builds of the same tool that were not used for 30 days."""
        for old in current.parent.glob(f"{row.name}-*"):
            is_other = re.fullmatch(rf"{re.escape(row.name)}-[0-9a-f]{{12}}", old.name) and old != current
            if is_other and time.time() - old.stat().st_mtime > 30 * 86400:
                shutil.rmtree(old)


class _Progress:
    """Summarize the lines of `go build -v`."""

    def __init__(self, title: str, say: Say) -> None:
        self.title, self.say, self.compiled, self.complaint = title, say, 0, ""
        self.start = time.monotonic()
        say(f"{title}: started")

    def line(self, line: str) -> None:
        if PACKAGE.fullmatch(line):
            self.compiled += 1
        elif not line.startswith(("go: downloading", "#")):
            self.complaint = self.complaint or line.strip()

    def beat(self, elapsed: float) -> None:
        self.say(f"{self.title}: {self.compiled} packages compiled, {elapsed:.0f} s")

    def done(self) -> None:
        self.say(f"{self.title}: done, {self.compiled} packages compiled, {time.monotonic() - self.start:.0f} s")


def _default_name(package: str) -> str:
    """Return `go build`'s file name for a command: the last element of its path that is not `v2`, `v3`, ..."""
    parts = package.split("/")
    return parts[-2] if re.fullmatch(r"v\d+", parts[-1]) else parts[-1]


def _documents(text: str) -> list[dict[str, str]]:
    decoder = json.JSONDecoder()
    found, position = [], 0
    while position < len(text.rstrip()):
        document, position = decoder.raw_decode(text, position)
        found.append(document)
        position += len(text[position:]) - len(text[position:].lstrip())
    return found


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")
