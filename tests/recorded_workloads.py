"""The workloads of tests/record_changes.py: small life cycles of every kind, good and bad."""

from __future__ import annotations

import typing as t
from collections.abc import Callable
from dataclasses import dataclass, field

Document = dict[str, t.Any]
Changes = list[Document]
IMAGE = "localhost/mlops-eks/base:0.1.0"
_MERGE = "application/merge-patch+json"


@dataclass(frozen=True, kw_only=True)
class Action:
    """Something done to the cluster while the scenario runs, once `due(changes, seconds since the start)`."""

    due: Callable[[Changes, float], bool]
    do: Callable[[t.Any, str], t.Any]


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A workload and when its recording is over."""

    name: str
    workload: Document
    finished: Callable[[Changes], bool]
    before: tuple[tuple[str, Document], ...] = ()
    actions: tuple[Action, ...] = ()
    linger: float = 1.5
    more: Document = field(default_factory=dict)


def has_condition(*kinds: str) -> Callable[[Changes], bool]:
    return lambda changes: any(
        found["type"] in kinds and found["status"] == "True"
        for change in changes
        if change["change"] == "workload"
        for found in change["entry"]["status"].get("conditions") or []
    )


def pod_says(*reasons: str) -> Callable[[Changes], bool]:
    return lambda changes: any(
        f'"{reason}"' in str(change["entry"]).replace("'", '"')
        for change in changes
        for reason in reasons
        if change["change"] in ("pod", "event")
    )


def restarted(times: int) -> Callable[[Changes], bool]:
    return lambda changes: any(
        status.get("restartCount", 0) >= times
        for change in changes
        if change["change"] == "pod"
        for status in change["entry"]["status"].get("containerStatuses") or []
    )


def available(changes: Changes) -> bool:
    last = [change["entry"] for change in changes if change["change"] == "workload"][-1:]
    return any(
        entry["status"].get("availableReplicas", 0) == entry["spec"]["replicas"]
        and entry["status"].get("replicas") == entry["spec"]["replicas"]
        and entry["status"].get("observedGeneration") == entry["metadata"]["generation"]
        and entry["status"].get("updatedReplicas") == entry["spec"]["replicas"]
        for entry in last
    )


def gone(changes: Changes) -> bool:
    return any(change["change"] == "workload-gone" for change in changes)


def container(script: str, **more: t.Any) -> Document:
    return {
        "name": "main",
        "image": IMAGE,
        "imagePullPolicy": "IfNotPresent",
        "command": ["bash", "-c", script],
        "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}},
        **more,
    }


def pod(script: str, *, restart: str = "Never", pod_more: Document | None = None, **more: t.Any) -> Document:
    return {
        "spec": {
            "restartPolicy": restart,
            "terminationGracePeriodSeconds": 1,
            "containers": [container(script, **more)],
            **(pod_more or {}),
        }
    }


def job(name: str, template: Document, **spec: t.Any) -> Document:
    body = {"backoffLimit": 0, **spec, "template": template}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": body}


def mpi(name: str, launcher: Document, worker: Document, *, launchers: int = 1, **policy: t.Any) -> Document:
    return {
        "apiVersion": "kubeflow.org/v2beta1",
        "kind": "MPIJob",
        "metadata": {"name": name},
        "spec": {
            "runPolicy": {"cleanPodPolicy": "Running", "backoffLimit": 0, **policy},
            "mpiReplicaSpecs": {
                "Launcher": {"replicas": launchers, "restartPolicy": "Never", "template": launcher},
                "Worker": {"replicas": 2, "restartPolicy": "Never", "template": worker},
            },
        },
    }


def pytorch(name: str, master: Document, worker: Document, *, restart: str = "Never") -> Document:
    def named(template: Document) -> Document:
        template["spec"]["containers"][0]["name"] = "pytorch"
        return template

    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": name},
        "spec": {
            "runPolicy": {"cleanPodPolicy": "Running"},
            "pytorchReplicaSpecs": {
                "Master": {"replicas": 1, "restartPolicy": restart, "template": named(master)},
                "Worker": {"replicas": 1, "restartPolicy": restart, "template": named(worker)},
            },
        },
    }


def deployment(name: str, template: Document, **spec: t.Any) -> Document:
    labels = {"app": name}
    template = {**template, "metadata": {"labels": labels}}
    template["spec"]["restartPolicy"] = "Always"
    body = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template, **spec}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": body}


def _patch(path: str, body: Document) -> Callable[[t.Any, str], t.Any]:
    return lambda kube, name: kube.request(
        "PATCH", path.format(ns=kube.namespace, name=name), body=body, content_type=_MERGE
    )


def _secret(name: str) -> Callable[[t.Any, str], t.Any]:
    body = {"metadata": {"name": name}, "stringData": {"token": "x"}}
    return lambda kube, _: kube.request("POST", f"/api/v1/namespaces/{kube.namespace}/secrets", body=body)


def _delete(path: str) -> Callable[[t.Any, str], t.Any]:
    body = {"propagationPolicy": "Background"}
    return lambda kube, name: kube.request("DELETE", path.format(ns=kube.namespace, name=name), body=body)


SLEEP = "exec sleep 600"
HOG = "x=$(head -c 300M /dev/zero | tr '\\0' x); echo ${#x}"
SMALL = {"requests": {"cpu": "10m", "memory": "16Mi"}, "limits": {"memory": "32Mi"}}
FROM_SECRET = [{"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "no-such-secret", "key": "token"}}}]
LATE_SECRET = [{"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "late-secret", "key": "token"}}}]
ONCE = {"volumes": [{"name": "state", "emptyDir": {}}]}
IN_STATE = [{"name": "state", "mountPath": "/state"}]
CLAIM = {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "no-such-claim"}}]}
MOUNT = {"volumes": [{"name": "key", "secret": {"secretName": "no-such-secret"}}]}
NEVER_READY = {"exec": {"command": ["false"]}, "periodSeconds": 1}
_JOB = "/apis/batch/v1/namespaces/{ns}/jobs/{name}"
_DEPLOYMENT = "/apis/apps/v1/namespaces/{ns}/deployments/{name}"
_ENDED = has_condition("Complete", "Failed", "Succeeded")


def _running(changes: Changes) -> bool:
    return any(change["change"] == "pod" and change["entry"]["status"].get("phase") == "Running" for change in changes)


SCENARIOS = (
    Scenario(
        name="pytorch-restarts",
        # ExitCode: 130 and above are tried again, by a new pod of the same name.
        workload=pytorch(
            "pytorch-restarts",
            pod("sleep 30"),
            pod("[ $(date +%s) -gt $((@NOW@ + 15)) ] && exit 0; sleep 12; exit 138"),
            restart="ExitCode",
        ),
        finished=has_condition("Succeeded", "Failed"),
    ),
    Scenario(name="job-succeeds", workload=job("job-succeeds", pod("sleep 2; echo done")), finished=_ENDED),
    Scenario(name="job-exits-3", workload=job("job-exits-3", pod("echo sorry; exit 3")), finished=_ENDED),
    Scenario(
        name="job-restarts-once",
        workload=job(
            "job-restarts-once",
            pod(
                "[ -e /state/seen ] && exit 0; touch /state/seen; exit 3",
                restart="OnFailure",
                pod_more=ONCE,
                volumeMounts=IN_STATE,
            ),
            backoffLimit=3,
        ),
        finished=_ENDED,
    ),
    Scenario(
        name="job-second-pod",
        workload=job("job-second-pod", pod("exit 4"), backoffLimit=1),
        finished=_ENDED,
    ),
    Scenario(
        name="job-init-fails",
        workload=job(
            "job-init-fails",
            pod(
                "echo never",
                pod_more={"initContainers": [{**container("exit 9"), "name": "fetch"}]},
            ),
        ),
        finished=_ENDED,
    ),
    Scenario(
        name="job-image-missing",
        workload=job("job-image-missing", pod("true", image="localhost:1/none/none:1")),
        finished=pod_says("ImagePullBackOff"),
        linger=3.0,
    ),
    Scenario(
        name="job-image-never",
        workload=job("job-image-never", pod("true", image="localhost/none:1", imagePullPolicy="Never")),
        finished=pod_says("ErrImageNeverPull"),
    ),
    Scenario(
        name="job-image-malformed",
        workload=job("job-image-malformed", pod("true", image="NOT//an image")),
        finished=pod_says("InvalidImageName"),
    ),
    Scenario(
        name="job-secret-missing",
        workload=job("job-secret-missing", pod("true", env=FROM_SECRET)),
        finished=pod_says("CreateContainerConfigError"),
        linger=3.0,
    ),
    Scenario(
        name="job-secret-late",
        workload=job("job-secret-late", pod("sleep 1", env=LATE_SECRET)),
        actions=(
            Action(
                due=lambda changes, _: pod_says("CreateContainerConfigError")(changes),
                do=_secret("late-secret"),
            ),
        ),
        finished=_ENDED,
    ),
    Scenario(
        name="job-mount-missing",
        workload=job(
            "job-mount-missing", pod("true", pod_more=MOUNT, volumeMounts=[{"name": "key", "mountPath": "/key"}])
        ),
        finished=pod_says("FailedMount"),
        linger=4.0,
    ),
    Scenario(
        name="job-claim-missing",
        workload=job("job-claim-missing", pod("true", pod_more=CLAIM)),
        finished=pod_says("Unschedulable"),
    ),
    Scenario(
        name="job-unschedulable",
        workload=job("job-unschedulable", pod("true", resources={"requests": {"cpu": "1000"}})),
        finished=pod_says("Unschedulable"),
    ),
    Scenario(
        name="job-oom",
        workload=job("job-oom", pod(HOG, resources=SMALL)),
        finished=_ENDED,
    ),
    Scenario(
        name="job-crash-loop",
        workload=job("job-crash-loop", pod("exit 1", restart="OnFailure"), backoffLimit=6),
        finished=restarted(3),
    ),
    Scenario(
        name="job-command-missing",
        workload=job("job-command-missing", pod("true", command=["/no/such/program"])),
        finished=_ENDED,
    ),
    Scenario(
        name="job-deadline",
        workload=job("job-deadline", pod(SLEEP), activeDeadlineSeconds=4),
        finished=_ENDED,
    ),
    Scenario(
        name="job-runs",
        workload=job("job-runs", pod(SLEEP)),
        finished=_running,
    ),
    Scenario(
        name="job-suspended",
        workload=job("job-suspended", pod("sleep 1"), suspend=True),
        actions=(Action(due=lambda _, after: after > 3, do=_patch(_JOB, {"spec": {"suspend": False}})),),
        finished=_ENDED,
    ),
    Scenario(
        name="job-deleted",
        workload=job("job-deleted", pod(SLEEP)),
        actions=(Action(due=lambda changes, _: _running(changes), do=_delete(_JOB)),),
        finished=gone,
        linger=3.0,
    ),
    Scenario(
        name="mpi-succeeds", workload=mpi("mpi-succeeds", pod("sleep 3"), pod(SLEEP)), finished=_ENDED, linger=4.0
    ),
    Scenario(name="mpi-exits-3", workload=mpi("mpi-exits-3", pod("sleep 2; exit 3"), pod(SLEEP)), finished=_ENDED),
    Scenario(
        name="mpi-worker-oom",
        workload=mpi("mpi-worker-oom", pod("sleep 8; exit 1"), pod(f"sleep 2; {HOG}", resources=SMALL)),
        finished=_ENDED,
    ),
    Scenario(
        name="mpi-invalid",
        workload=mpi("mpi-invalid", pod("true"), pod(SLEEP), launchers=2),
        finished=pod_says("ValidationError"),
        linger=3.0,
    ),
    Scenario(
        name="mpi-evicted",
        workload=mpi("mpi-evicted", pod("sleep 12; true"), pod(SLEEP)),
        actions=(
            Action(
                due=lambda changes, _: _running(changes),
                do=_patch(
                    "/api/v1/namespaces/{ns}/pods/{name}-worker-1/status",
                    {"status": {"phase": "Failed", "reason": "Evicted", "message": "The node was low on memory."}},
                ),
            ),
        ),
        finished=has_condition("Succeeded", "Failed"),
        linger=16.0,
    ),
    Scenario(
        name="pytorch-succeeds",
        workload=pytorch("pytorch-succeeds", pod("sleep 3"), pod("sleep 3")),
        finished=_ENDED,
    ),
    Scenario(
        name="pytorch-worker-fails",
        workload=pytorch("pytorch-worker-fails", pod(SLEEP), pod("sleep 1; exit 3")),
        finished=_ENDED,
    ),
    Scenario(
        name="deployment-ready",
        workload=deployment("deployment-ready", pod(SLEEP)),
        finished=available,
    ),
    Scenario(
        name="deployment-upgraded",
        workload=deployment("deployment-upgraded", pod(SLEEP)),
        actions=(
            Action(
                due=lambda changes, _: available(changes),
                do=_patch(_DEPLOYMENT, {"spec": {"template": {"metadata": {"annotations": {"again": "yes"}}}}}),
            ),
        ),
        finished=lambda changes: (
            available(changes)
            and any(
                change["entry"]["metadata"].get("generation") == 2
                for change in changes
                if change["change"] == "workload"
            )
        ),
        linger=4.0,
    ),
    Scenario(
        name="deployment-image-missing",
        workload=deployment("deployment-image-missing", pod("true", image="localhost:1/none/none:1")),
        finished=pod_says("ImagePullBackOff"),
    ),
    Scenario(
        name="deployment-crash-loop",
        workload=deployment("deployment-crash-loop", pod("exit 7", readinessProbe=NEVER_READY)),
        finished=restarted(3),
    ),
    Scenario(
        # Without a probe it counts as available in the moment between start and end.
        name="deployment-flashes",
        workload=deployment("deployment-flashes", pod("sleep 1; exit 7")),
        finished=restarted(2),
    ),
    Scenario(
        name="deployment-exits-0",
        workload=deployment("deployment-exits-0", pod("exit 0", readinessProbe=NEVER_READY)),
        finished=restarted(3),
    ),
    Scenario(
        name="deployment-never-ready",
        workload=deployment(
            "deployment-never-ready", pod(SLEEP, readinessProbe=NEVER_READY), progressDeadlineSeconds=6
        ),
        finished=lambda changes: "ProgressDeadlineExceeded" in str(changes),
    ),
    Scenario(
        name="deployment-oom",
        workload=deployment("deployment-oom", pod(f"sleep 3; {HOG}", resources=SMALL)),
        finished=pod_says("OOMKilled"),
    ),
)
