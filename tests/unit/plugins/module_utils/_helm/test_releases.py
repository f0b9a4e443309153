"""Helm's releases read from its Secrets."""

from __future__ import annotations

from fakes.kube import FakeKube

from ansible_collections.mlops.eks.plugins.module_utils._helm.releases import revisions

SECRETS = "/api/v1/namespaces/team/secrets"


def store(kube: FakeKube, revision: int) -> None:
    name = f"sh.helm.release.v1.digits.v{revision}"
    labels = {"owner": "helm", "name": "digits", "status": "deployed", "version": str(revision)}
    kube.put(f"{SECRETS}/{name}", {"metadata": {"name": name, "labels": labels}})


def test_a_release_that_is_never_upgraded_is_looked_for_by_name() -> None:
    kube = FakeKube()
    assert revisions(kube, "digits", upgraded=False) == []
    assert kube.calls == [f"GET {SECRETS}/sh.helm.release.v1.digits.v1"]


def test_what_is_found_by_name_is_then_listed_whole() -> None:
    kube = FakeKube()
    store(kube, 1)
    store(kube, 2)
    assert [one.revision for one in revisions(kube, "digits", upgraded=False)] == [1, 2]


def test_an_upgraded_release_may_have_lost_its_first_revision() -> None:
    kube = FakeKube()
    store(kube, 11)
    assert [one.revision for one in revisions(kube, "digits")] == [11]
