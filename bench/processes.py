# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""CPU and memory of a tree of processes, read from /proc."""

from __future__ import annotations

import os
import re
import typing as t
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


class Usage(t.NamedTuple):
    """Seconds of CPU so far, and MiB of memory now: resident, and with shared pages split among their users."""

    cpu: float
    rss: float
    pss: float


def tree(root: int) -> list[int]:
    """Return `root` and all its living descendants."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (fields := _stat(int(entry.name))):
            parents[int(entry.name)] = int(fields[1])
    found = [root]
    for pid in found:
        found += [child for child, parent in parents.items() if parent == pid]
    return found


def worker(root: int) -> int:
    """Return the descendant that follows the workload: the one with the most threads, one for each watch and log."""
    return max(tree(root)[1:], key=_threads)


def usage(pids: list[int], *, children: bool) -> Usage:
    """Return the sum over `pids`; `children` adds the CPU of children that have ended."""
    fields = [found for pid in pids if (found := _stat(pid))]
    last = 15 if children else 13
    ticks = sum(int(value) for row in fields for value in row[11:last])
    rollups = [_rollup(pid) for pid in pids]
    return Usage(ticks / _TICKS, sum(rss for rss, _ in rollups) / 1024, sum(pss for _, pss in rollups) / 1024)


def _stat(pid: int) -> list[str]:
    """Return the fields of /proc/PID/stat from the third on (state, ppid, …); `[]` when the process has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def _threads(pid: int) -> int:
    fields = _stat(pid)
    return int(fields[17]) if fields else 0


def _rollup(pid: int) -> tuple[int, int]:
    text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    found = dict(re.findall(r"^(Rss|Pss):\s+(\d+) kB", text, re.MULTILINE))
    return int(found["Rss"]), int(found["Pss"])
