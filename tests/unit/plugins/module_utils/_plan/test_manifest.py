"""Rendered manifests: lists are unpacked, and a document that is no object is refused with its template's name."""

from __future__ import annotations

import random
import time
import typing as t
from pathlib import Path

import pytest
from fakes.incidents import damaged
from fakes.kube import FakeKube

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._core.files import to_yaml
from ansible_collections.mlops.eks.plugins.module_utils._helm.cli import Completed, Helm
from ansible_collections.mlops.eks.plugins.module_utils._plan.manifest import read_manifest
from ansible_collections.mlops.eks.plugins.module_utils._plan.plan import Draft, Plan, make_draft, make_plan
from ansible_collections.mlops.eks.plugins.module_utils._plan.task import Task
from ansible_collections.mlops.eks.plugins.module_utils._recipe.chart import find

GOLDEN = Path(__file__).resolve().parents[4] / "golden"
HEAD = "---\n# Source: c/templates/x.yaml\n"
JOB = "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: a\n"


def names(text: str) -> list[str]:
    return [f"{entry['kind']}/{entry['metadata']['name']}" for entry in read_manifest(text, chart="c")]


def listed(*items: t.Any, kind: str = "List") -> t.Any:
    return {"apiVersion": "v1", "kind": kind, "items": list(items)}


def test_objects_in_lists_are_objects() -> None:
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}}
    text = f"{HEAD}{JOB.replace('Job', 'CronJob')}{HEAD}{to_yaml(listed(job, listed(job, kind='JobList')))}"
    assert names(text) == ["CronJob/a", "Job/a", "Job/a"]
    assert names(f"{HEAD}{to_yaml(listed())}") == []
    assert names(f"{HEAD}{JOB.replace('Job', 'WaitingList')}") == ["WaitingList/a"]


def test_empty_documents_are_ignored() -> None:
    assert names("") == names(f"{HEAD}# nothing here\n") == names(f"{HEAD}null\n") == names(f"{HEAD}{{}}\n") == []
    assert names(f"{HEAD}{HEAD}{JOB}") == ["Job/a"]


def test_text_stays_text() -> None:
    """What the API server reads as text is text here too: nothing becomes a date."""
    (entry,) = read_manifest(f"{HEAD}{JOB}  annotations: {{day: 2024-01-01, at: 12:30:00, much: 1e3}}\n", chart="c")
    assert entry["metadata"]["annotations"] == {"day": "2024-01-01", "at": "12:30:00", "much": 1000}


def test_separators_in_a_script_are_its_own() -> None:
    (entry,) = read_manifest(f"{HEAD}{JOB}data: |\n  a\n  ---\n  b\n", chart="c")
    assert entry["data"] == "a\n---\nb\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("metadata: {name: a}\nkind: Job\n", "renders an object ('Job/a') without apiVersion: found none."),
        ("apiVersion: v1\nmetadata: {name: a}\n", "renders an object ('a') without kind: found none."),
        ("a: 1\n", "renders an object without apiVersion: found none."),
        (JOB.replace("name: a", "labels: {}"), "renders an object ('Job') without metadata.name: found none."),
        (JOB.replace(": a", ": 3"), "renders an object ('Job/3') without metadata.name: found 3."),
        (JOB.replace(": a", ":"), "renders an object ('Job') without metadata.name: found None."),
        (
            "apiVersion: batch/v1\nkind: Job\nmetadata: a\n",
            "renders an object ('Job') without metadata.name: found none.",
        ),
        (JOB.replace("kind: Job", "kind: [Job]"), "renders an object (\"['Job']/a\") without kind: found ['Job']."),
        (f"{JOB}  annotations: hook\n", "renders an object ('Job/a') whose metadata.annotations is not a mapping."),
        ("- a\n", "renders no object: its output:2: found a list where a YAML mapping (key: value) must stand."),
        ("a: [\n", "renders no object: its output:3:1: not valid YAML: did not find expected node content."),
        ("kind: List\nitems: [x]\n", "renders 'x' where an object is expected."),
        ("kind: List\nitems: [{kind: Job}]\n", "renders an object ('Job') without apiVersion: found none."),
    ],
)
def test_a_document_that_is_no_object_is_named_with_its_template(text: str, said: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        read_manifest(f"{HEAD}{JOB}{HEAD}{text}", chart="c")
    assert str(caught.value).startswith(f"chart c: c/templates/x.yaml {said}")


@pytest.fixture(scope="module")
def draft() -> tuple[Task, Draft]:
    values = {"image": "x:1", "process": {"command": ["true"]}}
    where = {"cluster": "local", "namespace": "team", "release": "r", "step": "r", "run_id": "1", "runs_dir": Path()}
    task = Task(chart="data-prep/data-process", values=values, **t.cast(t.Any, where))
    return task, make_draft(task, find(task.chart))


def planned(task: Task, draft: Draft, text: str) -> Plan:
    run = lambda argv, *, stdin=None: Completed(0, text, "")  # noqa: E731
    return make_plan(task, draft, Helm(binary="helm", kubeconfig="", context=None, namespace="n", run=run), FakeKube())


def test_a_workload_without_its_pods_is_refused(draft: tuple[Task, Draft]) -> None:
    with pytest.raises(InvalidInputError, match=r"chart data-prep/data-process: Deployment/a does not say which pods"):
        planned(*draft, f"{HEAD}apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: a}}\n")


def test_no_damaged_manifest_is_a_traceback(draft: tuple[Task, Draft]) -> None:
    dice = random.Random("manifests")
    texts = [file.read_text(encoding="utf-8") for file in sorted(GOLDEN.rglob("*.yaml"))]
    assert len(texts) > 3
    used, refused = 0, []
    for _ in range(500):
        text, begun = damaged(dice.choice(texts), dice), time.process_time()
        try:
            planned(*draft, text)
            used += 1
        except InvalidInputError as error:
            refused.append(str(error))
        assert time.process_time() - begun < 5, text
    assert min(used, len(refused)) > 20
    for said in refused:
        # One that lost an image is refused as what a recipe must give.
        assert said.startswith(("chart data-prep/data-process: ", "values: image: container "))
        assert "\n" not in said
