# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""How fast a Job's log is streamed and archived, and whether a line is lost.

The Job prints numbered lines as fast as it can, then the SHA-256 of what it printed. The number of lines is such that
the container's log stays below 10 MiB, where the kubelet rotates it: what was rotated away cannot be read by anybody.
The Job lives a few seconds longer than its output: containerd 1.6.20 on a loaded machine can lose up to one pipe buffer
(64 KiB) of what a container wrote just before it ended, so that not even `kubectl logs` has it.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import time
import typing as t
from pathlib import Path

from setting import ROOT, Setting, say

# At most 7 bytes each, and 40 more for the stamp that the container runtime puts before each: 9.4 MB.
LINES = 200_000
_LINGER = 3


def run(setting: Setting, repetitions: int) -> dict[str, list[float]]:
    """Return the lines archived per second, from the first to the last; and the lines shown at the terminal."""
    command = f"seq 1 {LINES} | tee /tmp/lines && sha256sum < /tmp/lines && sleep {_LINGER}"
    pipeline = setting.pipeline("flood", [command], steps=1)
    series: dict[str, list[float]] = {"log_lines_per_s": [], "log_lines_shown": []}
    for repetition in range(repetitions):
        seconds, archive, shown = _once(setting, pipeline, f"flood-{repetition + 1}")
        _verify(archive)
        series["log_lines_per_s"].append(LINES / seconds)
        series["log_lines_shown"].append(float(shown))
        say(
            f"(d) {repetition + 1}/{repetitions} {LINES:,} lines in {seconds:.2f} s, {LINES / seconds:,.0f} lines/s, "
            f"archive equal byte for byte, {shown} lines shown"
        )
    return series


def _once(setting: Setting, pipeline: Path, release: str) -> tuple[float, Path, int]:
    runs = setting.work / "runs" / release
    extra: dict[str, t.Any] = {"pipeline": str(pipeline), "release": release, "runs_dir": str(runs)}
    command = setting.playbook_command(ROOT / "playbooks" / "train.yml", setting.inventory(), extra)
    output = setting.work / f"{release}.txt"
    with output.open("wb") as stream:
        process = subprocess.Popen(
            command, cwd=ROOT, env=setting.environment(), stdout=stream, stderr=subprocess.STDOUT
        )
    seconds, archive = _watch_archive(process, runs)
    text = output.read_text(encoding="utf-8")
    if process.wait() != 0 or archive is None:
        sys.exit(f"bench: the flood was not archived to its end:\n{text[-1000:]}")
    return seconds, archive, sum(f"| {release} |" in line for line in text.splitlines())


def _watch_archive(process: subprocess.Popen[bytes], runs: Path) -> tuple[float, Path | None]:
    """Return the seconds from the archive's first byte to the last of the numbered lines."""
    wanted = sum(len(str(number)) + 1 for number in range(1, LINES + 1))
    archive, first = None, 0.0
    while process.poll() is None:
        archive = archive or next(runs.glob("*/*/*/logs/*.log"), None)
        size = archive.stat().st_size if archive else 0
        now = time.monotonic()
        first = first or (now if size else 0.0)
        if size >= wanted:
            process.wait()
            return now - first, archive
        time.sleep(0.002 if archive else 0.02)
    return 0.0, None


def _verify(archive: Path) -> None:
    lines = archive.read_bytes().splitlines(keepends=True)
    found = hashlib.sha256(b"".join(lines[:LINES])).hexdigest()
    said = lines[LINES].split()[0].decode() if len(lines) > LINES else "nothing"
    if found != said:
        sys.exit(f"bench: {archive} is not what the Job printed: {len(lines)} lines, {found}; the Job says {said}")
