"""What is particular to one chart."""

from __future__ import annotations

import pytest
from chart_cases import MINIMAL, HelmError, Render, of_kind, scripts

JOB, SERVER = "data-prep/data-process", "serving/generic-server"
MPI, TORCH = "training/mpijob-distributed", "training/pytorchjob-distributed"


def test_a_job_honours_its_limits(render: Render) -> None:
    layer = {"backoff_limit": 3, "active_deadline_seconds": 60, "ttl_seconds_after_finished": 0}
    spec = of_kind(render(JOB, MINIMAL[JOB], layer), "Job")["spec"]
    assert (spec["backoffLimit"], spec["activeDeadlineSeconds"], spec["ttlSecondsAfterFinished"]) == (3, 60, 0)
    assert spec["template"]["spec"]["restartPolicy"] == "Never"


@pytest.mark.parametrize("chart", [MPI, TORCH])
def test_operator_jobs_honour_their_limits(chart: str, render: Render) -> None:
    layer = {"backoff_limit": 3, "active_deadline_seconds": 60, "ttl_seconds_after_finished": 0}
    documents = render(chart, MINIMAL[chart], layer)
    policy = documents[-1]["spec"]["runPolicy"]
    assert policy == {
        "cleanPodPolicy": "Running",
        "backoffLimit": 3,
        "activeDeadlineSeconds": 60,
        "ttlSecondsAfterFinished": 0,
    }


@pytest.mark.parametrize(("nodes", "workers"), [(1, None), (2, 1), (32, 31)])
def test_a_pytorchjob_has_one_master_and_the_rest_workers(nodes: int, workers: int | None, render: Render) -> None:
    spec = of_kind(render(TORCH, MINIMAL[TORCH], {"resources": {"nnodes": nodes}}), "PyTorchJob")["spec"]
    replicas = {role: one["replicas"] for role, one in spec["pytorchReplicaSpecs"].items()}
    assert replicas == {"Master": 1} | ({"Worker": workers} if workers else {})


@pytest.mark.parametrize(("given", "expected"), [(8, "8"), ("gpu", "gpu"), ("auto", "auto")])
def test_processes_per_node_are_text(given: int | str, expected: str, render: Render) -> None:
    spec = of_kind(render(TORCH, MINIMAL[TORCH], {"resources": {"nproc_per_node": given}}), "PyTorchJob")["spec"]
    assert spec["nprocPerNode"] == expected


@pytest.mark.parametrize(("retries", "policy"), [(0, "Never"), (1, "OnFailure")])
def test_pods_start_again_only_when_retries_are_asked_for(retries: int, policy: str, render: Render) -> None:
    torch = of_kind(render(TORCH, MINIMAL[TORCH], {"backoff_limit": retries}), "PyTorchJob")["spec"][
        "pytorchReplicaSpecs"
    ]
    assert {one["restartPolicy"] for one in torch.values()} == {policy}
    mpi = of_kind(render(MPI, MINIMAL[MPI], {"backoff_limit": retries}), "MPIJob")["spec"]["mpiReplicaSpecs"]
    assert {role: one["restartPolicy"] for role, one in mpi.items()} == {"Launcher": "Never", "Worker": policy}


def test_an_mpijob_waits_for_its_workers(render: Render) -> None:
    layer = {"resources": {"nnodes": 3, "nproc_per_node": 4}}
    documents = render(MPI, MINIMAL[MPI], layer)
    spec = of_kind(documents, "MPIJob")["spec"]
    assert spec["launcherCreationPolicy"] == "WaitForWorkersReady"
    assert spec["slotsPerWorker"] == 4
    assert spec["mpiReplicaSpecs"]["Worker"]["replicas"] == 3
    assert "\nmpirun -np 12 --allow-run-as-root" in scripts(documents)["launcher-script.sh"]


def test_the_launcher_has_resources_of_its_own(render: Render) -> None:
    amounts = {"nvidia.com/gpu": 8}
    layer = {
        "resources": {"requests": amounts, "limits": amounts, "node_type": "p5.48xlarge"},
        "ebs": {"storage": "1Ti"},
    }
    replicas = of_kind(render(MPI, MINIMAL[MPI], layer), "MPIJob")["spec"]["mpiReplicaSpecs"]
    pods = {role: one["template"]["spec"] for role, one in replicas.items()}
    assert pods["Launcher"]["containers"][0]["resources"] == {"requests": {"cpu": "250m", "memory": "256Mi"}}
    assert not {"nodeSelector", "tolerations"} & set(pods["Launcher"])
    assert {volume["name"] for volume in pods["Worker"]["volumes"]} - {
        volume["name"] for volume in pods["Launcher"]["volumes"]
    } == {"ebs"}


def test_the_worker_can_serve_ssh_as_a_plain_user(render: Render) -> None:
    ssh = {
        "auth_mount_path": "/home/mpiuser/.ssh",
        "command": ["/usr/sbin/sshd", "-De", "-f", "/home/mpiuser/.sshd_config"],
    }
    spec = of_kind(render(MPI, MINIMAL[MPI], {"ssh": ssh, "securityContext": {"runAsUser": 1000}}), "MPIJob")["spec"]
    assert spec["sshAuthMountPath"] == "/home/mpiuser/.ssh"
    (container,) = spec["mpiReplicaSpecs"]["Worker"]["template"]["spec"]["containers"]
    assert container["command"][-4:] == ssh["command"]
    assert container["securityContext"] == {"runAsUser": 1000}


@pytest.mark.parametrize(
    ("implementation", "variable"),
    [
        ("OpenMPI", "OMPI_MCA_plm_rsh_args"),
        ("Intel", "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS"),
        ("MPICH", "HYDRA_LAUNCH_EXTRA_ARGS"),
    ],
)
def test_every_implementation_hands_our_options_to_ssh(implementation: str, variable: str, render: Render) -> None:
    layer = {"mpi_implementation": implementation, "mpirun": {"command": "mpiexec", "args": []}}
    documents = render(MPI, MINIMAL[MPI], layer)
    assert of_kind(documents, "MPIJob")["spec"]["mpiImplementation"] == implementation
    launcher = scripts(documents)["launcher-script.sh"]
    assert f'export {variable}="${variable} -o StrictHostKeyChecking=no' in launcher
    assert "\nmpiexec -np 2 /bin/bash /etc/config/train-script.sh\n" in launcher


def test_openmpi_options_are_not_handed_to_another_implementation(render: Render) -> None:
    with pytest.raises(HelmError, match=r"mpirun\.args holds options of OpenMPI, but mpi_implementation is Intel"):
        render(MPI, MINIMAL[MPI], {"mpi_implementation": "Intel"})


def test_a_server_scales_by_a_metric_that_exists(render: Render) -> None:
    documents = render(SERVER, MINIMAL[SERVER], {"server": {"autoscaling": {"maxReplicas": 3}}})
    spec = of_kind(documents, "HorizontalPodAutoscaler")["spec"]
    target = {"type": "Utilization", "averageUtilization": 80}
    assert spec["metrics"] == [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    assert "replicas" not in of_kind(documents, "Deployment")["spec"]


def test_the_reference_metric_that_cannot_resolve_becomes_the_one_it_means(render: Render) -> None:
    broken = {
        "type": "Pods",
        "pods": {"metric": {"name": "cpu"}, "target": {"type": "Utilization", "averageValue": 70}},
    }
    custom = {
        "type": "Pods",
        "pods": {"metric": {"name": "queue"}, "target": {"type": "AverageValue", "averageValue": 50}},
    }
    layer = {"server": {"autoscaling": {"maxReplicas": 3, "metrics": [broken, custom]}}}
    spec = of_kind(render(SERVER, MINIMAL[SERVER], layer), "HorizontalPodAutoscaler")["spec"]
    target = {"type": "Utilization", "averageUtilization": 70}
    assert spec["metrics"] == [{"type": "Resource", "resource": {"name": "cpu", "target": target}}, custom]


def test_one_replica_needs_no_autoscaler_and_no_budget(render: Render) -> None:
    documents = render(SERVER, MINIMAL[SERVER])
    assert {one["kind"] for one in documents} == {"ConfigMap", "Deployment", "Service"}
    assert of_kind(documents, "Deployment")["spec"]["replicas"] == 1


def test_a_slow_start_is_no_failed_rollout(render: Render) -> None:
    layer = {"server": {"startup_probe": {"period_secs": 60, "failure_threshold": 60}}}
    assert of_kind(render(SERVER, MINIMAL[SERVER], layer), "Deployment")["spec"]["progressDeadlineSeconds"] == 4200


@pytest.mark.parametrize(
    ("probe", "expected"),
    [
        ({}, {"httpGet": {"path": "/", "port": "http"}}),
        ({"path": "/healthz", "port": "8000"}, {"httpGet": {"path": "/healthz", "port": 8000}}),
        ({"path": ""}, {"tcpSocket": {"port": "http"}}),
    ],
)
def test_probes(probe: dict[str, str], expected: dict[str, object], render: Render) -> None:
    spec = of_kind(render(SERVER, MINIMAL[SERVER], {"server": {"readiness_probe": probe}}), "Deployment")["spec"]
    (container,) = spec["template"]["spec"]["containers"]
    assert container["readinessProbe"] == {**expected, "periodSeconds": 5, "failureThreshold": 3}


def test_a_changed_script_replaces_the_pods(render: Render) -> None:
    layers: list[dict[str, object]] = [{}, {"pre_script": ["date"]}]
    sums = {
        of_kind(render(SERVER, MINIMAL[SERVER], layer), "Deployment")["spec"]["template"]["metadata"]["annotations"][
            "checksum/script"
        ]
        for layer in layers
    }
    assert len(sums) == 2
