"""What must hold in everything that the charts render."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from chart_cases import (
    CASE_IDS,
    CASES,
    CHARTS,
    KEYS,
    MINIMAL,
    NAMES,
    WORK,
    Document,
    HelmError,
    Render,
    having,
    image,
    node_type,
    objects,
    pod_templates,
    scripts,
)

SHELLCHECK = str(Path(sys.executable).with_name("shellcheck"))
every_case = pytest.mark.parametrize(("chart", "values"), CASES, ids=CASE_IDS)
every_chart = pytest.mark.parametrize("chart", NAMES)
with_resources = pytest.mark.parametrize("chart", having("pod", "resources"))


@every_case
def test_every_mount_has_its_volume(chart: str, values: Path, render: Render) -> None:
    for template in pod_templates(render(chart, values)):
        volumes = [volume["name"] for volume in template["spec"].get("volumes", [])]
        containers = template["spec"]["containers"] + template["spec"].get("initContainers", [])
        mounts = {mount["name"] for container in containers for mount in container.get("volumeMounts", [])}
        assert mounts == set(volumes)
        assert len(set(volumes)) == len(volumes)


@every_case
def test_every_container_asks_for_cpu_and_memory(chart: str, values: Path, render: Render) -> None:
    for template in pod_templates(render(chart, values)):
        for container in template["spec"]["containers"]:
            named = container["resources"].get("requests", {}) | container["resources"].get("limits", {})
            assert {"cpu", "memory"} <= set(named)


@every_case
def test_pods_are_found_by_release(chart: str, values: Path, render: Render) -> None:
    for template in pod_templates(render(chart, values)):
        labels, annotations = template["metadata"]["labels"], template["metadata"]["annotations"]
        found_by = {"app.kubernetes.io/instance": "demo", "app.kubernetes.io/managed-by": "Helm"}
        # Tools of the reference system look for the annotations and for `app`.
        assert found_by.items() <= annotations.items()
        assert (found_by | {"app": "demo"}).items() <= labels.items()
        assert labels["app.kubernetes.io/component"]
        # A version would replace the pods of every server at each release of the collection.
        assert not {"app.kubernetes.io/version", "helm.sh/chart"} & (labels.keys() | annotations.keys())
        assert annotations["karpenter.sh/do-not-disrupt"] == "true"
        assert annotations["sidecar.istio.io/inject"] == "false"


@every_case
def test_selectors_select_the_pods(chart: str, values: Path, render: Render) -> None:
    documents = render(chart, values)
    for document in documents:
        spec = document.get("spec", {})
        selector = spec.get("selector") or spec.get("podSelector")
        if selector:
            wanted = selector.get("matchLabels", selector).items()
            assert any(wanted <= template["metadata"]["labels"].items() for template in pod_templates(documents))


@every_case
def test_every_config_map_is_mounted_and_there(chart: str, values: Path, render: Render) -> None:
    documents = render(chart, values)
    volumes = [volume for template in pod_templates(documents) for volume in template["spec"].get("volumes", [])]
    mounted = {volume["configMap"]["name"] for volume in volumes if "configMap" in volume}
    # Others are the recipe's own.
    others = _lines(yaml.safe_load(values.read_text()))
    assert mounted - others == {one["metadata"]["name"] for one in documents if one["kind"] == "ConfigMap"}


def _lines(node: Any) -> set[str]:
    """Every line of every text of a recipe."""
    if isinstance(node, dict | list):
        return set().union(*map(_lines, node.values() if isinstance(node, dict) else node))
    return {line.strip() for line in str(node).splitlines()}


@every_case
def test_every_script_parses_and_is_sound(chart: str, values: Path, render: Render) -> None:
    """What is found in lines that stand in the recipe is the recipe's own matter."""
    given = yaml.safe_load(values.read_text())
    program = given.get(WORK.get(chart, ""), {})
    words = [*program.get("command", []), *program.get("args", [])]
    command = " ".join(json.dumps(word) if isinstance(word, bool) else str(word).rstrip("\n") for word in words)
    recipe = _lines([given, command])
    for name, text in scripts(render(chart, values)).items():
        if not name.endswith(".sh"):
            continue
        assert text.startswith("#!/bin/bash\n")
        subprocess.run(["bash", "-n"], input=text, text=True, check=True)
        # A file that is sourced is there only in a container.
        check = [SHELLCHECK, "--shell=bash", "--format=json1", "--exclude=SC1091", "-"]
        done = subprocess.run(check, input=text, capture_output=True, text=True, check=False)
        assert done.returncode in (0, 1), done.stderr
        lines = text.splitlines()
        found = [
            (name, one["code"], one["message"], lines[one["line"] - 1])
            for one in json.loads(done.stdout)["comments"]
            if lines[one["line"] - 1].strip() not in recipe and " -np " not in lines[one["line"] - 1]
        ]
        assert found == []


@every_chart
def test_scripts_do_not_hold_the_version_of_the_chart(chart: str, run_helm: Callable[..., str], tmp_path: Path) -> None:
    """A release of the collection replaces no pod: only labels of the objects themselves name it."""
    run_helm(
        "package", str(CHARTS / chart), "--destination", str(tmp_path), "--version", "9.8.7", "--app-version", "9.8.7"
    )
    (archive,) = tmp_path.glob("*.tgz")
    values = ("--values", str(CHARTS / chart / "ci" / "minimal-values.yaml"))
    rendered = run_helm("template", "demo", str(archive), *values)
    standard = run_helm("template", "demo", str(CHARTS / chart), *values)
    assert "9.8.7" in rendered
    documents = [objects(text) for text in (rendered, standard)]
    for one in documents:
        for document in one:
            for label in ("app.kubernetes.io/version", "helm.sh/chart"):
                document["metadata"]["labels"].pop(label, None)
    assert documents[0] == documents[1]


@every_chart
def test_lint(chart: str, run_helm: Callable[..., str]) -> None:
    for name, values in CASES:
        if name == chart:
            assert "0 chart(s) failed" in run_helm("lint", "--strict", str(CHARTS / chart), "--values", str(values))


@every_chart
def test_a_chart_packs_with_what_it_shares(chart: str, run_helm: Callable[..., str], tmp_path: Path) -> None:
    """An archive carries the library chart itself, not a link out of the archive."""
    run_helm("package", str(CHARTS / chart), "--destination", str(tmp_path))
    (archive,) = tmp_path.glob("*.tgz")
    assert run_helm("template", "demo", str(archive), "--values", str(CHARTS / chart / "ci" / "minimal-values.yaml"))


@every_chart
def test_workload_kind_says_how_a_step_ends(chart: str, run_helm: Callable[..., str]) -> None:
    metadata = run_helm("show", "chart", str(CHARTS / chart))
    assert f"mlops.eks/until: {KEYS[chart]['until']}" in metadata
    assert KEYS[chart]["until"] in ("ready", "completed")
    if chart.startswith("serving/"):
        assert KEYS[chart]["until"] == "ready"


def _pod_of(documents: list[Document]) -> dict[str, Any]:
    return dict(pod_templates(documents)[-1]["spec"])


@with_resources
def test_no_node_selector_unless_a_node_type_is_named(chart: str, render: Render) -> None:
    assert "nodeSelector" not in _pod_of(render(chart, MINIMAL[chart], node_type(chart, "")))
    named = _pod_of(render(chart, MINIMAL[chart], node_type(chart, "p5.48xlarge")))
    assert named["nodeSelector"] == {"node.kubernetes.io/instance-type": "p5.48xlarge"}


@with_resources
def test_an_accelerator_brings_its_toleration_and_variables(chart: str, render: Render) -> None:
    amounts = {"nvidia.com/gpu": 8, "vpc.amazonaws.com/efa": 4}
    pod = _pod_of(render(chart, MINIMAL[chart], {"resources": {"requests": amounts, "limits": amounts}}))
    assert pod["tolerations"] == [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
    assert {"name": "FI_PROVIDER", "value": "efa"} in pod["containers"][0]["env"]


@pytest.mark.parametrize("chart", having("pod", "resources", "work"))
def test_what_the_recipe_says_of_accelerators_wins(chart: str, render: Render) -> None:
    work = WORK[chart]
    amounts = {"nvidia.com/gpu": 8, "vpc.amazonaws.com/efa": 4}
    toleration = {"key": "nvidia.com/gpu", "operator": "Equal", "value": "true", "effect": "NoExecute"}
    recipe = {
        "resources": {"requests": amounts, "limits": amounts},
        "tolerations": [toleration],
        work: {"env": [{"name": "FI_PROVIDER", "value": "tcp"}]},
    }
    pod = _pod_of(render(chart, MINIMAL[chart], recipe))
    assert pod["tolerations"] == [toleration]
    assert [one["value"] for one in pod["containers"][0]["env"] if one["name"] == "FI_PROVIDER"] == ["tcp"]


@pytest.mark.parametrize("chart", having("pod", "work", "script"))
def test_environment_values_and_toleration_keys_may_hold_templates(chart: str, render: Render) -> None:
    work = WORK[chart]
    recipe = {
        work: {
            "env": [{"name": "LOGS", "value": "/efs/home/{{ .Release.Name }}/logs"}],
            "args": ["{{ .Release.Name }}"],
        },
        "tolerations": [{"key": "{{ .Release.Name }}/only", "operator": "Exists"}],
    }
    documents = render(chart, MINIMAL[chart], recipe)
    pod = _pod_of(documents)
    assert {"name": "LOGS", "value": "/efs/home/demo/logs"} in pod["containers"][0]["env"]
    assert {"key": "demo/only", "operator": "Exists"} in pod["tolerations"]
    assert any("true {{ .Release.Name }}" in text for text in scripts(documents).values())


@every_chart
def test_a_queue_is_a_label_of_the_workload_only(chart: str, render: Render) -> None:
    documents = render(chart, MINIMAL[chart], {"queue": "team-a"})
    label = "kueue.x-k8s.io/queue-name"
    assert [one["metadata"]["labels"][label] for one in documents if label in one["metadata"]["labels"]] == ["team-a"]
    assert all(label not in template["metadata"]["labels"] for template in pod_templates(documents))


@pytest.mark.parametrize("chart", sorted({*having("image"), *having("server_image")}))
@pytest.mark.parametrize(
    ("name", "expected"),
    [("repo/image:1.2", "repo/image"), ("host:5000/image", "host:5000/image"), (f"a/b@sha256:{'0' * 64}", "a/b")],
)
def test_a_digest_replaces_the_tag(chart: str, name: str, expected: str, render: Render) -> None:
    digest = f"sha256:{'a' * 64}"
    assert (
        _pod_of(render(chart, MINIMAL[chart], image(chart, name, digest)))["containers"][0]["image"]
        == f"{expected}@{digest}"
    )


# Names that charts make from a release name of the given length, where the last one that fits has 63 characters.
LONGEST = [
    ("data-prep/data-process", 50, "data-process-{}"),
    ("training/mpijob-distributed", 47, "mpijob-{}-worker-1"),
    ("training/pytorchjob-distributed", 43, "pytorchjob-{}-worker-0"),
]


@pytest.mark.parametrize(("chart", "longest", "name"), LONGEST)
def test_a_release_name_too_long_is_refused_by_name_and_length(
    chart: str, longest: int, name: str, render: Render
) -> None:
    nodes = {"resources": {"nnodes": 2}} if chart.startswith("training/") else {}
    assert render(chart, MINIMAL[chart], nodes, release="a" * longest)
    release = "a" * (longest + 1)
    with pytest.raises(HelmError) as refused:
        render(chart, MINIMAL[chart], nodes, release=release)
    message = str(refused.value)
    assert f'release name "{release}" is too long' in message
    assert f'"{name.format(release)}"' in message
    assert "64 characters, the maximum is 63" in message


def test_more_workers_leave_less_room_for_the_release_name(render: Render) -> None:
    chart = "training/mpijob-distributed"
    with pytest.raises(HelmError, match=r"worker-10\" made from it has 64"):
        render(chart, MINIMAL[chart], {"resources": {"nnodes": 11}}, release="a" * 47)


def test_a_service_cannot_begin_with_a_digit(render: Render) -> None:
    chart = "serving/generic-server"
    with pytest.raises(HelmError, match='release name "3d" cannot be used'):
        render(chart, MINIMAL[chart], release="3d")
