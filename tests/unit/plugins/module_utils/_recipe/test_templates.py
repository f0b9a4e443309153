# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Values may hold templates; none that reaches outside of the chart, however it is written."""

from __future__ import annotations

import shutil
import subprocess
import time
import typing as t
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError, MissingToolError
from ansible_collections.mlops.eks.plugins.module_utils._helm.cli import find_helm
from ansible_collections.mlops.eks.plugins.module_utils._recipe.layers import layers
from ansible_collections.mlops.eks.plugins.module_utils._recipe.source import Source, parse
from ansible_collections.mlops.eks.plugins.module_utils._recipe.templates import problem, refuse_calls

LOOKUP = 'lookup "v1" "Secret" "default" "token"'
REFUSED = (
    f"{{{{ {LOOKUP} }}}}",
    f"{{{{{LOOKUP}}}}}",
    f"{{{{- {LOOKUP} -}}}}",
    f"a {{{{ .Values.x }}}} b {{{{ {LOOKUP} }}}}",
    f'{{{{ $x := ({LOOKUP}) }}}}{{{{ index $x.data "t" }}}}',
    f"{{{{ ({LOOKUP}).data.token | b64dec }}}}",
    f"{{{{ if {LOOKUP} }}}}x{{{{ end }}}}",
    f"{{{{\n  {LOOKUP}\n}}}}",
    '{{ "token" | lookup "v1" "Secret" "default" }}',
    '{{ "}}" | lookup "v1" "Secret" "default" }}',
    '{{ `}}` | lookup "v1" "Secret" "default" }}',
    '{{ "\\"}}" | lookup "v1" "Secret" "default" }}',
    f"{{{{/* a comment }}}} */}}}}{{{{ {LOOKUP} }}}}",
    "{{ range (lookup `v1` `Secret` `` ``).items }}{{ .data }}{{ end }}",
    '{{ (index (lookup "v1" "Secret" "" "").items 0).data }}',
    '{{ printf "%v"(lookup "v1" "Secret" "" "") }}',
    '{{ getHostByName "secret.example.com" }}',
    '{{ "secret.example.com" | getHostByName }}',
    '{{ tpl (printf "{{ loo%s }}" "kup") . }}',
    '{{ tpl (b64dec "e3sgbG9va3VwIH19") $ }}',
    '{{ template "x" (dict "value" "y") }}',
    '{{ define "x" }}{{ lookup "v1" "Secret" "" "" }}{{ end }}{{ include "x" . }}',
    '{{ include "common.tplvalues.render" (dict "value" (b64dec "eA==") "context" $) }}',
    '{{ with dict "value" (b64dec "eA==") }}{{ include "common.tplvalues.render" . }}{{ end }}',
    '{{ $ = dict "value" (b64dec "eA==") }}{{ include "common.tplvalues.render" $ }}',
    '{{ if $ := dict "value" "eA==" }}{{ include "common.tplvalues.render" $ }}{{ end }}',
    '{{ $n := "x" }}{{ include $n . }}',
    '{{ $_ := set .Values "image" (b64dec "eA==") }}',
    '{{ $_ := mergeOverwrite .Values (dict "image" (b64dec "eA==")) }}',
    '{{ env "AWS_SECRET_ACCESS_KEY" }}',
    # Begun here, ended in another value of a chart that evaluates several at once.
    "{{ ",
    '{{ "a',
    "{{/* a",
    f"}}}} {{{{ ( {LOOKUP}",
)
ACCEPTED = (
    "",
    "lookup table",
    "lookup: getHostByName, tpl, include, set -e",
    "{{ .Release.Name }} lookup {{ .Release.Namespace }}",
    "/efs/home/{{ .Release.Name }}",
    '/efs/home/{{ trimSuffix "-serve" .Release.Name }}',
    "{{ .Values.lookup }} {{ $.Values.tpl.include }} {{ $lookup := 1 }}{{ $lookup }}",
    '{{ "lookup" }} {{ `lookup` }} {{ printf "%s" "getHostByName" }}',
    "{{/* lookup */}}",
    "{{- /* lookup */ -}}",
    '{{ include "common.names.fullname" . }}-secret',
    '{{ include "common.names.fullname" $ | trunc 10 | quote }}',
    '{{ .Values.global.setting | default "merge" }}',
    'echo \'{"a": {"b": 1}}\' | lookup',
    "x}} lookup",
    "{{ 1 }}{{ 0x1F }}{{ -3 }}{{ 'a' }}",
    "{% set x = 1 %}{{ messages[0]['content'] }}{% include 'a' %}",
)


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused(text: str) -> None:
    assert problem(text)


@pytest.mark.parametrize("text", ACCEPTED)
def test_what_is_accepted(text: str) -> None:
    assert problem(text) == ""


def test_the_error_has_file_line_key_and_remedy() -> None:
    recipe = parse('a: 1\nenv:\n  - name: T\n    value: "{{ lookup `v1` `Secret` `` `` }}"\n', name="train.yaml")
    with pytest.raises(InvalidInputError) as caught:
        refuse_calls(layers([recipe]))
    said = str(caught.value)
    assert said.startswith("train.yaml:4: env[0].value: its template calls lookup, which reads objects of the cluster")
    assert "allow_lookup: true" in said
    assert "\n" not in said


def test_keys_are_evaluated_too_and_what_a_later_layer_replaces_is_not() -> None:
    bad = '{{ lookup "v1" "Secret" "" "" }}'
    with pytest.raises(InvalidInputError, match="calls lookup"):
        refuse_calls(layers([Source(name="values", data={"labels": {bad: "x"}})]))
    refuse_calls(layers([Source(name="one", data={"a": bad}), Source(name="two", data={"a": "good"})]))
    with pytest.raises(InvalidInputError, match=r"^two: a: "):
        refuse_calls(layers([Source(name="one", data={"a": "good"}), Source(name="two", data={"a": bad})]))


@pytest.mark.parametrize("text", ["{{ " * 50_000, '{{ "' * 50_000, "{{/*" * 50_000, "{{ a }}" * 50_000, "{" * 10**6])
def test_any_text_costs_little(text: str) -> None:
    begun = time.process_time()
    problem(text)
    assert time.process_time() - begun < 2


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="{}-/*\"'`. $|()=:\n a1", max_size=40), st.text(alphabet="{}-/*\"'`. $|()=:\n a1", max_size=40))
def test_what_helm_would_call_is_found(helm: t.Callable[[str], bool], before: str, after: str) -> None:
    """Whatever stands around a call: if Helm's `tpl` makes it, it is refused."""
    text = f'{before}lookup "v1" "Secret" "" ""{after}'
    if "{{" in text and not problem(text):
        assert not helm(text)


@pytest.fixture(scope="session")
def helm(tmp_path_factory: pytest.TempPathFactory) -> t.Callable[[str], bool]:
    """Return whether a text, evaluated by Helm, calls `lookup`: its empty answer `map[]` replaces the call's text."""
    try:
        program = find_helm()
    except MissingToolError:
        pytest.skip("Helm is not installed")
    chart = tmp_path_factory.mktemp("chart")
    (chart / "templates").mkdir()
    (chart / "Chart.yaml").write_text("apiVersion: v2\nname: a\nversion: 1.0.0\n", encoding="utf-8")
    (chart / "templates/a.yaml").write_text("a: {{ tpl .Values.x . | toJson }}\n", encoding="utf-8")

    def calls(text: str) -> bool:
        values = chart / "values.yaml"
        values.write_text(yaml.safe_dump({"x": text}), encoding="utf-8")
        done = subprocess.run(
            [shutil.which(program) or program, "template", "a", str(chart)], capture_output=True, text=True, check=False
        )
        # What was called is not in the output any more, while text and strings are.
        return done.returncode == 0 and "lookup" not in done.stdout

    return calls


def test_helm_itself_calls_lookup(helm: t.Callable[[str], bool]) -> None:
    assert helm(REFUSED[0])
    assert not helm("lookup table")


def test_what_the_collection_ships_passes() -> None:
    root = Path(__file__).resolve().parents[5]
    files = [path for path in (root / "recipes").rglob("*.yaml") if path.name != "pipeline.yaml"]
    assert files
    for path in files:
        refuse_calls(layers([parse(path.read_text(encoding="utf-8"), name=str(path))]))
