"""The charts on a real cluster with the operators, installed by Helm as a person would, without the engine."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from chart_cases import CHARTS
from kubernetes import client, config, stream, watch

pytestmark = pytest.mark.cluster

# Images of the demo, which the native cluster holds: one with bash, one with MPI, sshd and Python.
BASE = os.environ.get("MLOPS_EKS_TEST_IMAGE", "localhost/mlops-eks/base:0.1.0")
MPI = os.environ.get("MLOPS_EKS_TEST_MPI_IMAGE", "localhost/mlops-eks/digits:0.1.0")
SMALL = {"cpu": "100m", "memory": "64Mi"}
PATIENCE = 360

# Says when it started, and when a signal let it save; half a second stands for the writing of a checkpoint.
TRAINER = """bash -c 'trap "sleep 0.5; echo saved; exit 0" TERM; echo started; while :; do sleep 0.1; done'"""
# Tells a program `timeout` so.
TIME_IS_UP = """for one in /proc/[0-9]*; do [ "$(cat $one/comm)" != timeout ] || kill -ALRM ${one#/proc/}; done"""
PROGRAM = """cat >/tmp/program-$OMPI_COMM_WORLD_RANK.py <<'END'
import os
from mpi4py import MPI
world = MPI.COMM_WORLD
total = world.allreduce(world.rank + 1)
print("rank", world.rank, "of", world.size, "sum", total, *map(os.environ.get, ("POD", "TOKEN", "STAMP")), flush=True)
END"""


class Namespace:
    """A namespace of this test, with Helm and a client."""

    def __init__(self, name: str, kubeconfig: str, run_helm: Callable[..., str], directory: Path) -> None:
        api = config.new_client_from_config(config_file=kubeconfig)  # type: ignore[no-untyped-call]
        self.name = name
        self.core: Any = client.CoreV1Api(api)
        self._where = ("--kubeconfig", kubeconfig, "--namespace", name)
        self._run_helm = run_helm
        self._directory = directory

    def install(self, release: str, chart: str, values: dict[str, Any]) -> None:
        path = self._directory / f"{release}.json"
        path.write_text(json.dumps({"pvc": [], **values}))
        self._run_helm(*self._where, "install", release, str(CHARTS / chart), "--values", str(path))

    def uninstall(self, release: str) -> None:
        self._run_helm(*self._where, "uninstall", release, "--wait")

    def pod(self, release: str, until: Callable[[Any], bool], selector: str = "") -> Any:
        """Return the first pod of a release of which `until` holds."""
        labels = f"app.kubernetes.io/instance={release}{selector}"
        pods: Any = watch.Watch()  # type: ignore[no-untyped-call]
        for change in pods.stream(
            self.core.list_namespaced_pod, self.name, label_selector=labels, timeout_seconds=PATIENCE
        ):
            if until(change["object"]):
                return change["object"]
        pytest.fail(f"no pod of {release} came to what was waited for in {PATIENCE} s")

    def last(self, pod: Any) -> Any:
        """Return how a pod was when it went."""
        changes: Any = watch.Watch()  # type: ignore[no-untyped-call]
        since, field = pod.metadata.resource_version, f"metadata.name={pod.metadata.name}"
        for change in changes.stream(
            self.core.list_namespaced_pod, self.name, field_selector=field, resource_version=since,
            timeout_seconds=PATIENCE,
        ):  # fmt: skip
            if change["type"] == "DELETED":
                return change["object"]
        pytest.fail(f"pod {pod.metadata.name} is still there after {PATIENCE} s")

    def run(self, pod: Any, script: str) -> None:
        """Run a script in a pod."""
        command = ["/bin/bash", "-c", script]
        ask = self.core.connect_get_namespaced_pod_exec
        stream.stream(ask, pod.metadata.name, self.name, command=command, stdout=True, stderr=True)  # type: ignore[no-untyped-call]

    def log(self, pod: Any) -> Iterator[str]:
        """Yield the lines of a pod's log until it ends."""
        answer = self.core.read_namespaced_pod_log(pod.metadata.name, self.name, follow=True, _preload_content=False)
        for line in answer:
            yield line.decode().rstrip("\n")


@pytest.fixture
def namespace(run_helm: Callable[..., str], tmp_path: Path) -> Iterator[Namespace]:
    kubeconfig = os.environ.get("MLOPS_EKS_TEST_KUBECONFIG")
    if not kubeconfig:
        pytest.fail("no cluster: name the kubeconfig of one, with the operators on it, in MLOPS_EKS_TEST_KUBECONFIG")
    made = Namespace(f"charts-test-{os.getpid()}-{time.monotonic_ns()}", kubeconfig, run_helm, tmp_path)
    made.core.create_namespace({"metadata": {"name": made.name}})
    yield made
    made.core.delete_namespace(made.name)


def ended(pod: Any) -> bool:
    return pod.status.phase in ("Succeeded", "Failed")


def running(pod: Any) -> bool:
    return bool(pod.status.phase == "Running")


def test_an_mpi_program_runs_on_every_rank(namespace: Namespace) -> None:
    namespace.core.create_namespaced_secret(
        namespace.name, {"metadata": {"name": "token"}, "stringData": {"token": 's3cr;et "x"'}}
    )
    secret = {"secretKeyRef": {"name": "token", "key": "token"}}
    values = {
        "image": MPI,
        "resources": {"nnodes": 2, "nproc_per_node": 2, "requests": SMALL},
        "launcher": {
            "pre_script": ["export STAMP='a b'"],
            "post_script": ["echo after"],
            "resources": {"requests": SMALL},
        },
        "mpirun": {"args": ["--allow-run-as-root", "--bind-to none", "--map-by slot", "-x STAMP"]},
        "inline_script": [PROGRAM],
        "train": {
            "env": [
                {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                {"name": "TOKEN", "valueFrom": secret},
            ],
            "command": ["python3 /tmp/program-$OMPI_COMM_WORLD_RANK.py"],
        },
    }
    namespace.install("sum", "training/mpijob-distributed", values)
    launcher = namespace.pod("sum", ended, ",app.kubernetes.io/component=launcher")
    said = list(namespace.log(launcher))
    assert launcher.status.phase == "Succeeded", said
    expected = [f'rank {rank} of 4 sum 10 mpijob-sum-worker-{rank // 2} s3cr;et "x" a b' for rank in range(4)]
    assert sorted(line for line in said if line.startswith("rank")) == expected
    assert said[-2:] == ["Training script done", "after"]
    namespace.uninstall("sum")


def test_a_job_that_is_stopped_saves_first(namespace: Namespace) -> None:
    values = {
        "image": BASE,
        "resources": {"requests": SMALL},
        "process": {"command": [TRAINER], "args": ["| tee /tmp/log"]},
        "post_script": ["echo post"],
        "always_script": ["echo always $EXIT_STATUS"],
    }
    namespace.install("stopped", "data-prep/data-process", values)
    pod = namespace.pod("stopped", running)
    lines = namespace.log(pod)
    assert next(lines) == "started"
    namespace.uninstall("stopped")
    said = [line for line in lines if line != "Terminated"]
    assert said == ["saved", "always 143"]
    (container,) = namespace.last(pod).status.container_statuses
    assert container.state.terminated.exit_code == 143, "the grace period was waited out"


def start_mpi(namespace: Namespace, release: str) -> Iterator[str]:
    """Install two ranks that take longer to save than an mpirun which is signalled would wait; return their lines."""
    values = {
        "image": MPI,
        "resources": {"nnodes": 2, "requests": SMALL},
        "launcher": {"resources": {"requests": SMALL}},
        "train": {"command": [TRAINER.replace("sleep 0.5", "sleep 4")], "args": ["| tee /tmp/log"]},
        "always_script": ["echo always $EXIT_STATUS"],
    }
    namespace.install(release, "training/mpijob-distributed", values)
    lines = namespace.log(namespace.pod(release, running, ",app.kubernetes.io/component=launcher"))
    assert [next(lines), next(lines)] == ["started", "started"]
    return lines


def test_an_mpi_job_that_is_stopped_saves_on_every_rank(namespace: Namespace) -> None:
    lines = start_mpi(namespace, "stopped")
    namespace.uninstall("stopped")
    said = list(lines)
    # mpirun has words of its own about ranks that fail.
    assert (said.count("saved"), said.count("always 143")) == (2, 2), said


def test_a_worker_that_alone_has_to_go_lets_its_rank_save(namespace: Namespace) -> None:
    lines = start_mpi(namespace, "drained")
    worker = namespace.pod("drained", running, ",app.kubernetes.io/component=worker")
    name = worker.metadata.name
    namespace.core.create_namespaced_pod_eviction(name, namespace.name, {"metadata": {"name": name}})
    said = list(lines)
    assert said.index("saved") < said.index("always 143"), said
    namespace.uninstall("drained")


def test_a_server_becomes_ready_and_starts_again_when_it_dies(namespace: Namespace) -> None:
    values = {
        "image": {"name": MPI},
        "resources": {"requests": SMALL},
        "pre_script": ["if [ -e /dev/shm/second ]; then FIRST=; else touch /dev/shm/second; FIRST='timeout 900'; fi"],
        "server": {
            "command": ["$FIRST python3 -m http.server 8000"],
            "ports": [{"name": "http", "value": 8000}],
            "startup_probe": {"period_secs": 1},
        },
    }
    namespace.install("server", "serving/generic-server", values)

    def ready(pod: Any, restarts: int) -> bool:
        return any(one.ready and one.restart_count == restarts for one in pod.status.container_statuses or [])

    # The first program's time is up as soon as it has been seen to be ready.
    namespace.run(namespace.pod("server", lambda pod: ready(pod, 0)), TIME_IS_UP)
    pod = namespace.pod("server", lambda pod: ready(pod, 1))
    assert pod.status.container_statuses[0].last_state.terminated.exit_code == 124
    namespace.uninstall("server")
