# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""A server is a step that ends ready and stays installed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from plays import ROOT, helm_binary, until
from samples import SERVER, Json, server
from space import Space

pytestmark = pytest.mark.cluster


def _pipeline(space: Space, recipe: Json) -> Path:
    step = {"name": "serve", "chart": SERVER, "recipe": "serve.yaml", "keep": True, "timeout": 600}
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
