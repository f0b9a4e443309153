# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""What is not ours is never changed: Helm releases of the names that a run needs, installed by somebody else."""

from __future__ import annotations

import pytest
from foreign import chart, helm
from samples import JOB, SERVER, Json, job, server
from space import Space

pytestmark = pytest.mark.cluster


def _stored(space: Space) -> list[Json]:
    """Return everything that Helm has stored, to be compared."""
    return sorted(space.get("secrets", "-l", "owner=helm"), key=lambda one: str(one["metadata"]["name"]))


def _offset(space: Space, release: str, status: str) -> None:
    """Let Helm take a release for one in this state, as one that died or failed leaves it."""
    space.kubectl("label", "--overwrite", "secret", f"sh.helm.release.v1.{release}.v1", f"status={status}")


@pytest.mark.parametrize("status", ["deployed", "failed", "pending-install"])
def test_a_release_of_somebody_else_is_refused_by_step_and_stop(space: Space, status: str) -> None:
    helm(space, "install", "run", str(chart(space.directory)))
    _offset(space, "run", status)
    before = _stored(space)
    pipeline = space.pipeline(train=job("echo never"))

    shown = space.play("train", pipeline=pipeline, rc=2)
    assert f"release run in namespace {space.namespace}: this collection did not install it" in shown
    assert "adopt=true" in shown
    shown = space.play("stop", release="run", rc=2)
    assert f"release run in namespace {space.namespace}: this collection did not install it" in shown

    assert _stored(space) == before
    assert "theirs" in space.names("configmaps")


def test_a_server_of_somebody_else_is_refused_and_can_be_adopted(space: Space) -> None:
    helm(space, "install", "run-serve", str(chart(space.directory)))
    before = _stored(space)
    step = {"name": "serve", "chart": SERVER, "recipe": "serve.yaml"}
    pipeline = space.pipeline_of("run", [step], {"serve": server("mine")})

    assert "adopt=true" in space.play("serve", pipeline=pipeline, rc=2)
    assert _stored(space) == before

    space.play("serve", pipeline=pipeline, adopt=True)
    assert space.ledger()["serve"]["outcome"] == "ready"
    stopped = space.play("stop", release="run")
    assert "stopped serve" in stopped
    assert space.releases() == []


def test_stop_ends_its_own_and_leaves_a_foreign_release_of_its_name_alone(space: Space) -> None:
    step = {"name": "serve", "chart": SERVER, "recipe": "serve.yaml"}
    space.play("serve", pipeline=space.pipeline_of("run", [step], {"serve": server("mine")}))
    helm(space, "install", "run", str(chart(space.directory)))

    shown = space.play("stop", release="run")

    assert "stopped serve" in shown
    assert f"release run in namespace {space.namespace}: this collection did not install it" in shown
    assert space.releases() == ["run"]
    assert "adopt=true" in space.play("stop", release="run", rc=2)
    assert "uninstalled what was left" in space.play("stop", release="run", adopt=True)
    assert space.releases() == []


def test_two_runs_whose_names_give_one_helm_release_are_told_apart(space: Space) -> None:
    """Run `a`, step `b-c` and run `a-b`, step `c` would share the Helm release `a-b-c`, under two locks."""
    kept = {"name": "b-c", "chart": SERVER, "recipe": "b-c.yaml"}
    space.play("serve", pipeline=space.pipeline_of("a", [kept], {"b-c": server("first")}))
    before = _stored(space)

    steps = [{"name": "data", "chart": JOB, "recipe": "data.yaml"}, {**kept, "name": "c", "recipe": "c.yaml"}]
    other = space.pipeline_of("a-b", steps, {"data": job("echo never"), "c": server("second")})
    shown = space.play("serve", pipeline=other, rc=2)

    assert "it belongs to step 'b-c' of run 'a', not to run 'a-b'" in shown
    # The clash is of the last step, and is found before the first.
    assert _stored(space) == before
    assert space.ledger("a-b") == {}
    assert "it belongs to step 'b-c' of run 'a'" in space.play("serve", pipeline=other, rc=2, adopt=True)
    assert _stored(space) == before
    assert "stopped b-c" in space.play("stop", release="a")


def test_a_ledger_that_was_lost_makes_the_release_foreign_until_it_is_adopted(space: Space) -> None:
    step = {"name": "serve", "chart": SERVER, "recipe": "serve.yaml"}
    pipeline = space.pipeline_of("run", [step], {"serve": server("mine")})
    space.play("serve", pipeline=pipeline)
    space.kubectl("delete", "configmap", "mlops-eks-run")
    before = _stored(space)

    assert "the ledger mlops-eks-run does not know it" in space.play("serve", pipeline=pipeline, rc=2)
    assert _stored(space) == before
    assert "re-attached" in space.play("serve", pipeline=pipeline, adopt=True)
    assert _stored(space) == before
    assert "changed=0" in space.play("serve", pipeline=pipeline)
