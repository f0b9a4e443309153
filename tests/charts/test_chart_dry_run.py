"""A real API server, with the operators' definitions, takes everything that the charts render."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from chart_cases import CASE_IDS, CASES, GOLDEN, Document, Render, pod_templates
from kubernetes import config
from kubernetes.dynamic import DynamicClient
from kubernetes.dynamic.exceptions import BadRequestError

pytestmark = pytest.mark.cluster

# Groups of operators that only the cluster of `make test-operators` has.
OPERATORS = {"leaderworkerset.x-k8s.io", "ray.io", "trainer.kubeflow.org"}
# Groups that no cluster of the tests has yet: charts/table.py shows that their objects were not tried.
ABSENT = {"serving.kserve.io"}


def _cases() -> Iterator[Any]:
    """Yield the cases, marked by what their reviewed objects need."""
    for (chart, values), name in zip(CASES, CASE_IDS, strict=True):
        golden = GOLDEN / chart / f"{values.name.removesuffix('-values.yaml')}.yaml"
        groups = {one["apiVersion"].partition("/")[0] for one in yaml.safe_load_all(golden.read_text())}
        if not groups & ABSENT:
            yield pytest.param(chart, values, id=name, marks=[pytest.mark.operators] if groups & OPERATORS else [])


every_case = pytest.mark.parametrize(("chart", "values"), [*_cases()])


@pytest.fixture(scope="module")
def cluster() -> DynamicClient:
    """A client of the cluster that MLOPS_EKS_TEST_KUBECONFIG names."""
    kubeconfig = os.environ.get("MLOPS_EKS_TEST_KUBECONFIG")
    if not kubeconfig:
        pytest.fail("no cluster: name the kubeconfig of one, with the operators on it, in MLOPS_EKS_TEST_KUBECONFIG")
    return DynamicClient(config.new_client_from_config(config_file=kubeconfig))  # type: ignore[no-untyped-call]


def dry_run(cluster: DynamicClient, document: Document) -> dict[str, Any]:
    """Create a document without keeping it; unknown and repeated fields are errors."""
    kind = cluster.resources.get(api_version=document["apiVersion"], kind=document["kind"])
    strict = [("fieldValidation", "Strict")]
    return dict(kind.create(body=document, namespace="default", dry_run="All", query_params=strict).to_dict())


def with_image(template: dict[str, Any]) -> dict[str, Any]:
    """Name an image where the recipe leaves it blank, as before a build: no API server takes a pod without one."""
    for container in [*template["spec"]["containers"], *template["spec"].get("initContainers", [])]:
        container["image"] = container["image"] or "image:1"
    return template


@every_case
def test_the_objects_are_taken(
    chart: str, values: Path, render: Render, cluster: DynamicClient, proven: Callable[..., None]
) -> None:
    for document in render(chart, values):
        for template in pod_templates([document]):
            with_image(template)
        assert dry_run(cluster, document)["metadata"]["uid"], document["kind"]
    proven(chart, "dry-run", values.name.removesuffix("-values.yaml"))


@every_case
def test_the_pods_are_taken(chart: str, values: Path, render: Render, cluster: DynamicClient) -> None:
    """An operator's definition checks a template's fields but not its sense; a pod made from it is checked wholly."""
    for template in pod_templates(render(chart, values)):
        # Accounts and classes are the cluster's own matter: this one has not got them.
        own = ("serviceAccountName", "priorityClassName")
        spec = {key: value for key, value in template["spec"].items() if key not in own}
        if any("modelFormat" in container for container in spec["containers"]):
            continue  # A model, of which KServe makes a container.
        for container in [*spec["containers"], *spec.get("initContainers", [])]:
            # A template may leave it blank, as recipes do before a build; a pod may not.
            container["image"] = container["image"] or "image:1"
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {**template["metadata"], "name": "dry-run"}, "spec": spec}
        assert dry_run(cluster, pod)["metadata"]["uid"]


def test_a_field_that_does_not_exist_is_not_taken(render: Render, cluster: DynamicClient) -> None:
    """The check above can fail."""
    chart, values = next((name, path) for name, path in CASES if name == "data-prep/data-process")
    (job,) = [document for document in render(chart, values) if document["kind"] == "Job"]
    job["spec"]["template"]["spec"]["containers"][0]["volumMounts"] = []
    with pytest.raises(BadRequestError, match="volumMounts"):
        dry_run(cluster, job)
