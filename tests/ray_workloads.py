"""The Ray workloads of tests/record_changes.py: small life cycles on the image of containers/ray."""

from __future__ import annotations

import json
import typing as t

from recorded_workloads import Changes, Document, Scenario, has_condition

RAY_IMAGE = "localhost/mlops-eks/ray:0.1.0"
RAY_VERSION = "2.60.0"


def _resources(cpu: str) -> Document:
    """Return what a pod asks for: a head, a worker and a submitter fit beside all operators on two cores."""
    return {"requests": {"cpu": cpu, "memory": "512Mi"}, "limits": {"memory": "2Gi"}}


# Ray gives up on its own processes early; here they share two cores with everything else.
_PATIENCE = {"RAY_DASHBOARD_STARTUP_TIMEOUT_S": "300", "RAY_DASHBOARD_SUBPROCESS_MODULE_WAIT_READY_TIMEOUT": "300"}
# KubeRay's own asks for half a processor.
_SUBMITTER = {"name": "ray-job-submitter", "image": RAY_IMAGE, "resources": _resources("100m")}
_HELLO = """\
from ray import serve


@serve.deployment
class Hello:
    async def __call__(self, request):
        return "hello"


app = Hello.bind()
"""


def _cluster(*, workers: int = 0, **more: t.Any) -> Document:
    """Return the spec of a RayCluster; `more` goes into the pods."""

    def group(container_name: str, cpu: str) -> Document:
        environment = [
            {"name": name, "value": value} for name, value in {**_PATIENCE, **more.get("environment", {})}.items()
        ]
        container = {"name": container_name, "image": RAY_IMAGE, "resources": _resources(cpu), "env": environment}
        container["volumeMounts"] = more.get("mounts", [])
        return {
            # Enough for Ray's own actors on a machine of any size.
            "rayStartParams": {"num-cpus": "4", "object-store-memory": "100000000"},
            "template": {"spec": {"containers": [container], "volumes": more.get("volumes", [])}},
        }

    found: Document = {"rayVersion": RAY_VERSION, "headGroupSpec": group("ray-head", "400m")}
    if workers:
        worker = {"groupName": "small", "replicas": workers, "minReplicas": workers, "maxReplicas": workers}
        found["workerGroupSpecs"] = [{**worker, **group("ray-worker", "200m")}]
    return found


def ray_job(name: str, program: str, *, workers: int = 0, **spec: t.Any) -> Document:
    """Return a RayJob that runs the Python `program` and takes its cluster down afterwards."""
    return {
        "apiVersion": "ray.io/v1",
        "kind": "RayJob",
        "metadata": {"name": name},
        "spec": {
            "entrypoint": f"python -c {json.dumps(program)}",
            "shutdownAfterJobFinishes": True,
            "rayClusterSpec": _cluster(workers=workers),
            "submitterPodTemplate": {"spec": {"restartPolicy": "Never", "containers": [_SUBMITTER]}},
            **spec,
        },
    }


def ray_service(name: str, import_path: str) -> Document:
    """Return a RayService of one application, on a head alone; the ConfigMap of its name holds `hello.py`."""
    application = {"name": "hello", "import_path": import_path, "deployments": [{"name": "Hello", "num_replicas": 1}]}
    application["deployments"][0]["ray_actor_options"] = {"num_cpus": 0.1}
    code = {"name": "code", "configMap": {"name": name}}
    mounts = [{"name": "code", "mountPath": "/code"}]
    return {
        "apiVersion": "ray.io/v1",
        "kind": "RayService",
        "metadata": {"name": name},
        "spec": {
            "serveConfigV2": json.dumps({"applications": [application]}),
            "rayClusterConfig": _cluster(environment={"PYTHONPATH": "/code"}, mounts=mounts, volumes=[code]),
        },
    }


def refused(service: Document) -> Document:
    """Return a RayService with a name of its own for the head's Service, which KubeRay refuses."""
    service["spec"]["rayClusterConfig"]["headGroupSpec"]["headService"] = {"metadata": {"name": "mine"}}
    return service


def ray_code(name: str) -> tuple[str, Document]:
    """Return the ConfigMap with the application and the path it is created at."""
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"hello.py": _HELLO}}
    return "/api/v1/namespaces/{ns}/configmaps", body


def _deployment_status(*wanted: str) -> t.Callable[[Changes], bool]:
    return lambda changes: any(
        change["entry"]["status"].get("jobDeploymentStatus") in wanted
        for change in changes
        if change["change"] == "workload"
    )


_JOB_ENDED = _deployment_status("Complete", "Failed", "ValidationFailed")
_TWO_NODES = (
    "import ray; ray.init(); print('nodes', len(ray.nodes())); print(ray.get(ray.remote(lambda: 'trained').remote()))"
)

RAY_SCENARIOS: tuple[Scenario, ...] = (
    Scenario(name="rayjob-succeeds", workload=ray_job("rayjob-succeeds", _TWO_NODES, workers=1), finished=_JOB_ENDED),
    Scenario(name="rayjob-fails", workload=ray_job("rayjob-fails", "raise SystemExit(3)"), finished=_JOB_ENDED),
    Scenario(
        # Such a cluster cannot be: KubeRay refuses it without starting anything.
        name="rayjob-invalid",
        workload=ray_job("rayjob-invalid", "print()", shutdownAfterJobFinishes=False, ttlSecondsAfterFinished=1),
        finished=_JOB_ENDED,
    ),
    Scenario(
        name="rayservice-ready",
        workload=ray_service("rayservice-ready", "hello:app"),
        before=(ray_code("rayservice-ready"),),
        finished=has_condition("Ready"),
    ),
    Scenario(
        name="rayservice-fails",
        workload=ray_service("rayservice-fails", "hello:no_such_app"),
        before=(ray_code("rayservice-fails"),),
        finished=lambda changes: "DEPLOY_FAILED" in str(changes),
    ),
    Scenario(
        name="rayservice-invalid",
        workload=refused(ray_service("rayservice-invalid", "hello:app")),
        finished=lambda changes: "ValidationFailed" in str(changes),
    ),
)
