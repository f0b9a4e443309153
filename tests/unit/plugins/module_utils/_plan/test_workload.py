"""Which of a chart's objects decides a step."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import AbsentError, InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Kube
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.table import KINDS
from ansible_collections.mlops.eks.plugins.module_utils._plan.workload import choose, find_kind, refer

Document = dict[str, t.Any]


def thing(where: str, **metadata: t.Any) -> Document:
    """An object from `group/version/Kind`."""
    api_version, _, kind = where.rpartition("/")
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": kind.lower(), **metadata}}


AROUND = ("v1/ConfigMap", "v1/Service", "rbac.authorization.k8s.io/v1/Role", "networking.k8s.io/v1/NetworkPolicy")
HOOK = {"helm.sh/hook": "test"}


@pytest.mark.parametrize(
    ("rendered", "chosen"),
    [
        (("batch/v1/Job",), "Job"),
        (("apps/v1/Deployment", "batch/v1/Job"), "Job"),
        (("ray.io/v1/RayCluster", "batch/v1/Job"), "Job"),
        (("ray.io/v1/RayCluster", "ray.io/v1/RayJob"), "RayJob"),
        (("ray.io/v1/RayCluster", "v1/Pod"), "RayCluster"),
        (("v1/Pod",), "Pod"),
        (("batch/v1/Job", "v1/Pod"), "Job"),
        (("apps/v1/StatefulSet", "example.com/v1/Thing"), "StatefulSet"),
        (("example.com/v1/Thing",), "Thing"),
        (("x.x-k8s.io/v1/Thing",), "Thing"),
    ],
)
def test_the_workload_is_chosen_by_kind(rendered: tuple[str, ...], chosen: str) -> None:
    manifest = [thing(one) for one in (*AROUND, *rendered)]
    for order in (manifest, manifest[::-1]):
        assert choose(order, chart="c", until=True)["kind"] == chosen


def test_a_hook_decides_nothing() -> None:
    manifest = [
        thing("batch/v1/Job", annotations=HOOK),
        thing("v1/Pod", annotations=HOOK),
        thing("ray.io/v1/RayService"),
    ]
    assert choose(manifest, chart="c", until=False)["kind"] == "RayService"


TWO_JOBS = (thing("batch/v1/Job", name="a"), thing("batch/v1/Job", name="b"))


@pytest.mark.parametrize(
    ("wanted", "until", "chosen"),
    [
        ("Deployment", False, "deployment"),
        ("Deployment/deployment", False, "deployment"),
        ("Job/a", False, "a"),
        ("Job/b", False, "b"),
        ("Thing", True, "thing"),
        # Nobody would take it for a workload, but it can be asked how it is.
        ("Service", True, "service"),
    ],
)
def test_the_step_may_choose_the_workload(wanted: str, until: bool, chosen: str) -> None:
    manifest = [*map(thing, (*AROUND, "apps/v1/Deployment", "example.com/v1/Thing")), *TWO_JOBS]
    assert choose(manifest, chart="c", until=until, wanted=wanted)["metadata"]["name"] == chosen


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ("Job", r"renders several workloads \(Job/a, Job/b\).* for example workload: Job/a\.$"),
        ("Job/c", r"chart c: renders no Job/c, which workload asks for\. Did you mean 'Job/[ab]'\?$"),
        ("job", r"renders no job, which workload asks for\. Did you mean 'Job'\?$"),
        ("TrainJob/x-y-z", r"renders no TrainJob/x-y-z, .*\. Known: Job, Job/a, Job/b\.$"),
        (
            "Service",
            r"the condition for the end of Service/service is not known\. Set it in the step: until: condition=",
        ),
    ],
)
def test_the_choice_of_the_step_must_exist_and_have_an_end(wanted: str, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        choose([*map(thing, AROUND), *TWO_JOBS], chart="c", until=False, wanted=wanted)


@pytest.mark.parametrize(
    ("rendered", "until", "message"),
    [
        (
            ("batch/v1/Job", "kubeflow.org/v1/PyTorchJob"),
            False,
            r"chart c: renders several workloads \(Job/job, PyTorchJob/pytorchjob\)\. One of them decides the step: "
            r"set workload to its Kind or Kind/name, for example workload: Job\.",
        ),
        (
            ("example.com/v1/Thing", "example.com/v1/Other"),
            True,
            r"renders several workloads \(Thing/thing, Other/other\)",
        ),
        (
            ("example.com/v1/Thing", "v1/Service"),
            False,
            r"the condition for the end of Thing/thing is not known\. Set it in the step: until: condition=.*fail_on",
        ),
        (
            ("v1/Service", "v1/ConfigMap"),
            True,
            r"no workload that can be followed \(found ConfigMap, Service\)\. A step's chart renders one of Deploy.*"
            r"TrainJob, .*or one object of a custom kind, together with until: condition=TYPE",
        ),
        ((), True, r"\(found nothing\)"),
    ],
)
def test_a_chart_without_a_workload_is_refused(rendered: tuple[str, ...], until: bool, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        choose([thing(one) for one in rendered], chart="c", until=until)


class Discovery(Kube):
    """An API server that knows one group."""

    def __init__(self) -> None:
        pass

    def get(self, path: str, params: t.Any = None) -> Document | None:
        rows = (("policies", "Policy", True), ("policies/status", "Policy", True), ("realms", "Realm", False))
        resources = [{"name": name, "kind": kind, "namespaced": inside} for name, kind, inside in rows]
        return {"/apis/example.com/v1": {"resources": resources}, "/api/v1": {"resources": []}}.get(path)


def test_the_plural_of_an_unknown_kind_is_asked_of_the_cluster() -> None:
    found = find_kind(Discovery(), "example.com/v1", "Policy", serves=True)
    assert (found.plural, found.serves) == ("policies", True)
    assert refer(found, "p", "team").path == "/apis/example.com/v1/namespaces/team/policies/p"


def test_an_unknown_kind_may_live_outside_of_namespaces() -> None:
    found = find_kind(Discovery(), "example.com/v1", "Realm")
    assert refer(found, "r", "team").path == "/apis/example.com/v1/realms/r"


def test_a_known_kind_needs_no_cluster() -> None:
    assert find_kind(t.cast(Kube, None), "batch/v1", "Job") is KINDS["batch/v1", "Job"]


@pytest.mark.parametrize(
    ("api_version", "kind", "message"),
    [
        (
            "example.com/v2",
            "Policy",
            r"the cluster serves no example\.com/v2\. Install its operator and CRDs\.",
        ),
        (
            "example.com/v1",
            "Polcy",
            r"Polcy \(example\.com/v1\): the cluster knows no such kind\. Did you mean 'Policy'\?",
        ),
        ("v1", "Pot", r"Pot \(v1\): the cluster knows no such kind\."),
    ],
)
def test_an_unknown_kind_is_an_error(api_version: str, kind: str, message: str) -> None:
    with pytest.raises(AbsentError, match=message):
        find_kind(Discovery(), api_version, kind)
