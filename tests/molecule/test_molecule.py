# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Every role's molecule scenario, on a native cluster: run, quiet second run, its promises, quiet check mode, gone."""

from __future__ import annotations

import os
import subprocess
import sys
import typing as t
from pathlib import Path

import pytest

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = sorted(path.parent.name for path in (ROOT / "extensions" / "molecule").glob("*/molecule.yml"))


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_scenario(scenario: str, native_cluster: t.Any) -> None:
    bin_dir = Path(sys.executable).parent
    env = {
        **os.environ,
        "PATH": f"{bin_dir}{os.pathsep}{os.environ['PATH']}",
        "NO_COLOR": "1",
        # The scenarios have a configuration of their own, as they must work without the checkout's.
        "ANSIBLE_CONFIG": "",
        # A native cluster's kubeconfig is in a directory of its name.
        "MLOPS_EKS_TEST_CLUSTER": Path(native_cluster.kubeconfig).parent.name,
        "MLOPS_EKS_OWN_CLUSTER": f"molecule-{os.getpid()}",
    }
    command = [str(bin_dir / "molecule"), "test", "--scenario-name", scenario]
    run = subprocess.run(
        command, cwd=ROOT, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, check=False, timeout=3600,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout
