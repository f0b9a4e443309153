"""What must hold in everything that the charts render."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from chart_cases import (
    CASE_IDS,
    CASES,
    CHARTS,
    MINIMAL,
    NAMES,
    WORK,
    Document,
    HelmError,
    Render,
    of_kind,
    pod_templates,
    scripts,
)

every_case = pytest.mark.parametrize(("chart", "values"), CASES, ids=CASE_IDS)
every_chart = pytest.mark.parametrize("chart", NAMES)


@every_case
def test_every_mount_has_its_volume(chart: str, values: Path, render: Render) -> None:
    for template in pod_templates(render(chart, values)):
        volumes = [volume["name"] for volume in template["spec"]["volumes"]]
        mounts = [mount["name"] for container in template["spec"]["containers"] for mount in container["volumeMounts"]]
        assert sorted(mounts) == sorted(volumes)
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
        labels = template["metadata"]["labels"]
        assert labels["app.kubernetes.io/instance"] == "demo"
        assert labels["app.kubernetes.io/managed-by"] == "Helm"
        assert labels["app.kubernetes.io/component"]
        assert template["metadata"]["annotations"]["karpenter.sh/do-not-disrupt"] == "true"
        assert template["metadata"]["annotations"]["sidecar.istio.io/inject"] == "false"


@every_case
def test_selectors_select_the_pods(chart: str, values: Path, render: Render) -> None:
    documents = render(chart, values)
    for document in documents:
        selector = document.get("spec", {}).get("selector")
        if selector:
            (template,) = pod_templates(documents)
            assert selector.get("matchLabels", selector).items() <= template["metadata"]["labels"].items()


@every_case
def test_every_script_is_mounted_and_parses(chart: str, values: Path, render: Render) -> None:
    documents = render(chart, values)
    for template in pod_templates(documents):
        config = next(volume for volume in template["spec"]["volumes"] if volume["name"] == "config")
        assert config["configMap"]["name"] == of_kind(documents, "ConfigMap")["metadata"]["name"]
    for text in scripts(documents).values():
        assert text.startswith("#!/bin/bash\n")
        subprocess.run(["bash", "-n"], input=text, text=True, check=True)


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
    assert f"mlops.eks/until: {'ready' if chart.startswith('serving/') else 'completed'}" in metadata


def _pod_of(documents: list[Document]) -> dict[str, Any]:
    return dict(pod_templates(documents)[-1]["spec"])


@every_chart
def test_no_node_selector_unless_a_node_type_is_named(chart: str, render: Render) -> None:
    assert "nodeSelector" not in _pod_of(render(chart, MINIMAL[chart]))
    named = _pod_of(render(chart, MINIMAL[chart], {"resources": {"node_type": "p5.48xlarge"}}))
    assert named["nodeSelector"] == {"node.kubernetes.io/instance-type": "p5.48xlarge"}


@every_chart
def test_an_accelerator_brings_its_toleration_and_variables(chart: str, render: Render) -> None:
    amounts = {"nvidia.com/gpu": 8, "vpc.amazonaws.com/efa": 4}
    pod = _pod_of(render(chart, MINIMAL[chart], {"resources": {"requests": amounts, "limits": amounts}}))
    assert pod["tolerations"] == [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
    assert {"name": "FI_PROVIDER", "value": "efa"} in pod["containers"][0]["env"]


@every_chart
def test_what_the_recipe_says_of_accelerators_wins(chart: str, render: Render) -> None:
    work = WORK.get(chart, "train")
    amounts = {"nvidia.com/gpu": 8, "vpc.amazonaws.com/efa": 4}
    toleration = {"key": "nvidia.com/gpu", "operator": "Equal", "value": "true", "effect": "NoExecute"}
    recipe = {
        "resources": {"limits": amounts},
        "tolerations": [toleration],
        work: {"env": [{"name": "FI_PROVIDER", "value": "tcp"}]},
    }
    pod = _pod_of(render(chart, MINIMAL[chart], recipe))
    assert pod["tolerations"] == [toleration]
    assert [one["value"] for one in pod["containers"][0]["env"] if one["name"] == "FI_PROVIDER"] == ["tcp"]


@every_chart
def test_environment_values_and_toleration_keys_may_hold_templates(chart: str, render: Render) -> None:
    work = WORK.get(chart, "train")
    recipe = {
        work: {
            "env": [{"name": "LOGS", "value": "/efs/home/{{ .Release.Name }}/logs"}],
            "args": ["{{ .Release.Name }}"],
        },
        "tolerations": [{"key": "{{ .Release.Name }}/only", "operator": "Exists"}],
    }
    documents = render(chart, MINIMAL[chart], recipe)
    pod = _pod_of(documents)
    assert pod["containers"][0]["env"][0] == {"name": "LOGS", "value": "/efs/home/demo/logs"}
    assert pod["tolerations"] == [{"key": "demo/only", "operator": "Exists"}]
    assert any("true {{ .Release.Name }}" in text for text in scripts(documents).values())


@every_chart
def test_a_queue_is_a_label_of_the_workload_only(chart: str, render: Render) -> None:
    documents = render(chart, MINIMAL[chart], {"queue": "team-a"})
    label = "kueue.x-k8s.io/queue-name"
    assert [one["metadata"]["labels"][label] for one in documents if label in one["metadata"]["labels"]] == ["team-a"]
    assert all(label not in template["metadata"]["labels"] for template in pod_templates(documents))


@every_chart
@pytest.mark.parametrize(
    ("name", "expected"),
    [("repo/image:1.2", "repo/image"), ("host:5000/image", "host:5000/image"), (f"a/b@sha256:{'0' * 64}", "a/b")],
)
def test_a_digest_replaces_the_tag(chart: str, name: str, expected: str, render: Render) -> None:
    digest = f"sha256:{'a' * 64}"
    serving = chart.startswith("serving/")
    layer = {"image": {"name": name, "digest": digest}} if serving else {"image": name, "image_digest": digest}
    assert _pod_of(render(chart, MINIMAL[chart], layer))["containers"][0]["image"] == f"{expected}@{digest}"


# Names that each chart makes from a release name of the given length, where the last one that fits has 63 characters.
LONGEST = [
    ("data-prep/data-process", 50, "data-process-{}"),
    ("training/mpijob-distributed", 47, "mpijob-{}-worker-1"),
    ("training/pytorchjob-distributed", 43, "pytorchjob-{}-worker-0"),
]


@pytest.mark.parametrize(("chart", "longest", "name"), LONGEST)
def test_a_release_name_too_long_is_refused_by_name_and_length(
    chart: str, longest: int, name: str, render: Render
) -> None:
    assert render(chart, MINIMAL[chart], release="a" * longest)
    release = "a" * (longest + 1)
    with pytest.raises(HelmError) as refused:
        render(chart, MINIMAL[chart], release=release)
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
