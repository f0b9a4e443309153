# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""A server is a step that ends ready and stays installed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from client import Client
from plays import ROOT, helm_binary, until
from samples import SERVER, Json, server
from space import Space

pytestmark = pytest.mark.cluster


ABSENT = {"name": "localhost/mlops-eks/absent:1"}


def _pipeline(space: Space, recipe: Json, **more: Json | int) -> Path:
    step = {"name": "serve", "chart": SERVER, "recipe": "serve.yaml", "keep": True, "timeout": 600, **more}
    return space.pipeline_of("run", [step], {"serve": recipe})


def _answers(space: Space, words: str) -> None:
    """Ask the server by its Service, as a later step would, until it answers so.

    That its pods are ready comes to where Services are made of pods a moment later than to us.
    """
    ask = 'exec 3<>/dev/tcp/run-serve/8080; printf "GET / HTTP/1.0\\r\\n\\r\\n" >&3; cat <&3'
    command = ("exec", "deployment/run-serve", "--", "timeout", "10", "bash", "-c", ask)
    until(lambda: space.kubectl(*command, check=False).splitlines()[-1:] == [words], f"the server answers {words!r}")


def _statuses(space: Space) -> dict[int, str]:
    """Return Helm's status of each revision."""
    found = [secret["metadata"]["labels"] for secret in space.get("secrets", "-l", "owner=helm,name=run-serve")]
    return {int(labels["version"]): labels["status"] for labels in sorted(found, key=lambda one: int(one["version"]))}


def test_a_server_ends_ready_stays_and_is_upgraded_in_place(space: Space) -> None:
    pipeline = _pipeline(space, server("first"))
    shown = space.play("serve", pipeline=pipeline)
    assert "ready after" in shown
    assert space.record("serve")["outcome"] == "ready"
    assert space.releases() == ["run-serve"]
    _answers(space, "first")
    (before,) = space.get("pods")

    again = space.play("serve", pipeline=pipeline)
    assert "changed=0" in again
    assert _statuses(space) == {1: "deployed"}
    assert space.get("pods")[0]["metadata"]["uid"] == before["metadata"]["uid"]

    changed = space.play("serve", pipeline=_pipeline(space, server("second")))
    assert "changed=1" in changed
    assert _statuses(space) == {1: "superseded", 2: "deployed"}
    _answers(space, "second")

    stopped = space.play("stop", release="run")
    assert "stopped serve" in stopped
    assert space.releases() == []
    assert space.ledger()["serve"]["outcome"] == "cancelled"
    again = space.play("stop", release="run")
    assert "nothing is running" in again
    assert "changed=0" in again


def test_an_upgrade_that_was_interrupted_is_rolled_back_and_done_again(space: Space) -> None:
    space.play("serve", pipeline=_pipeline(space, server("first")))
    broken = server("never", image={"name": "localhost/mlops-eks/absent:1"})
    pipeline = _pipeline(space, broken)
    command = [helm_binary(), "upgrade", "run-serve", str(ROOT / "charts" / SERVER), "--wait", "--timeout", "5m"]
    command += ["-f", str(pipeline / "serve.yaml"), "--kubeconfig", space.kubeconfig, "-n", space.namespace]
    helm = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until(lambda: _statuses(space).get(2) == "pending-upgrade", "helm upgrades")
    helm.kill()
    helm.wait()

    shown = space.play("serve", pipeline=_pipeline(space, server("third")))

    assert "pending-upgrade; rolling back to revision 1" in shown
    _answers(space, "third")
    assert space.ledger()["serve"]["outcome"] == "ready"
    assert list(_statuses(space).values())[-1] == "deployed"


@pytest.mark.slow
def test_a_client_loses_nothing_by_an_upgrade_that_fails_and_one_that_succeeds(space: Space) -> None:
    first = server("first", replicas=2, drain=8)
    space.play("serve", pipeline=_pipeline(space, first))
    pods = {pod["metadata"]["uid"] for pod in space.get("pods")}
    client = Client(space)

    broken = _pipeline(space, {**first, "image": ABSENT})
    shown = space.play("serve", pipeline=broken, rc=2)

    assert "(rolled back to revision 1, which is ready after" in shown
    assert space.record("serve")["cause"]["category"] == "image_pull"
    assert _statuses(space)[3] == "deployed"
    assert {pod["metadata"]["uid"] for pod in space.get("pods") if pod["metadata"]["name"] != "client"} == pods
    entry = space.ledger()["serve"]
    assert (entry["outcome"], entry["serving"]["revision"]) == ("failed", 3)
    assert any("rolled back to revision 1" in line for line in space.record("serve")["warnings"])

    second = server("second", replicas=2, drain=8)
    space.play("serve", pipeline=_pipeline(space, second))
    _answers(space, "second")
    until(lambda: len(space.get("pods")) == 3, "the old pods are gone")

    sent, lost = client.stop()
    assert (lost, sent > 200) == ([], True)
    assert space.ledger()["serve"]["outcome"] == "ready"


@pytest.mark.slow
def test_an_upgrade_that_does_not_become_ready_in_time_is_rolled_back_with_the_way_out(space: Space) -> None:
    """No surge pod fits: it waits beside what serves until `ready_timeout`, and is taken back."""
    space.play("serve", pipeline=_pipeline(space, server("first")))
    (before,) = space.get("pods")
    greedy = server("second", resources={"requests": {"cpu": "900"}})

    shown = space.play("serve", pipeline=_pipeline(space, greedy, ready_timeout=20), rc=2, unschedulable_grace=600)

    assert "rolled back to revision 1, which is ready after" in shown
    assert "server.strategy: Recreate" in shown
    assert [pod["metadata"]["uid"] for pod in space.get("pods")][:1] == [before["metadata"]["uid"]]
    _answers(space, "first")


@pytest.mark.slow
def test_an_upgrade_whose_controller_was_killed_is_rolled_back_by_the_next(space: Space) -> None:
    space.play("serve", pipeline=_pipeline(space, server("first")))
    pipeline = _pipeline(space, server("never", image=ABSENT))
    play = space.start("serve", pipeline=pipeline)
    until(lambda: _statuses(space).get(2) == "deployed", "helm has upgraded it")
    play.kill()

    shown = space.play("serve", pipeline=pipeline, rc=2)

    assert "rolled back to revision 1" in shown
    _answers(space, "first")
    again = space.play("serve", pipeline=_pipeline(space, server("first")))
    assert "re-attached" in again
    assert space.ledger()["serve"]["outcome"] == "ready"


@pytest.mark.slow
def test_a_server_that_is_found_broken_is_not_uninstalled(space: Space) -> None:
    pipeline = _pipeline(space, server("first"))
    space.play("serve", pipeline=pipeline)
    # Somebody's mistake, beside us: its pods cannot start again, what it consists of is still there.
    image = '{"spec":{"template":{"spec":{"containers":[{"name":"generic-server","image":"localhost/absent:1"}]}}}}'
    space.kubectl("patch", "deployment", "run-serve", "-p", image)

    shown = space.play("serve", pipeline=pipeline, rc=2)

    assert "revision 1 is left as it is" in shown
    assert space.releases() == ["run-serve"]
    _answers(space, "first")


def test_a_refused_upgrade_is_rolled_back(space: Space) -> None:
    """Helm fails half-way: the ConfigMap is changed by then, the Deployment is refused by the API server."""
    space.play("serve", pipeline=_pipeline(space, server("first")))
    wrong = server("second", affinity={"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{}]}})

    shown = space.play("serve", pipeline=_pipeline(space, wrong), rc=2)

    assert "The server was rolled back to revision 1, which is ready after" in shown
    assert "first" in space.kubectl("get", "configmap", "launcher-run-serve", "-o", "yaml")
    _answers(space, "first")
