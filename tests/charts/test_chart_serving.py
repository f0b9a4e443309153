"""What the charts of serving make of their own keys."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from chart_cases import MINIMAL, Document, HelmError, Render, of_kind, scripts
from chart_script import write
from test_chart_stop_scripts import contained

DJL, KSERVE, LWS, TRITON, VLLM = (
    f"serving/{chart}"
    for chart in ("djl-lmi-server", "kserve", "triton-inference-server-lws", "triton-inference-server", "vllm")
)


def kinds(documents: list[Document]) -> set[str]:
    return {document["kind"] for document in documents}


def group(documents: list[Document]) -> Any:
    return of_kind(documents, "LeaderWorkerSet")["spec"]["leaderWorkerTemplate"]


def test_a_probe_of_a_port_that_is_not_there_is_refused(render: Render) -> None:
    ports = {"server": {"ports": [{"name": "api", "value": 8000}]}}
    with pytest.raises(HelmError, match=r"server\.startup_probe\.port is http, but server\.ports names api: set the"):
        render(TRITON, MINIMAL[TRITON], ports)
    probes = {f"{name}_probe": {"port": "8000"} for name in ("startup", "readiness", "liveness")}
    assert of_kind(render(TRITON, MINIMAL[TRITON], ports, {"server": probes}), "Deployment")


def test_ports_that_are_a_map_are_all_of_the_service(render: Render) -> None:
    documents = render(DJL, MINIMAL[DJL], {"server": {"ports": {"http": "8081"}}})
    ports = {port["name"]: port["port"] for port in of_kind(documents, "Service")["spec"]["ports"]}
    assert ports == {"http": 8081, "grpc": 8001, "metrics": 8002}


# -- groups of pods


@pytest.mark.parametrize(
    ("groups", "given", "made"),
    [
        (1, {}, None),
        (2, {}, {"maxUnavailable": 1}),
        (4, {"max_unavailable": 2}, {"maxUnavailable": 4}),
        (4, {"max_unavailable": 0}, {"maxUnavailable": 0}),
        # With three of four groups left, of nine pods, one more may lose a pod; with two left it may not.
        (4, {"min_available": 2}, {"minAvailable": 8}),
        (4, {"min_available": "50%"}, {"minAvailable": "50%"}),
    ],
)
def test_a_disruption_budget_counts_groups(
    groups: int, given: dict[str, Any], made: dict[str, Any] | None, render: Render
) -> None:
    server = {"autoscaling": {"minReplicas": groups, "maxReplicas": groups}, "disruption_budget": given}
    documents = render(LWS, MINIMAL[LWS], {"lws": {"size": 3}, "server": server})
    if made is None:
        assert "PodDisruptionBudget" not in kinds(documents)
    else:
        spec = of_kind(documents, "PodDisruptionBudget")["spec"]
        assert {key: value for key, value in spec.items() if key != "selector"} == made
        assert "app.kubernetes.io/component" not in spec["selector"]["matchLabels"]


@pytest.mark.parametrize(
    ("strategy", "made"),
    [
        ("RollingUpdate", {"maxUnavailable": 0, "maxSurge": 1}),
        ("Recreate", {"maxUnavailable": "100%", "maxSurge": 0}),
    ],
)
def test_how_groups_are_replaced(strategy: str, made: dict[str, Any], render: Render) -> None:
    documents = render(LWS, MINIMAL[LWS], {"server": {"strategy": strategy}})
    rollout = of_kind(documents, "LeaderWorkerSet")["spec"]["rolloutStrategy"]
    assert rollout["rollingUpdateConfiguration"] == made


def test_only_leaders_may_enter_and_only_pods_of_the_release(render: Render) -> None:
    documents = render(LWS, MINIMAL[LWS], {"server": {"autoscaling": {"minReplicas": 1, "maxReplicas": 2}}})
    leader, worker = (group(documents)[f"{role}Template"]["spec"] for role in ("leader", "worker"))
    assert leader["serviceAccountName"] == of_kind(documents, "ServiceAccount")["metadata"]["name"] == "demo"
    assert "serviceAccountName" not in worker
    assert worker["automountServiceAccountToken"] is False
    _, enter = of_kind(documents, "Role")["rules"]
    assert enter["resources"] == ["pods/exec"]
    # Two groups, and the one that an upgrade adds.
    assert enter["resourceNames"] == [f"demo-{index}{worker}" for index in range(3) for worker in ("", "-1")]
    names = [entry["name"] for entry in leader["containers"][0]["env"]]
    assert {"NAMESPACE", "GROUP_KEY"} <= {*names}
    assert not {"NAMESPACE", "GROUP_KEY"} & {entry["name"] for entry in worker["containers"][0]["env"]}


def test_an_account_of_the_recipe_is_taken_as_it_is(render: Render) -> None:
    recipe = {"service_account_name": "mine", "server": {"env": [{"name": "NAMESPACE", "value": "elsewhere"}]}}
    documents = render(LWS, MINIMAL[LWS], recipe)
    assert not {"ServiceAccount", "Role", "RoleBinding"} & kinds(documents)
    leader = group(documents)["leaderTemplate"]["spec"]
    assert leader["serviceAccountName"] == "mine"
    entries = [entry for entry in leader["containers"][0]["env"] if entry["name"] == "NAMESPACE"]
    assert entries == [{"name": "NAMESPACE", "value": "elsewhere"}]


def test_a_release_name_leaves_room_for_the_label_of_a_worker(render: Render) -> None:
    layer = {"server": {"autoscaling": {"minReplicas": 1, "maxReplicas": 2}}}
    assert render(LWS, MINIMAL[LWS], layer, release="r" * 50)
    with pytest.raises(HelmError, match="shorten the release name by 1"):
        render(LWS, MINIMAL[LWS], layer, release="r" * 51)


# The first process of a namespace listens as a leader does: the hook of a worker tells it only when it no longer does.
LEADER = """
import os, signal, socket, subprocess, sys, time
signal.signal(signal.SIGTERM, lambda *_: print("told", flush=True))
door = socket.create_server(("127.0.0.1", 0))
script = open(sys.argv[1]).read().replace("/8000", f"/{door.getsockname()[1]}")
environment = {**os.environ, "LWS_WORKER_INDEX": sys.argv[2], "LWS_LEADER_ADDRESS": "127.0.0.1"}
hook = subprocess.Popen(["/bin/bash", "-c", script], env=environment)
time.sleep(2)
print("closes", flush=True)
door.close()
print("hook", hook.wait(), flush=True)
"""


@pytest.mark.parametrize(
    ("index", "expected"), [("1", ["closes", "told", "hook 0"]), ("0", ["told", "closes", "hook 0"])]
)
def test_a_worker_goes_on_until_its_leader_has_stopped_serving(
    index: str, expected: list[str], render: Render, tmp_path: Path
) -> None:
    here = write(render, tmp_path, LWS, {"server": {"drain_secs": 0}})
    done = contained(tmp_path, sys.executable, "-c", LEADER, str(here["stop.sh"]), index)
    assert done.stdout.splitlines() == expected, done.stderr


# -- vllm


def test_vllm_on_one_node_is_a_deployment(render: Render) -> None:
    recipe = {"tensor_parallel_size": 4, "served_model_name": "chat", "server": {"args": ["--max-model-len", 8192]}}
    documents = render(VLLM, MINIMAL[VLLM], recipe)
    assert "LeaderWorkerSet" not in kinds(documents)
    command = 'vllm serve "/fsx/models/chat" --port 8000 --tensor-parallel-size 4 --served-model-name "chat"'
    assert f"\n{command} --max-model-len 8192" in scripts(documents)["launcher.sh"]


def test_vllm_on_several_nodes_is_a_group_of_one_command(render: Render) -> None:
    recipe = {"tensor_parallel_size": 8, "pipeline_parallel_size": 2, "resources": {"nnodes": 2}}
    documents = render(VLLM, MINIMAL[VLLM], recipe)
    assert not {"Deployment", "Role"} & kinds(documents)
    assert group(documents)["size"] == 2
    leader, worker = (group(documents)[f"{role}Template"]["spec"]["containers"][0] for role in ("leader", "worker"))
    assert leader["command"] == worker["command"]
    assert "readinessProbe" in leader
    assert "readinessProbe" not in worker
    script = scripts(documents)["launcher.sh"]
    assert '--nnodes 2 --node-rank "$LWS_WORKER_INDEX" --master-addr "$LWS_LEADER_ADDRESS"' in script
    assert of_kind(documents, "Service")["spec"]["selector"]["app.kubernetes.io/component"] == "leader"


def test_vllm_takes_its_secrets_from_the_environment(render: Render) -> None:
    reference = {"secretKeyRef": {"name": "vllm", "key": "api"}}
    documents = render(VLLM, MINIMAL[VLLM], {"hf_token": "not-a-real-token", "api_key": reference})
    (container,) = of_kind(documents, "Deployment")["spec"]["template"]["spec"]["containers"]
    assert {"name": "HF_TOKEN", "value": "not-a-real-token"} in container["env"]
    assert {"name": "VLLM_API_KEY", "valueFrom": reference} in container["env"]


@pytest.mark.parametrize(
    ("recipe", "message"),
    [
        ({"model": ""}, "model is empty: name a model of Hugging Face"),
        (
            {"tensor_parallel_size": 3, "resources": {"nnodes": 2}},
            r"tensor_parallel_size x pipeline_parallel_size is 3, which resources\.nnodes \(2\) does not divide",
        ),
        (
            {"tensor_parallel_size": 8, "resources": {"limits": {"nvidia.com/gpu": 4}}},
            r"wants 8 GPUs of a node, but resources\.limits has nvidia\.com/gpu: 4; lower them, or ask for more",
        ),
    ],
)
def test_vllm_refuses_what_cannot_start(recipe: dict[str, Any], message: str, render: Render) -> None:
    with pytest.raises(HelmError, match=message):
        render(VLLM, MINIMAL[VLLM], recipe)


# -- kserve

MODEL = {"model": {"format": "sklearn", "storage_uri": "pvc://models/iris"}}
NO_PROGRAM = {"server": {"command": []}}


def predictor(documents: list[Document]) -> Any:
    return of_kind(documents, "InferenceService")["spec"]["predictor"]


def test_a_program_gets_the_model_from_kserve(render: Render) -> None:
    documents = render(KSERVE, MINIMAL[KSERVE], {"model": {"storage_uri": "s3://models/chat"}})
    (container,) = predictor(documents)["containers"]
    assert container["name"] == "kserve-container"
    assert {"name": "STORAGE_URI", "value": "s3://models/chat"} in container["env"]


def test_a_runtime_has_no_script_of_ours(render: Render) -> None:
    documents = render(KSERVE, MINIMAL[KSERVE], NO_PROGRAM, MODEL, {"image": {"name": ""}})
    assert kinds(documents) == {"InferenceService"}
    found = predictor(documents)
    assert "containers" not in found
    assert not {"command", "image", "name", "readinessProbe"} & found["model"].keys()
    assert found["model"]["modelFormat"] == {"name": "sklearn"}
    assert found["model"]["storageUri"] == "pvc://models/iris"
    assert found["model"]["lifecycle"]["preStop"] == {"sleep": {"seconds": 10}}
    assert {mount["name"] for mount in found["model"]["volumeMounts"]} == {one["name"] for one in found["volumes"]}
    assert "config" not in {one["name"] for one in found["volumes"]}


@pytest.mark.parametrize(("most", "scaler"), [(1, "none"), (3, "hpa")])
def test_kserve_makes_an_autoscaler_where_one_is_asked_for(most: int, scaler: str, render: Render) -> None:
    documents = render(KSERVE, MINIMAL[KSERVE], {"server": {"autoscaling": {"maxReplicas": most}}})
    annotations = of_kind(documents, "InferenceService")["metadata"]["annotations"]
    assert annotations["serving.kserve.io/autoscalerClass"] == scaler
    assert (predictor(documents)["minReplicas"], predictor(documents)["maxReplicas"]) == (1, most)


def test_kserve_refuses_two_programs_and_metrics_of_others(render: Render) -> None:
    with pytest.raises(HelmError, match=r"model\.format is sklearn, so that a runtime of KServe serves the model, but"):
        render(KSERVE, MINIMAL[KSERVE], MODEL)
    queue = {
        "type": "Pods",
        "pods": {"metric": {"name": "queue"}, "target": {"type": "AverageValue", "averageValue": 5}},
    }
    with pytest.raises(
        HelmError, match=r"server\.autoscaling\.metrics has one of type Pods: the autoscaler that KServe"
    ):
        render(KSERVE, MINIMAL[KSERVE], {"server": {"autoscaling": {"metrics": [{"type": "Pods", "pods": queue}]}}})
