# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""The charts of Ray, with real Ray by KubeRay: both nodes of a cluster compute, a service answers, a driver saves."""

from __future__ import annotations

import typing as t

import pytest
from driven import LONG, run_step
from plays import until
from ray_workloads import RAY_IMAGE, RAY_VERSION
from samples import Json
from space import Space

pytestmark = [pytest.mark.cluster, pytest.mark.operators]

# Ray gives up on its own processes early; here they share two cores with everything else.
PATIENCE = [
    {"name": "RAY_DASHBOARD_STARTUP_TIMEOUT_S", "value": "300"},
    {"name": "RAY_DASHBOARD_SUBPROCESS_MODULE_WAIT_READY_TIMEOUT", "value": "300"},
    {"name": "HOME", "value": "/tmp"},
]
# Each node sums its half of the squares below 1000; the driver adds them up.
SUM = """
import ray, socket
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy as On
ray.init()

@ray.remote(num_cpus=0.1)
def part(first):
    return socket.gethostname(), sum(number * number for number in range(first, 1000, 2))

nodes = [node["NodeID"] for node in ray.nodes() if node["Alive"]]
parts = ray.get([part.options(scheduling_strategy=On(node, soft=False)).remote(at) for at, node in enumerate(nodes)])
print("total", sum(one for _, one in parts), "on", len({host for host, _ in parts}), "nodes")
"""
# The actor, on the worker, has to be there for the driver to save.
SAVE = """
import ray, signal, time
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy as On
ray.init()
(worker,) = [node["NodeID"] for node in ray.nodes() if "node:__internal_head__" not in node["Resources"]]

@ray.remote(num_cpus=0.1)
class Model:
    def save(self):
        time.sleep(3)
        return "checkpoint saved"

model = Model.options(scheduling_strategy=On(worker, soft=False)).remote()
told = []
signal.signal(signal.SIGTERM, lambda *_: told.append(True))
print("training", flush=True)
while not told:
    time.sleep(0.1)
print("caught SIGTERM,", ray.get(model.save.remote()), flush=True)
"""
HELLO = """
from ray import serve


@serve.deployment
class Hello:
    async def __call__(self, request):
        return "hello " + request.query_params["name"]


app = Hello.bind()
"""
SERVE = """
applications:
  - name: hello
    import_path: hello:app
    deployments:
      - name: Hello
        num_replicas: 2
        max_replicas_per_node: 1
        ray_actor_options: {num_cpus: 0.1}
"""


def _resources(cpu: str) -> Json:
    return {"requests": {"cpu": cpu, "memory": "512Mi"}, "limits": {"memory": "2Gi"}}


def _recipe(**more: t.Any) -> Json:
    """Return what all recipes say: a head and one worker that fit beside all operators on two cores."""
    ray = {"version": RAY_VERSION, "resources": _resources("300m"), **more.pop("ray", {})}
    return {"image": RAY_IMAGE, "pvc": [], "resources": _resources("200m"), "ray": ray, **more}


def _job(work: str, program: str, **more: t.Any) -> Json:
    written = f"cat >/tmp/program.py <<'END'{program}END"
    return _recipe(inline_script=[written], **{work: {"env": PATIENCE, "command": ["python /tmp/program.py"]}}, **more)


@pytest.mark.parametrize(
    ("name", "chart", "work", "group"),
    [
        ("raytrain", "training/raytrain", "train", "training"),
        ("ray-data-process", "data-prep/ray-data-process", "process", "data"),
    ],
)
def test_a_job_computes_on_both_nodes(
    name: str, chart: str, work: str, group: str, space: Space, one_ray: None
) -> None:
    shown = run_step(space, chart, _job(work, SUM))
    assert "| total 332833500 on 2 nodes" in shown
    record = space.record("run")
    assert record["outcome"] == "succeeded"
    assert {pod["role"] for pod in record["pods"]} == {"submitter", "head", f"{group}-0"}
    assert space.releases() == []


@pytest.mark.parametrize("name", ["raytrain-fails"])
def test_a_script_that_fails_fails_the_job(name: str, space: Space, one_ray: None) -> None:
    values = _job("train", "\nraise SystemExit(3)\n")
    shown = run_step(space, "training/raytrain", values, rc=2)
    assert "exit code 3" in shown
    assert space.record("run")["outcome"] == "failed"


@pytest.mark.parametrize("name", ["raytrain-stop"])
def test_a_driver_that_is_stopped_saves_by_its_workers(name: str, space: Space, one_ray: None) -> None:
    efs = space.share("pv-efs")
    values = _job("train", SAVE, pvc=[{"name": "pv-efs", "mount_path": "/efs"}])
    values["train"]["args"] = ["2>&1 | tee /efs/driver.log"]
    step = {"name": "train", "chart": "training/raytrain", "recipe": "train.yaml", "timeout": LONG - 60}
    play = space.start("train", pipeline=space.pipeline_of("run", [step], {"train": values}))
    play.shows("| training", seconds=LONG)
    space.play("stop", release="run")
    play.end(None, seconds=LONG)
    assert "caught SIGTERM, checkpoint saved" in (efs / "driver.log").read_text(encoding="utf-8")
    assert space.releases() == []


@pytest.mark.parametrize("name", ["rayserve"])
def test_a_service_answers(name: str, space: Space, one_ray: None) -> None:
    """It is ready when both replicas are; a second run finds it so; stop takes it away."""
    code = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "code"}, "data": {"hello.py": HELLO}}
    space.apply(code)
    values = _recipe(
        ray={"env": [*PATIENCE, {"name": "PYTHONPATH", "value": "/code"}], "serve_config_v2": {"serveConfigV2": SERVE}},
        volumes=[{"name": "code", "configMap": {"name": "code"}}],
        volume_mounts=[{"name": "code", "mountPath": "/code"}],
    )
    step = {"release": "run", "chart": "serving/rayserve", "values": values, "keep": True, "timeout": LONG - 60}
    assert "changed=1" in space.start_task("helm_step", **step).end(seconds=LONG)
    record = space.record("run")
    assert record["outcome"] == "ready"
    assert {pod["role"] for pod in record["pods"]} == {"head", "serving-0"}
    (head,) = space.get("pods", "-l", "ray.io/node-type=head")
    # The Service of the RayService itself, which KubeRay selects by labels that the pods must not change.
    for service, path in (
        ("rayservice-run-serve-svc:8000", "?name=you"),
        ("rayservice-run-head-svc:8265", "api/version"),
    ):
        program = f"import urllib.request as u; print(u.urlopen('http://{service}/{path}', timeout=10).read().decode())"
        ask = ("exec", head["metadata"]["name"], "-c", "ray-head", "--", "python", "-c", program)
        answer = until(lambda ask=ask: space.kubectl(*ask, check=False), f"{service} answers")
        assert answer.strip() == "hello you" or RAY_VERSION in answer
    assert "changed=0" in space.task("helm_step", **step)
    space.play("stop", release="run")
    assert space.releases() == []
