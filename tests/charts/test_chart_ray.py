"""What the charts of Ray ask of KubeRay, and how their pods end."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest
from chart_cases import MINIMAL, Document, HelmError, Render, having, of_kind, pod_templates
from chart_script import recipe_file, write
from test_chart_stop_scripts import TRAINER, contained

JOBS = having("rayjob")
CHARTS = having("ray")
TRAIN, SERVE = "training/raytrain", "serving/rayserve"
GPU = {
    "resources": {"limits": {"nvidia.com/gpu": 1}, "node_type": "g5.xlarge"},
    "tolerations": [{"key": "team", "operator": "Exists"}],
}


def cluster(documents: list[Document]) -> Document:
    """Return the spec of the Ray cluster."""
    (spec,) = [document["spec"] for document in documents if document["apiVersion"] == "ray.io/v1"]
    return dict(spec.get("rayClusterSpec") or spec["rayClusterConfig"])


def head_ports(documents: list[Document]) -> dict[str, int]:
    container = cluster(documents)["headGroupSpec"]["template"]["spec"]["containers"][0]
    return {port["name"]: port["containerPort"] for port in container["ports"]}


@pytest.mark.parametrize("chart", CHARTS)
def test_only_workers_go_where_accelerators_are(chart: str, render: Render) -> None:
    templates = {
        template["metadata"]["labels"]["app.kubernetes.io/component"]: template["spec"]
        for template in pod_templates(render(chart, MINIMAL[chart], GPU))
    }
    worker = templates.pop("worker")
    assert worker["nodeSelector"] == {"node.kubernetes.io/instance-type": "g5.xlarge"}
    assert [one["key"] for one in worker["tolerations"]] == ["team", "nvidia.com/gpu"]
    assert templates.keys() == ({"head", "submitter"} if chart in JOBS else {"head"})
    for spec in templates.values():
        assert not {"nodeSelector", "tolerations", "affinity"} & spec.keys()


@pytest.mark.parametrize("chart", CHARTS)
def test_a_head_goes_where_its_own_values_say(chart: str, render: Render) -> None:
    own = {"resources": {"node_type": "m7a.large"}, "tolerations": [{"key": "head", "operator": "Exists"}]}
    spec = cluster(render(chart, MINIMAL[chart], GPU, {"ray": own}))["headGroupSpec"]["template"]["spec"]
    assert spec["nodeSelector"] == {"node.kubernetes.io/instance-type": "m7a.large"}
    assert [one["key"] for one in spec["tolerations"]] == ["head"]


@pytest.mark.parametrize("chart", CHARTS)
def test_workers_use_all_cpus_of_their_node_unless_they_name_a_number(chart: str, render: Render) -> None:
    """KubeRay would take our request for half a CPU as one CPU, and Ray place nothing that asks for more."""

    def params(*layers: dict[str, Any]) -> dict[str, str]:
        (group,) = cluster(render(chart, MINIMAL[chart], *layers))["workerGroupSpecs"]
        return dict(group["rayStartParams"])

    assert params() == {"num-cpus": "$(getconf _NPROCESSORS_ONLN)"}
    for key in ("requests", "limits"):
        assert params({"resources": {key: {"cpu": 2}}}) == {}


def test_the_autoscaler_is_told_a_number_of_cpus(render: Render) -> None:
    """It ends with an error for workers of which it finds none, and knows nothing of their shell."""
    values = {"resources": {"max_replicas": 2, "limits": {"nvidia.com/gpu": 8}}}
    (group,) = cluster(render(SERVE, MINIMAL[SERVE], values))["workerGroupSpecs"]
    assert group["rayStartParams"] == {"num-cpus": "64"}


@pytest.mark.parametrize("chart", CHARTS)
def test_kuberay_finds_what_it_makes(chart: str, render: Render) -> None:
    """The Service of a RayJob's or RayService's head selects this name, whatever the pods say."""
    for template in pod_templates(render(chart, MINIMAL[chart])):
        assert template["metadata"]["labels"]["app.kubernetes.io/name"] == "kuberay"
    known = {"gcs-server": 6379, "client": 10001, "dashboard": 8265} | ({} if chart in JOBS else {"serve": 8000})
    assert head_ports(render(chart, MINIMAL[chart])) == known
    named = {"ray": {"ports": [{"name": "gcs", "port": "6379"}]}}
    assert head_ports(render(chart, MINIMAL[chart], named)) == {
        "gcs" if name == "gcs-server" else name: port for name, port in known.items()
    }


@pytest.mark.parametrize(
    ("chart", "values", "words"),
    [
        (SERVE, {"ray": {"ports": [{"name": "http", "port": 8000}]}}, "port 8000 without the name serve"),
        (TRAIN, {"ray": {"ports": [{"name": "web", "port": 8265}]}}, "port 8265 without the name dashboard"),
        (TRAIN, {"ray": {"runtime_env_yaml": "pip: ["}}, "ray.runtime_env_yaml is no map of YAML"),
        (TRAIN, {"ray": {"runtime_env_yaml": {"pip": ["x"]}}}, "runtimeEnvYAML"),
        (SERVE, {"ray": {"serve_config_v2": {"serveConfigV2": "- x"}}}, "serveConfigV2 is no map of YAML"),
        (SERVE, {"ray": {"serve_config_v2": {"serveConfigV2": ""}}}, "there is nothing to serve"),
        (SERVE, {"resources": {"min_replicas": 3, "max_replicas": 2}}, "max_replicas (2) is less than resources.min"),
        (SERVE, {"ray": {"restart_policy": {"head": "Sometimes"}}}, "restart_policy/head"),
    ],
)
def test_refused(chart: str, values: dict[str, Any], words: str, render: Render) -> None:
    with pytest.raises(HelmError, match=re.escape(words)):
        render(chart, MINIMAL[chart], values)


@pytest.mark.parametrize("chart", CHARTS)
def test_the_longest_name_that_kuberay_takes(chart: str, render: Render) -> None:
    """KubeRay refuses a RayJob or RayService whose name has more than 47 characters."""
    prefix = "rayjob-" if chart in JOBS else "rayservice-"
    longest = "x" * (47 - len(prefix))
    render(chart, MINIMAL[chart], release=longest)
    with pytest.raises(HelmError, match="too long"):
        render(chart, MINIMAL[chart], release=f"{longest}x")


@pytest.mark.parametrize("chart", JOBS)
def test_both_spellings_of_the_runtime_environment(chart: str, render: Render) -> None:
    text = "pip:\n  - x==1\nenv_vars: {A: '{{ $HOME }}'}\n"
    for value in (text, {"runtimeEnvYAML": text}):
        job = of_kind(render(chart, MINIMAL[chart], {"ray": {"runtime_env_yaml": value}}), "RayJob")
        assert job["spec"]["runtimeEnvYAML"] == text


def test_the_autoscaler_reaches_the_api_server(render: Render) -> None:
    more = cluster(render(SERVE, MINIMAL[SERVE], {"resources": {"max_replicas": 2}}))
    assert more["enableInTreeAutoscaling"] is True
    assert more["headGroupSpec"]["template"]["spec"]["automountServiceAccountToken"] is True
    assert more["workerGroupSpecs"][0]["template"]["spec"]["automountServiceAccountToken"] is False
    fixed = cluster(render(SERVE, MINIMAL[SERVE]))
    assert "enableInTreeAutoscaling" not in fixed
    assert fixed["headGroupSpec"]["template"]["spec"]["automountServiceAccountToken"] is False


@pytest.mark.parametrize(("chart", "clients"), [(TRAIN, []), (SERVE, [8000])])
def test_only_kuberay_reaches_the_dashboard(chart: str, clients: list[int], render: Render) -> None:
    policy = of_kind(render(chart, MINIMAL[chart], {"network_policy": True}), "NetworkPolicy")
    rules = {port["port"]: rule.get("from") for rule in policy["spec"]["ingress"] for port in rule.get("ports", [])}
    operator = {"app.kubernetes.io/component": "kuberay-operator"}
    expected = {8265: [{"namespaceSelector": {}, "podSelector": {"matchLabels": operator}}]}
    assert rules == expected | dict.fromkeys(clients)


# The first process of a head, as `ray start` is one: it starts the script by a shell that leads a session.
HEAD = """
import pathlib, signal, subprocess, sys, time
_, script, stop = sys.argv[1:]
def told(*_):
    print("ray told", flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, told)
job = subprocess.Popen(["/bin/sh", "-c", f"/bin/bash {script}; exit $?"], stdin=subprocess.PIPE, start_new_session=True)
while not pathlib.Path("trainer").exists():
    time.sleep(0.01)
hook = subprocess.Popen(["/bin/bash", stop], stdin=subprocess.DEVNULL)
print("job", job.wait(), flush=True)
hook.wait()
time.sleep(60)
"""
# That of a worker: the head is gone after two seconds.
WORKER = """
import os, signal, socket, subprocess, sys, time
def told(*_):
    print("ray told", flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, told)
head = socket.create_server(("127.0.0.1", 0), backlog=100)
environment = os.environ | {"FQ_RAY_IP": "127.0.0.1", "RAY_PORT": str(head.getsockname()[1])}
hook = subprocess.Popen(["/bin/bash", sys.argv[2]], stdin=subprocess.DEVNULL, env=environment)
time.sleep(2)
print("head gone", flush=True)
head.close()
hook.wait()
time.sleep(60)
"""


def first_process(directory: Path, program: str) -> str:
    """Write a program that has the command line of `ray start`."""
    path = directory / "ray"
    path.write_text(program)
    return str(path)


@pytest.mark.parametrize("chart", JOBS)
def test_a_head_ends_after_its_driver(chart: str, render: Render, tmp_path: Path) -> None:
    work = "train" if chart == TRAIN else "process"
    values = {
        work: {"command": [TRAINER.format("trainer")], "args": ["| tee log"]},
        "post_script": ["echo post"],
        "always_script": ["echo always $EXIT_STATUS"],
    }
    here = write(render, tmp_path, chart, values)
    program = first_process(tmp_path, HEAD)
    script, stop = str(here[recipe_file(render, chart)]), str(here["stop.sh"])
    done = contained(tmp_path, sys.executable, program, "start", script, stop)
    said = [line for line in done.stdout.splitlines() if line != "Terminated"]
    assert said == ["trainer saved", "always 143", "job 143", "ray told"], done
    assert (tmp_path / "log").read_text() == "trainer saved\n"


def test_a_worker_ends_after_the_head(render: Render, tmp_path: Path) -> None:
    here = write(render, tmp_path, TRAIN, {})
    done = contained(tmp_path, sys.executable, first_process(tmp_path, WORKER), "start", str(here["stop.sh"]))
    assert done.stdout.splitlines() == ["head gone", "ray told"], done


def test_a_worker_alone_ends_within_its_grace_period(render: Render, tmp_path: Path) -> None:
    here = write(render, tmp_path, TRAIN, {"termination_grace_period_seconds": 11})
    lasting = WORKER.replace("head.close()", "")
    done = contained(tmp_path, sys.executable, first_process(tmp_path, lasting), "start", str(here["stop.sh"]))
    assert done.stdout.splitlines() == ["ray told"], done


def test_the_submitter_goes_on_to_the_end(render: Render, tmp_path: Path) -> None:
    here = write(render, tmp_path, TRAIN, {})
    program = f"RAY_JOB_SUBMISSION_ID=x bash {here['stop.sh']}; echo $?"
    assert contained(tmp_path, "/bin/bash", "-c", program).stdout == "0\n"


def test_a_pod_of_a_service_still_serves_for_ten_seconds(render: Render, tmp_path: Path) -> None:
    text = write(render, tmp_path, SERVE)["stop.sh"].read_text()
    assert text.index("\nsleep 10\n") < text.index("/ray start ")
    for seconds, drain in ((None, "20"), (1200, "1180"), (5, "0")):
        documents = render(SERVE, MINIMAL[SERVE], {"termination_grace_period_seconds": seconds})
        spec = cluster(documents)["headGroupSpec"]["template"]["spec"]
        assert spec["terminationGracePeriodSeconds"] == (seconds or 40)
        assert {"name": "RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S", "value": drain} in spec["containers"][0]["env"]
