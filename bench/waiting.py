# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""What waiting on a silent Job costs: CPU, API requests, memory.

Several plays wait at once, each through a counting proxy of its own; each is a tree of processes of its own.
"""

from __future__ import annotations

import subprocess
import sys
import time
import typing as t
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from processes import Usage, tree, usage, worker
from proxy import CountingProxy
from setting import ROOT, Setting, say

# Seconds for a play to settle after its Job runs, and for the Job to go on after the last sample.
_SETTLE = 10
_MARGIN = 30


@dataclass(kw_only=True)
class _Play:
    """One `ansible-playbook playbooks/train.yml` that waits."""

    process: subprocess.Popen[bytes]
    proxy: CountingProxy
    output: Path
    begun: dict[str, Usage] = field(default_factory=dict)

    def sample(self) -> dict[str, Usage]:
        return {
            "worker": usage([worker(self.process.pid)], children=False),
            "tree": usage(tree(self.process.pid), children=True),
        }


def run(setting: Setting, plays: int, minutes: float) -> dict[str, list[float]]:
    """Return CPU seconds and requests per minute, and memory in MiB, one value per play."""
    pipeline = setting.pipeline("silent", [f"sleep {int(minutes * 60) + 2 * plays + _SETTLE + _MARGIN}"], steps=1)
    waiting = [_start(setting, pipeline, f"wait-{index + 1}") for index in range(plays)]
    _until_running(setting, waiting)
    time.sleep(_SETTLE)
    begun = time.monotonic()
    for play in waiting:
        play.begun = play.sample()
    while (left := begun + minutes * 60 - time.monotonic()) > 0:
        say(f"(c) {plays} plays wait, {left:.0f} s to go")
        time.sleep(min(30.0, left))
    series: dict[str, list[float]] = {}
    for play in waiting:
        for name, value in _figures(play, begun, time.monotonic()).items():
            series.setdefault(name, []).append(value)
    seen = Counter(_kind(request.method, request.path) for request in waiting[0].proxy.between(begun, time.monotonic()))
    say(f"(c) requests of the first play in {minutes:g} min: {dict(seen) or 'none'}")
    for play in waiting:
        _finish(play)
    return series


def _figures(play: _Play, begun: float, ended: float) -> dict[str, float]:
    minutes = (ended - begun) / 60
    found = play.sample()
    return {
        "wait_cpu_s_per_min": (found["worker"].cpu - play.begun["worker"].cpu) / minutes,
        "wait_cpu_s_per_min_tree": (found["tree"].cpu - play.begun["tree"].cpu) / minutes,
        "wait_requests_per_min": len(play.proxy.between(begun, ended)) / minutes,
        "wait_rss_mb": found["tree"].rss,
        "wait_pss_mb": found["tree"].pss,
        "wait_rss_mb_worker": found["worker"].rss,
        "wait_pss_mb_worker": found["worker"].pss,
    }


def _start(setting: Setting, pipeline: Path, release: str) -> _Play:
    proxy = CountingProxy(setting.kubeconfig, setting.work / f"proxy-{release}")
    extra: dict[str, t.Any] = {
        "pipeline": str(pipeline),
        "release": release,
        "runs_dir": str(setting.work / "runs"),
    }
    inventory = setting.inventory(proxy.kubeconfig)
    command = setting.playbook_command(ROOT / "playbooks" / "train.yml", inventory, extra)
    output = setting.work / f"{release}.txt"
    with output.open("wb") as stream:
        process = subprocess.Popen(
            command, cwd=ROOT, env=setting.environment(), stdout=stream, stderr=subprocess.STDOUT
        )
    return _Play(process=process, proxy=proxy, output=output)


def _until_running(setting: Setting, waiting: list[_Play]) -> None:
    for index, play in enumerate(waiting):
        job = f"job-name=data-process-wait-{index + 1}"
        wanted = ["get", "pods", "--selector", job, "-o", "jsonpath={.items[*].status.phase}"]
        while setting.kubectl(*wanted).strip() != "Running":
            if play.process.poll() is not None:
                sys.exit(f"bench: a play ended before its Job ran:\n{play.output.read_text(encoding='utf-8')}")
            time.sleep(0.5)


def _finish(play: _Play) -> None:
    if play.process.wait() != 0:
        sys.exit(f"bench: a play that waited failed:\n{play.output.read_text(encoding='utf-8')}")
    play.proxy.close()


def _kind(method: str, path: str) -> str:
    resource = path.partition("?")[0].split("/namespaces/")[-1].split("/")[1:2]
    return f"{'WATCH' if 'watch=1' in path else method} {''.join(resource)}"
