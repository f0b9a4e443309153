# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Workloads of a kind that nobody told us of: their API is asked of the cluster, their end said by the user."""

from __future__ import annotations

import json

import pytest
from any_chart import write
from plays import until
from samples import IMAGE, Json
from space import Space

pytestmark = pytest.mark.cluster

# A plural that nobody would guess.
GROUP, PLURAL = "any-kind.test", "oxen"
API_VERSION, CRD = f"{GROUP}/v1", f"{PLURAL}.{GROUP}"
ANYTHING = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
DEFINITION: Json = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": CRD},
    "spec": {
        "group": GROUP,
        "scope": "Namespaced",
        "names": {"plural": PLURAL, "singular": "ox", "kind": "Ox"},
        "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": ANYTHING}}],
    },
}
DONE = 'jsonpath={.status.conditions[?(@.type=="Done")].status}=True'


def _ox(name: str) -> Json:
    return {"apiVersion": API_VERSION, "kind": "Ox", "metadata": {"name": name}}


def _say(space: Space, name: str, status: Json) -> None:
    """Write a status as its operator would."""
    space.kubectl("patch", CRD, name, "--type=merge", "-p", json.dumps({"status": status}))


@pytest.fixture
def oxen(space: Space) -> Space:
    """Return a namespace where objects of the kind can be made."""
    space.apply(DEFINITION)
    space.await_kind(CRD)
    return space


def test_a_chart_of_an_unknown_kind(oxen: Space) -> None:
    chart, values = write(oxen.directory / "chart", [_ox("plough")])
    shown = oxen.task("helm_step", 2, release="run", chart=str(chart), values=values)
    assert (
        "the condition for the end of Ox/plough is not known. Set it in the step: until: condition=TYPE or jsonpath="
        in shown
    )
    assert oxen.releases() == []

    play = oxen.start_task("helm_step", release="run", chart=str(chart), values=values, until=DONE, timeout=600)
    until(lambda: oxen.names(CRD) == ["plough"], "the ox is there")
    container = {"name": "main", "image": IMAGE, "command": ["echo", "one furrow"]}
    metadata = {"name": "plough-0", "labels": {"app.kubernetes.io/instance": "plough"}}
    spec = {"restartPolicy": "Never", "containers": [container]}
    oxen.apply({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
    until(lambda: oxen.get("pods")[0]["status"]["phase"] == "Succeeded", "its pod has ended")
    _say(oxen, "plough", {"conditions": [{"type": "Done", "status": "True"}]})
    shown = play.end(0)
    assert "| one furrow" in shown
    assert "Ox/plough: succeeded after" in shown
    assert oxen.record("run")["workload"] == {"api_version": API_VERSION, "kind": "Ox", "name": "plough"}
    assert oxen.names(CRD) == []


def test_somebody_elses_workload_of_an_unknown_kind(oxen: Space) -> None:
    oxen.apply(_ox("lame"))
    _say(oxen, "lame", {"phase": "Lame"})
    asked = {"api_version": API_VERSION, "kind": "Ox", "name": "lame", "until": DONE, "timeout": 600}
    shown = oxen.task("workload_wait", 2, fail_on=["jsonpath={.status.phase}=Lame"], **asked)
    assert "Ox/lame: fail_on: jsonpath={.status.phase}=Lame holds." in shown

    shown = oxen.task("workload_wait", 2, kind="Ox", name="lame")
    assert "kind 'Ox': the condition for its end is not known. Set api_version, until" in shown


def test_an_object_outside_of_namespaces(oxen: Space) -> None:
    asked = {"api_version": DEFINITION["apiVersion"], "kind": DEFINITION["kind"], "name": CRD}
    oxen.task("workload_wait", **asked, until="condition=Established", timeout=600)
    assert oxen.record(CRD)["outcome"] == "succeeded"
