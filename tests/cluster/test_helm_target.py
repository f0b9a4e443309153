# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Helm works on the cluster and namespace it is told, with the values it is told, and plans what it will install."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from plays import helm_binary
from samples import IMAGE, Json
from space import Space

from ansible_collections.mlops.eks.plugins.module_utils._helm.cli import Helm, run_program

pytestmark = pytest.mark.cluster

# What a template may ask of the cluster, and a Job that says what it got.
ASKS = """apiVersion: batch/v1
kind: Job
metadata: {name: "{{ .Release.Name }}"}
spec:
  template:
    metadata:
      annotations:
        version: {{ .Capabilities.KubeVersion.Version | quote }}
        kind: {{ .Capabilities.APIVersions.Has "batch/v1/Job" | quote }}
        operator: {{ .Capabilities.APIVersions.Has "kubeflow.org/v2beta1/MPIJob" | quote }}
        absent: {{ .Capabilities.APIVersions.Has "example.org/v1" | quote }}
    spec:
      restartPolicy: Never
      containers: [{name: main, image: "IMAGE", command: ["true"]}]
"""
KEEPS = """apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .Release.Name }}"}
data: {word: {{ .Values.word | quote }}}
"""


def _chart(space: Space, template: str, values: Json) -> Path:
    chart = space.directory / "chart"
    (chart / "templates").mkdir(parents=True)
    (chart / "Chart.yaml").write_text("apiVersion: v2\nname: asks\nversion: 0.1.0\n", encoding="utf-8")
    (chart / "values.yaml").write_text(json.dumps(values), encoding="utf-8")
    (chart / "templates" / "object.yaml").write_text(template, encoding="utf-8")
    return chart


def test_a_plan_is_what_is_installed_whatever_the_environment_says(
    space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    led_away = {
        "HELM_DRIVER": "configmap", "HELM_NAMESPACE": "default", "HELM_KUBEAPISERVER": "https://127.0.0.1:1",
        "HELM_KUBECONTEXT": "none", "HELM_KUBEASUSER": "nobody", "KUBECONFIG": "/no/such/file",
    }  # fmt: skip
    for name, value in led_away.items():
        monkeypatch.setenv(name, value)
    chart = _chart(space, ASKS.replace("IMAGE", IMAGE), {})
    space.task("helm_step", release="run", chart=str(chart), runs_dir=str(space.runs))
    evidence = space.evidence("run")
    (planned,) = yaml.safe_load_all((evidence / "manifest.yaml").read_text(encoding="utf-8"))
    installed = yaml.safe_load((evidence / "workload.yaml").read_text(encoding="utf-8"))
    asked = planned["spec"]["template"]["metadata"]["annotations"]
    assert asked == installed["spec"]["template"]["metadata"]["annotations"]
    version = json.loads(space.kubectl("get", "--raw", "/version"))["gitVersion"]
    assert asked == {"version": version, "kind": "true", "operator": "true", "absent": "false"}
    assert space.record("run")["outcome"] == "succeeded"


def test_an_upgrade_without_values_has_those_of_the_chart(space: Space) -> None:
    chart = _chart(space, KEEPS, {"word": "the chart's"})
    helm = Helm(
        binary=helm_binary(), kubeconfig=space.kubeconfig, context=None, namespace=space.namespace, run=run_program
    )
    first = space.directory / "first.yaml"
    first.write_text("word: the recipe's\n", encoding="utf-8")
    helm.install("keeps", chart, [first], labels={"a": "b"})
    helm.install("keeps", chart, [], labels={"a": "b"}, upgrade=True)
    found = {one["metadata"]["name"]: one.get("data") for one in space.get("configmaps")}
    assert found["keeps"] == {"word": "the chart's"}
