# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Measure the engine, side by side with what people do without it; see bench/README.md."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import typing as t
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path

import logs
import pipelines
import scale
import terminal
import waiting
from figures import TARGETS, summary, table
from setting import BENCH, IMAGE, ROOT, Setting, say

Series = dict[str, list[float]]
PARTS = ("a", "b", "c", "d", "scale")
_PRINTED = {
    "mlops_eks_s": "pipeline by train.yml, s",
    "bash_s": "pipeline by a bash loop, s",
    "kubernetes_core_s": "pipeline by kubernetes.core, s",
    "mlops_eks_cpu_s": "CPU of train.yml, s",
    "bash_cpu_s": "CPU of the bash loop, s",
    "kubernetes_core_cpu_s": "CPU of kubernetes.core, s",
}


def main() -> None:
    """Measure, print, and write the results."""
    options = _options()
    begun = time.monotonic()
    facts = _facts(options)
    with _scratch(options.work) as work:
        setting = Setting(
            kubeconfig=Path(options.kubeconfig).absolute(),
            work=work,
            image=options.image,
            steps=options.steps,
            wait_sleep=options.wait_sleep,
        )
        facts["kubernetes"] = json.loads(setting.kubectl("version", "-o", "json"))["serverVersion"]["gitVersion"]
        facts["helm"] = setting.run([setting.helm_binary, "version", "--short"]).output.strip()
        with setting:
            series = _measure(setting, options)
    say(f"done in {(time.monotonic() - begun) / 60:.1f} min")
    _report(series, facts, Path(options.output))


@contextmanager
def _scratch(given: str | None) -> Iterator[Path]:
    """Yield the directory of evidence and outputs: removed at the end, unless the user named it."""
    if given:
        work = Path(given).absolute() / time.strftime("%Y%m%dT%H%M%S")
        work.mkdir(parents=True, exist_ok=True)
        yield work
        return
    with tempfile.TemporaryDirectory(prefix="mlops-eks-bench-") as made:
        yield Path(made)


def _measure(setting: Setting, options: argparse.Namespace) -> Series:
    series: Series = {}
    if "d" in options.only:
        series |= logs.run(setting, options.repetitions)
    if "b" in options.only:
        series["terminal_to_return_s_workload_wait"] = terminal.followed(setting, options.jobs)
    if "a" in options.only:
        found, delays = pipelines.run(setting, options.repetitions)
        series |= found
        series["pipeline_vs_bash"] = pipelines.ratios(found, "bash")
        series["pipeline_vs_kubernetes_core"] = pipelines.ratios(found, "kubernetes_core")
        # Of helm_step, uninstalling and evidence included: the stricter of the two.
        series["terminal_to_return_s"] = delays
    if "c" in options.only:
        series |= waiting.run(setting, options.plays, options.minutes)
    if "scale" in options.only:
        series |= scale.run(setting, options.workers, options.hosts)
    return series


def _report(series: Series, facts: dict[str, t.Any], output: Path) -> None:
    names = [name for name in (*TARGETS, *(name for name in series if name not in TARGETS)) if name in series]
    print()
    print("\n".join(table([(name, series[name]) for name in names])))
    print(f"\n{', '.join(f'{key}: {value}' for key, value in facts.items())}")
    # What is not measured now stays as it was; each figure says when that was.
    results = json.loads(output.read_text(encoding="utf-8")) if output.exists() else {}
    when = {"measured": f"{facts['date']} {facts['revision']}"}
    rounded = {name: [round(value, 4) for value in values] for name, values in series.items()}
    results |= {name: {**summary(series[name]), **when} for name in names}
    results |= {"machine": facts, "series": {**results.get("series", {}), **rounded}}
    output.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(f"\nwritten to {output}")


def _facts(options: argparse.Namespace) -> dict[str, t.Any]:
    revision = subprocess.run(
        ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    )
    model = [line for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines() if "model name" in line]
    collections = subprocess.run(
        [str(Path(sys.executable).parent / "ansible-galaxy"), "collection", "list", "--format", "json"],
        capture_output=True,
        text=True,
        check=False,
    )
    installed = json.loads(collections.stdout)
    found = {name: entry["version"] for path in installed.values() for name, entry in path.items()}
    return {
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "revision": revision.stdout.strip(),
        "cores": os.cpu_count(),
        "cpu": model[0].partition(":")[2].strip() if model else platform.machine(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "load_before": round(os.getloadavg()[0], 2),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "ansible_core": metadata.version("ansible-core"),
        "kubernetes_core": found.get("kubernetes.core", "none"),
        "kubernetes_core_wait_sleep": options.wait_sleep,
        "steps": options.steps,
        "wait_minutes": options.minutes,
    }


def _parts(text: str) -> tuple[str, ...]:
    found = tuple(text.split(","))
    if unknown := set(found) - set(PARTS):
        raise argparse.ArgumentTypeError(f"{', '.join(sorted(unknown))}: known are {', '.join(PARTS)}")
    return found


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    given = os.environ.get("MLOPS_EKS_TEST_KUBECONFIG")
    parser.add_argument("--kubeconfig", default=given, help="cluster to use; default MLOPS_EKS_TEST_KUBECONFIG")
    parser.add_argument("--image", default=IMAGE, help="image with bash that the cluster has (default %(default)s)")
    parser.add_argument("--only", type=_parts, default=PARTS, help="parts to measure, such as a,b (default: all)")
    parser.add_argument("--repetitions", type=int, default=5, help="of (a) and (d) (default %(default)s)")
    parser.add_argument("--steps", type=int, default=10, help="of the pipeline in (a) (default %(default)s)")
    parser.add_argument("--jobs", type=int, default=10, help="followed in (b) (default %(default)s)")
    parser.add_argument("--plays", type=int, default=5, help="that wait at once in (c) (default %(default)s)")
    parser.add_argument("--minutes", type=float, default=3.0, help="of waiting in (c) (default %(default)s)")
    parser.add_argument("--workers", type=int, default=1000, help="of the MPIJob in (scale) (default %(default)s)")
    parser.add_argument("--hosts", type=int, default=200, help="of the play in (scale) (default %(default)s)")
    parser.add_argument("--wait-sleep", type=int, default=5, help="k8s_info's wait_sleep (its default, %(default)s)")
    parser.add_argument("--work", help="directory for evidence and outputs, which is then kept")
    parser.add_argument("--output", default=str(BENCH / "results.json"), help="file of the results")
    options = parser.parse_args()
    if not options.kubeconfig:
        parser.error("no cluster: set MLOPS_EKS_TEST_KUBECONFIG or --kubeconfig, or run 'make bench'")
    return options


if __name__ == "__main__":
    main()
