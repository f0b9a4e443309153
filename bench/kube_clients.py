# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Measure what importing a Kubernetes client costs: `python bench/kube_clients.py PYTHON`.

PYTHON is an interpreter whose environment has lightkube, kr8s and kubernetes; ours runs on this interpreter. Prints the
median of seven processes: CPU seconds, and MiB of peak memory, beyond an interpreter that imports nothing.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from pathlib import Path

_COLLECTIONS = Path(__file__).resolve().parents[1] / ".venv" / "collections"
_PACKAGE = "ansible_collections.mlops.eks.plugins.module_utils._kube"
IMPORTS = {
    "mlops.eks": f"import sys; sys.path.insert(0, {str(_COLLECTIONS)!r}); from {_PACKAGE} import client, watch",
    "lightkube": "import lightkube; from lightkube.resources.core_v1 import Pod",
    "kr8s": "import kr8s; from kr8s.objects import Pod",
    "kubernetes": "import kubernetes.client, kubernetes.config, kubernetes.watch",
}
_MEASURE = "; import resource; used = resource.getrusage(0); print(used.ru_utime + used.ru_stime, used.ru_maxrss)"


def cost(python: str, code: str) -> tuple[float, float]:
    """Return the median CPU seconds and MiB of seven processes that run `code`."""
    runs = [
        subprocess.run([python, "-c", code + _MEASURE], capture_output=True, text=True, check=True).stdout.split()
        for _ in range(7)
    ]
    return statistics.median(float(cpu) for cpu, _ in runs), statistics.median(int(kib) for _, kib in runs) / 1024


def main(other: str) -> None:
    """Print one line for each client."""
    for name, code in IMPORTS.items():
        python = sys.executable if name == "mlops.eks" else other
        (cpu, memory), (base_cpu, base_memory) = cost(python, code), cost(python, "pass")
        print(f"{name:12} {cpu - base_cpu:5.2f} s {memory - base_memory:6.1f} MiB")


if __name__ == "__main__":
    main(sys.argv[1])
