"""Values that are secrets: text renders as text, and a reference to a Secret as one, whatever template inserts it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from chart_cases import CHARTS, MINIMAL, WORK, HelmError, Render, having, pod_templates

REF = {"secretKeyRef": {"name": "demo-secrets", "key": "hf_token"}}
every_chart = pytest.mark.parametrize("chart", having("script", "work"))
JOB = "data-prep/data-process"


def recipe(chart: str, *values: str) -> dict[str, Any]:
    """A layer whose variables V0, V1 … are these templates."""
    env = [{"name": f"V{index}", "value": value} for index, value in enumerate(values)]
    return {WORK[chart]: {"env": env}}


def env(render: Render, chart: str, *layers: dict[str, Any]) -> list[dict[str, Any]]:
    """The variables of the recipe, and those that its secrets need, equal in all pods."""
    templates = pod_templates(render(chart, MINIMAL[chart], *layers))
    all_of = [
        [one for one in template["spec"]["containers"][0]["env"] if re.match(r"V\d|MLOPS_SECRET_", one["name"])]
        for template in templates
    ]
    assert all(one == all_of[0] for one in all_of)
    return all_of[0]


@every_chart
def test_text_renders_as_in_the_reference(chart: str, render: Render) -> None:
    values = recipe(chart, "{{ .Values.hf_token }}", "https://me:{{ .Values.hf_token }}@host")
    assert env(render, chart, values, {"hf_token": "hf_abc"}) == [
        {"name": "V0", "value": "hf_abc"},
        {"name": "V1", "value": "https://me:hf_abc@host"},
    ]


@every_chart
def test_a_reference_is_taken_from_its_secret(chart: str, render: Render) -> None:
    values = recipe(chart, "/efs/{{ .Release.Name }}", "{{ .Values.hf_token }}")
    assert env(render, chart, values, {"hf_token": REF}) == [
        {"name": "V0", "value": "/efs/demo"},
        {"name": "V1", "valueFrom": REF},
    ]


def test_within_a_text_it_is_replaced_by_kubernetes(render: Render) -> None:
    values = recipe(JOB, "https://me:{{ .Values.hf_token }}@host/{{ .Release.Name }}", "{{ .Values.hf_token }}")
    assert env(render, JOB, values, {"hf_token": REF}) == [
        {"name": "MLOPS_SECRET_HF_TOKEN", "valueFrom": REF},
        {"name": "V0", "value": "https://me:$(MLOPS_SECRET_HF_TOKEN)@host/demo"},
        {"name": "V1", "valueFrom": REF},
    ]


def test_several_are_told_apart(render: Render) -> None:
    chart, other = "serving/generic-server", {"secretKeyRef": {"name": "mine", "key": "password"}}
    values = recipe(chart, "{{ .Values.hf_token }}{{ .Values.admin_password }}", "{{ .Values.ssl_certs }}")
    found = env(render, chart, values, {"hf_token": REF, "admin_password": other, "ssl_certs": "text"})
    assert found == [
        {"name": "MLOPS_SECRET_ADMIN_PASSWORD", "valueFrom": other},
        {"name": "MLOPS_SECRET_HF_TOKEN", "valueFrom": REF},
        {"name": "V0", "value": "$(MLOPS_SECRET_HF_TOKEN)$(MLOPS_SECRET_ADMIN_PASSWORD)"},
        {"name": "V1", "value": "text"},
    ]


def test_at_any_depth(render: Render) -> None:
    values = recipe(JOB, "{{ .Values.affinity.one.two }}", "-{{ .Values.affinity.one.two }}-")
    assert env(render, JOB, values, {"affinity": {"one": {"two": REF, "three": {}}}}) == [
        {"name": "MLOPS_SECRET_AFFINITY_ONE_TWO", "valueFrom": REF},
        {"name": "V0", "valueFrom": REF},
        {"name": "V1", "value": "-$(MLOPS_SECRET_AFFINITY_ONE_TWO)-"},
    ]


@pytest.mark.parametrize(
    "template",
    [
        "{{ .Values.hf_token | default `none` }}",
        "{{ if .Values.hf_token }}{{ .Values.hf_token }}{{ end }}",
        "{{ printf `%s` .Values.hf_token }}",
    ],
)
def test_templates_that_insert_it_as_it_is(template: str, render: Render) -> None:
    assert env(render, JOB, recipe(JOB, template), {"hf_token": REF}) == [{"name": "V0", "valueFrom": REF}]


@pytest.mark.parametrize(
    "template",
    [
        "{{ .Values.hf_token | b64enc }}",
        "Basic {{ printf `me:%s` .Values.hf_token | b64enc }}",
        "{{ .Values.hf_token | quote }}",
        "{{ .Values.hf_token | toJson }}",
        "{{ .Values.hf_token | upper }}",
        "{{ .Values.hf_token | lower }}",
        "{{ .Values.hf_token | trunc 1 }}",
        "{{ .Values.hf_token | len }}",
        "{{ .Values.hf_token | sha256sum }}",
        "{{ .Values.hf_token | nindent 2 }}",
        "{{ .Values.hf_token | urlquery }}",
    ],
)
def test_templates_that_change_it_are_refused(template: str, render: Render) -> None:
    with pytest.raises(HelmError, match=r"the variable V0 changes a value that is kept in a Secret \(hf_token\)"):
        env(render, JOB, recipe(JOB, template), {"hf_token": REF})


def test_it_is_refused_where_it_would_be_read_by_everybody(render: Render) -> None:
    chart = "training/mpijob-distributed"
    args = {"mpirun": {"args": ["-x", "TOKEN={{ .Values.hf_token }}"]}, "hf_token": REF}
    with pytest.raises(HelmError, match=r"mpirun.args inserts hf_token, which is kept in a Secret: set a variable"):
        render(chart, MINIMAL[chart], args)
    taint = {"tolerations": [{"key": "{{ .Values.hf_token }}"}], "hf_token": REF}
    with pytest.raises(HelmError, match=r"a toleration inserts hf_token, which is kept in a Secret"):
        render(chart, MINIMAL[chart], taint)


@every_chart
@pytest.mark.parametrize(
    "value", [5, ["a"], {}, {"secretKeyRef": {"name": "x"}}, {**REF, "more": 1}, {"secretKeyRef": "x"}]
)
def test_nothing_else_is_a_secret(chart: str, value: object) -> None:
    path: Path = CHARTS / chart / "values.schema.json"
    assert not jsonschema.Draft7Validator(json.loads(path.read_text())).is_valid({"hf_token": value})
