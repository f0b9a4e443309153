# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ansible_collections.mlops.eks.plugins.module_utils._local import addon


def wanted(**changes: object) -> addon.Addon:
    fields: dict[str, object] = {"name": "x", "resources": [], "kustomization": {}, "patches": [], "deployments": []}
    return addon.Addon(**{"timeout": 1.0, **fields, **changes})  # type: ignore[arg-type]


def test_local_resources_become_relative_and_urls_stay(tmp_path: Path) -> None:
    url = "https://example.org/x.yaml"
    made = addon.kustomization(wanted(resources=[str(tmp_path / "a.yaml"), url]), tmp_path / "kustomize")
    assert made["resources"] == ["../a.yaml", url]


def test_patches_may_be_text_or_structure(tmp_path: Path) -> None:
    target = {"kind": "Deployment"}
    patches = [{"target": target, "patch": [{"op": "remove", "path": "/a"}]}, {"target": target, "patch": "text"}]
    made = addon.kustomization(wanted(patches=patches), tmp_path)
    assert json.loads(made["patches"][0]["patch"]) == [{"op": "remove", "path": "/a"}]
    assert made["patches"][1]["patch"] == "text"


def test_the_kustomization_says_the_rest(tmp_path: Path) -> None:
    made = addon.kustomization(wanted(kustomization={"namespace": "x", "resources": ["not this one"]}), tmp_path)
    assert made["namespace"] == "x"
    assert made["resources"] == []
    assert made["sortOptions"] == {"order": "legacy"}


DEFINITION = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
OBJECT = "apiVersion: v1\ndata:\n  x: |\n    kind: CustomResourceDefinition\nkind: ConfigMap\n"


@pytest.mark.parametrize(
    ("documents", "definitions", "rest"),
    [
        ([OBJECT, DEFINITION, OBJECT], DEFINITION, f"{OBJECT}\n---\n{OBJECT}"),
        ([OBJECT], "", OBJECT),
        ([DEFINITION], DEFINITION, ""),
    ],
)
def test_definitions_come_apart(documents: list[str], definitions: str, rest: str) -> None:
    assert addon.definitions_apart("\n---\n".join(documents)) == (definitions, rest)


@pytest.mark.parametrize(
    ("status", "established"),
    [
        ({}, False),
        ({"conditions": None}, False),
        ({"conditions": [{"type": "Established", "status": "False"}]}, False),
        ({"conditions": [{"type": "NamesAccepted", "status": "True"}]}, False),
        ({"conditions": [{"type": "Established", "status": "True"}]}, True),
    ],
)
def test_a_kind_is_established_when_the_api_server_says_so(status: dict[str, object], established: bool) -> None:
    assert addon.is_established({"status": status}) is established


@pytest.mark.parametrize(
    ("generation", "status", "available"),
    [
        (2, {"observedGeneration": 2, "replicas": 1, "updatedReplicas": 1, "availableReplicas": 1}, True),
        (2, {"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "availableReplicas": 1}, False),
        (2, {"observedGeneration": 2, "replicas": 2, "updatedReplicas": 1, "availableReplicas": 1}, False),
        (2, {"observedGeneration": 2, "replicas": 1, "updatedReplicas": 1}, False),
        (1, {}, False),
    ],
)
def test_available_means_the_newest_generation_alone(generation: int, status: dict[str, int], available: bool) -> None:
    deployment = {"metadata": {"generation": generation}, "spec": {"replicas": 1}, "status": status}
    assert addon.is_available(deployment) is available
    assert not addon.is_available({})


def pod(**status: object) -> dict[str, object]:
    return {"metadata": {"name": "p"}, "status": {"phase": "Pending", **status}}


@pytest.mark.parametrize(
    ("pods", "words"),
    [
        ([], "no pod yet"),
        ([pod(conditions=[{"type": "Ready", "status": "True"}])], "pods are ready"),
        ([pod(containerStatuses=[{"state": {"waiting": {"reason": "ErrImagePull"}}}])], "pod p: ErrImagePull"),
        ([pod(conditions=[{"type": "PodScheduled", "status": "False", "message": "no cpu"}])], "pod p: no cpu"),
        ([pod()], "pod p is Pending, not ready yet"),
    ],
)  # fmt: skip
def test_reason_names_pod_and_cause(pods: list[dict[str, object]], words: str) -> None:
    assert addon.reason(pods) == words
