"""More workloads of tests/record_changes.py: small life cycles of the kinds that operators installed by name serve."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from recorded_workloads import NEVER_READY, SLEEP, Changes, Document, Scenario, has_condition, pod, restarted

_ENDED = has_condition("Complete", "Completed", "Failed", "Succeeded")


def jobset(name: str, driver: Document, worker: Document, *, restarts: int = 0) -> Document:
    """Return a JobSet of a driver, whose end is the JobSet's, and two workers."""

    def part(part_name: str, template: Document, pods: int) -> Document:
        # A JobSet waits for all its pods to start again before it does: a short grace keeps restarts short.
        job = {"backoffLimit": 0, "parallelism": pods, "completions": pods, "completionMode": "Indexed"}
        return {"name": part_name, "template": {"spec": {**job, "template": template}}}

    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": name},
        "spec": {
            "successPolicy": {"operator": "All", "targetReplicatedJobs": ["driver"]},
            "failurePolicy": {"maxRestarts": restarts},
            "replicatedJobs": [part("driver", driver, 1), part("worker", worker, 2)],
        },
    }


def train_runtime(name: str) -> tuple[str, Document]:
    """Return a TrainingRuntime of two nodes and the path it is created at."""
    job = {"backoffLimit": 0, "template": pod("echo no command was given; exit 64")}
    job["template"]["spec"]["containers"][0]["name"] = "node"
    step = {"metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}}, "spec": job}
    body = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainingRuntime",
        "metadata": {"name": name, "labels": {"trainer.kubeflow.org/framework": "torch"}},
        "spec": {
            "mlPolicy": {"numNodes": 2, "torch": {}},
            "template": {"spec": {"replicatedJobs": [{"name": "node", "template": step}]}},
        },
    }
    return "/apis/trainer.kubeflow.org/v1alpha1/namespaces/{ns}/trainingruntimes", body


def train_job(name: str, script: str, **spec: t.Any) -> Document:
    """Return a TrainJob whose two nodes run `script`; the runtime has its name."""
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": name},
        "spec": {
            "runtimeRef": {"kind": "TrainingRuntime", "name": name},
            "trainer": {"command": ["bash", "-c", script]},
            **spec,
        },
    }


def leader_worker_set(name: str, leader: Document, worker: Document) -> Document:
    """Return a LeaderWorkerSet of one group: a leader and a worker."""
    for template in (leader, worker):
        template["spec"]["restartPolicy"] = "Always"
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": name},
        "spec": {
            "replicas": 1,
            "leaderWorkerTemplate": {"size": 2, "leaderTemplate": leader, "workerTemplate": worker},
        },
    }


def stateful_set(name: str, template: Document, **spec: t.Any) -> Document:
    """Return a StatefulSet of two pods."""
    template = {**template, "metadata": {"labels": {"app": name}}}
    template["spec"]["restartPolicy"] = "Always"
    body = {"replicas": 2, "serviceName": name, "selector": {"matchLabels": {"app": name}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": name}, "spec": {**body, **spec}}


# Kind: the key of its replicas and the name its main container must have.
REPLICATED = {
    "TFJob": ("tfReplicaSpecs", "tensorflow"),
    "XGBoostJob": ("xgbReplicaSpecs", "xgboost"),
    "PaddleJob": ("paddleReplicaSpecs", "paddle"),
    "JAXJob": ("jaxReplicaSpecs", "jax"),
}


def replicated(kind: str, name: str, **scripts: str) -> Document:
    """Return a job of the training operator with one replica of each role, for example `Master="exit 3"`."""
    key, main = REPLICATED[kind]
    roles = {}
    for role, script in scripts.items():
        template = pod(script)
        template["spec"]["containers"][0]["name"] = main
        roles[role] = {"replicas": 1, "restartPolicy": "Never", "template": template}
    spec = {"runPolicy": {"cleanPodPolicy": "Running"}, key: roles}
    return {"apiVersion": "kubeflow.org/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}


def elastic(name: str, worker: Document) -> Document:
    """Return a PyTorchJob of two workers and no master, which succeeds with the first that does."""
    worker["spec"]["containers"][0]["name"] = "pytorch"
    spec = {
        "runPolicy": {"cleanPodPolicy": "Running"},
        "elasticPolicy": {"minReplicas": 1, "maxReplicas": 2, "rdzvBackend": "c10d"},
        "pytorchReplicaSpecs": {"Worker": {"replicas": 2, "restartPolicy": "Never", "template": worker}},
    }
    return {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": name}, "spec": spec}


_TRAINED = "echo trained; sleep 1"
# The operator's own count of its restarts, as its pods see it.
_ATTEMPT = [
    {
        "name": "ATTEMPT",
        "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['jobset.sigs.k8s.io/restart-attempt']"}},
    }
]
_ALWAYS_READY = {"exec": {"command": ["true"]}, "periodSeconds": 1}


def _replaced(name: str, times: int) -> Callable[[Changes], bool]:
    """Return whether `times` pods of this name came one after the other."""
    return lambda changes: (
        times
        <= len(
            {change["entry"]["metadata"]["uid"] for change in changes if change["entry"]["metadata"]["name"] == name}
        )
    )


OPERATOR_SCENARIOS: tuple[Scenario, ...] = (
    Scenario(name="jobset-succeeds", workload=jobset("jobset-succeeds", pod(_TRAINED), pod(SLEEP)), finished=_ENDED),
    Scenario(
        name="jobset-worker-fails",
        workload=jobset(
            "jobset-worker-fails",
            pod(SLEEP),
            pod("[ $JOB_COMPLETION_INDEX = 0 ] && sleep 600; echo worker broke; exit 3"),
        ),
        finished=_ENDED,
    ),
    Scenario(
        name="jobset-restarts",
        workload=jobset(
            "jobset-restarts", pod("[ $ATTEMPT = 0 ] && exit 3; sleep 1", env=_ATTEMPT), pod(SLEEP), restarts=1
        ),
        finished=_ENDED,
    ),
    Scenario(
        name="pytorch-elastic",
        workload=elastic("pytorch-elastic", pod(f"case $HOSTNAME in *-0) {_TRAINED};; *) {SLEEP};; esac")),
        finished=_ENDED,
    ),
    Scenario(
        name="train-succeeds",
        workload=train_job("train-succeeds", _TRAINED),
        before=(train_runtime("train-succeeds"),),
        finished=_ENDED,
    ),
    Scenario(
        name="train-node-fails",
        workload=train_job("train-node-fails", "[ $JOB_COMPLETION_INDEX = 0 ] && sleep 600; echo node broke; exit 3"),
        before=(train_runtime("train-node-fails"),),
        finished=_ENDED,
    ),
    Scenario(
        name="lws-ready",
        workload=leader_worker_set("lws-ready", pod(SLEEP, readinessProbe=_ALWAYS_READY), pod(SLEEP)),
        finished=has_condition("Available"),
    ),
    Scenario(
        name="lws-worker-crashes",
        # With one container the whole group is started again, in new pods.
        workload=leader_worker_set(
            "lws-worker-crashes", pod(SLEEP), pod("echo worker broke; exit 7", readinessProbe=NEVER_READY)
        ),
        finished=_replaced("lws-worker-crashes-0-1", 4),
    ),
    Scenario(
        name="statefulset-ready",
        workload=stateful_set("statefulset-ready", pod(SLEEP, readinessProbe=_ALWAYS_READY)),
        finished=lambda changes: _available(changes, 2),
    ),
    Scenario(
        name="statefulset-crash-loop",
        workload=stateful_set("statefulset-crash-loop", pod("exit 7", readinessProbe=_ALWAYS_READY)),
        finished=restarted(3),
    ),
    *(
        Scenario(
            name=f"{kind[:-3].lower()}-succeeds",
            workload=replicated(kind, f"{kind[:-3].lower()}-succeeds", **roles),
            finished=_ENDED,
        )
        for kind, roles in {
            "TFJob": {"Chief": _TRAINED, "Worker": "sleep 2"},
            "XGBoostJob": {"Master": _TRAINED, "Worker": "sleep 2"},
            "PaddleJob": {"Master": _TRAINED, "Worker": "sleep 2"},
            "JAXJob": {"Worker": _TRAINED},
        }.items()
    ),
    *(
        Scenario(
            name=f"{kind[:-3].lower()}-fails",
            workload=replicated(kind, f"{kind[:-3].lower()}-fails", **roles),
            finished=_ENDED,
        )
        for kind, roles in {
            "TFJob": {"Chief": SLEEP, "Worker": "exit 3"},
            "XGBoostJob": {"Master": "exit 3", "Worker": SLEEP},
            "PaddleJob": {"Master": SLEEP, "Worker": "exit 3"},
            "JAXJob": {"Worker": "exit 3"},
        }.items()
    ),
)


def _available(changes: Changes, wanted: int) -> bool:
    return any(
        change["entry"]["status"].get("availableReplicas") == wanted
        for change in changes
        if change["change"] == "workload"
    )
