# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Following what somebody else submitted, and the modules where no action plugin runs."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from plays import ROOT, until
from samples import GATE, IMAGE, JOB, Json, job
from space import Space

pytestmark = pytest.mark.cluster


def _submit(space: Space, name: str, script: str) -> None:
    container = {"name": "main", "image": IMAGE, "command": ["bash", "-c", script]}
    pod = {"restartPolicy": "Never", "containers": [container]}
    space.apply(
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": name},
            "spec": {"backoffLimit": 0, "template": {"spec": pod}},
        }
    )


def test_somebody_elses_job(space: Space) -> None:
    _submit(space, "good", "echo by hand")
    _submit(space, "bad", "echo bad luck; exit 5")

    shown = space.task("workload_wait", kind="Job", name="good", timeout=600)
    assert "| by hand" in shown
    assert "changed=0" in shown
    assert space.record("good")["outcome"] == "succeeded"
    assert space.log("good") == ["by hand"]

    shown = space.task("workload_wait", 2, kind="Job", name="bad", timeout=600)
    assert "it ended with exit code 5" in shown
    assert space.record("bad")["cause"]["log_tail"] == ["bad luck"]
    assert space.names("jobs") == ["bad", "good"]


def test_a_job_that_is_not_there(space: Space) -> None:
    shown = space.task("workload_wait", 2, kind="Job", name="absent")
    assert f"Job absent: not found in namespace {space.namespace}. Check name, namespace and kind." in shown


def _replica(script: str) -> Json:
    container = {"name": "main", "image": IMAGE, "command": ["bash", "-c", script]}
    return {"template": {"spec": {"containers": [container]}}}


def test_somebody_elses_mpi_job(space: Space) -> None:
    """Launcher and worker without MPI: how the operator reports them is what counts here."""
    launcher = f"echo from the launcher; {GATE}"
    space.apply(
        {
            "apiVersion": "kubeflow.org/v2beta1",
            "kind": "MPIJob",
            "metadata": {"name": "hello"},
            "spec": {
                "runPolicy": {"cleanPodPolicy": "Running"},
                "mpiReplicaSpecs": {
                    "Launcher": {"replicas": 1, "restartPolicy": "Never", **_replica(launcher)},
                    "Worker": {"replicas": 1, **_replica("echo from the worker; sleep infinity")},
                },
            },
        }
    )

    play = space.start_task("mpi_job_wait", name="hello", timeout=600)
    play.shows("| from the launcher")
    until(lambda: "from" in space.kubectl("logs", "hello-worker-0", check=False), "the worker spoke")
    space.open_gate()
    shown = play.end()

    record = space.record("hello")
    assert record["outcome"] == "succeeded"
    assert {pod["role"] for pod in record["pods"]} == {"launcher", "worker-0"}
    assert "from the worker" not in shown
    logs = {file.name.split(".")[0]: file.read_text() for file in (space.evidence("hello") / "logs").iterdir()}
    assert logs["hello-worker-0"] == "from the worker\n"


def test_the_module_does_what_its_action_does(space: Space) -> None:
    """Over a connection that is not local Ansible runs the module: the same engine, without the live log."""
    where = {"kubeconfig": space.kubeconfig, "namespace": space.namespace, "runs_dir": str(space.runs)}
    arguments = {**where, "release": "run", "chart": JOB, "values": job("echo in the module")}
    program = (
        "import sys; sys.path.insert(0, 'tests'); import conftest\n"
        "from ansible.module_utils.testing import patch_module_args\n"
        "from ansible_collections.mlops.eks.plugins.modules import helm_step\n"
        "import json\n"
        "with patch_module_args(json.load(sys.stdin)): helm_step.main()\n"
    )

    def call(**more: object) -> Json:
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT, input=json.dumps({**arguments, **more}), capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert "Traceback" not in done.stderr, done.stderr
        found: Json = json.loads(done.stdout)
        return found

    first = call()
    assert (first["outcome"], first["changed"], "failed" in first) == ("succeeded", True, False)
    (log,) = space.runs.glob("*/*/01-run/logs/*.log")
    assert log.read_text(encoding="utf-8").startswith("in the module\n")
    assert call()["outcome"] == "skipped"
    failed = call(values=job("exit 9"))
    assert failed["failed"] is True
    assert failed["cause"]["message"] == "it ended with exit code 9."
    assert call(chart="absent/chart")["failed"] is True
