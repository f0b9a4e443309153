"""What the identity in use must be allowed to do, asked before anything is touched."""

from __future__ import annotations

import typing as t

import pytest
from fakes.http import Answer, Server
from fakes.kube import FakeKube

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import ForbiddenError
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Kube
from ansible_collections.mlops.eks.plugins.module_utils._kube.paths import Ref
from ansible_collections.mlops.eks.plugins.module_utils._kube.rights import require, rights_to_follow

Serve = t.Callable[[Answer], tuple[Server, Kube]]
JOB = rights_to_follow(Ref("batch/v1", "Job", "jobs", "team", "x"))
READS = {"verbs": ["get", "list", "watch"], "apiGroups": [""], "resources": ["pods"]}
JOBS = {"verbs": ["*"], "apiGroups": ["batch"], "resources": ["*"]}


@pytest.mark.parametrize("rules", [[READS, JOBS], [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}]])
def test_rights_that_are_there(rules: list[dict[str, t.Any]]) -> None:
    kube = FakeKube()
    kube.rules = rules
    require(kube, JOB)


@pytest.mark.parametrize(
    ("rules", "named"),
    [
        ([JOBS], "may not get pods, list pods, watch pods. Nothing was changed."),
        ([READS], "may not get jobs.batch, list jobs.batch, watch jobs.batch."),
        ([JOBS, {**READS, "verbs": ["list"]}], "may not get pods, watch pods."),
        # A right to one object by its name does not do.
        ([JOBS, {**READS, "resourceNames": ["a"]}], "may not get pods, list pods, watch pods."),
        ([{**JOBS, "apiGroups": [""]}, READS], "may not get jobs.batch"),
    ],
)
def test_rights_that_are_missing_are_all_named(rules: list[dict[str, t.Any]], named: str) -> None:
    kube = FakeKube()
    kube.rules = rules
    with pytest.raises(ForbiddenError) as caught:
        require(kube, JOB)
    assert named in str(caught.value)
    assert "namespace team" in str(caught.value)


def test_what_only_a_webhook_knows_counts() -> None:
    kube = FakeKube()
    kube.rules, kube.webhook = [JOBS], {("get", "pods"), ("list", "pods"), ("watch", "pods")}
    require(kube, JOB)


@pytest.mark.parametrize("code", [403, 404])
def test_a_refused_review_of_permissions_is_tolerated(serve: Serve, code: int) -> None:
    server, kube = serve(lambda ex: ex.reply({}, code))
    require(kube, JOB)
    assert [request.path for request in server.requests] == ["/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"]
