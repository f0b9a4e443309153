# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""A pipeline of trivial Jobs: through our playbook, a shell loop, and the tasks of kubernetes.core."""

from __future__ import annotations

import sys
import typing as t
from collections.abc import Callable
from pathlib import Path

from setting import BENCH, CHART, ROOT, Ran, Setting, say
from terminal import Terminals

WORD = "bench-says-done"


def run(setting: Setting, repetitions: int) -> tuple[dict[str, list[float]], list[float]]:
    """Return, by contender, wall and CPU seconds of every repetition; and our seconds from terminal to return.

    The contenders take turns, each beginning as often as the others; every repetition has a release name of its own.
    """
    pipeline = setting.pipeline("echo", [f"echo {WORD}"], steps=setting.steps)
    contenders: dict[str, Callable[[str], Ran]] = {
        "mlops_eks": lambda release: _ours(setting, pipeline, release),
        "bash": lambda release: _bash(setting, pipeline, release),
        "kubernetes_core": lambda release: _kubernetes_core(setting, pipeline, release),
    }
    series: dict[str, list[float]] = {f"{name}_{what}": [] for name in contenders for what in ("s", "cpu_s")}
    names = list(contenders)
    with Terminals(setting) as terminals:
        for repetition in range(repetitions):
            turn = repetition % len(names)
            for name in names[turn:] + names[:turn]:
                ran = contenders[name](f"{name.replace('_', '-')}-{repetition + 1}")
                _complete(setting, name, ran)
                series[f"{name}_s"].append(ran.seconds)
                series[f"{name}_cpu_s"].append(ran.cpu)
                say(f"(a) {repetition + 1}/{repetitions} {name:<16} {ran.seconds:6.1f} s, {ran.cpu:5.1f} s CPU")
        return series, terminals.delays()


def ratios(series: dict[str, list[float]], other: str) -> list[float]:
    """Return our wall time over that of `other`, repetition by repetition."""
    return [ours / theirs for ours, theirs in zip(series["mlops_eks_s"], series[f"{other}_s"], strict=True)]


def _complete(setting: Setting, name: str, ran: Ran) -> None:
    """Every step's output must have been shown: a contender that skips work is no contender."""
    shown = ran.output.count(WORD)
    if shown < setting.steps:
        sys.exit(f"bench: {name} showed {shown} of {setting.steps} logs:\n{ran.output}")


def _ours(setting: Setting, pipeline: Path, release: str) -> Ran:
    extra: dict[str, t.Any] = {
        "pipeline": str(pipeline),
        "release": release,
        "runs_dir": str(setting.work / "runs"),
    }
    command = setting.playbook_command(ROOT / "playbooks" / "train.yml", setting.inventory(), extra)
    return setting.run(command, Terminals.environment(setting))


def _bash(setting: Setting, pipeline: Path, release: str) -> Ran:
    more = {
        "STEPS": str(setting.steps),
        "RELEASE": release,
        "CHART": str(CHART),
        "RECIPE": str(pipeline / "recipe.yaml"),
        "NAMESPACE": setting.namespace,
    }
    return setting.run([str(BENCH / "playbooks" / "loop.sh")], more)


def _kubernetes_core(setting: Setting, pipeline: Path, release: str) -> Ran:
    extra = {
        "release": release,
        "bench_steps": setting.steps,
        "bench_helm": setting.helm_binary,
        "bench_chart": str(CHART),
        "bench_recipe": str(pipeline / "recipe.yaml"),
        "bench_wait_sleep": setting.wait_sleep,
    }
    playbook = BENCH / "playbooks" / "kubernetes_core.yml"
    return setting.run(setting.playbook_command(playbook, setting.inventory(), extra))
