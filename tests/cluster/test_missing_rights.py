# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Rights at a real API server: those of docs/examples/permissions.yaml are enough; what is missing is named at once."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest
import yaml
from plays import ROOT
from proxy import without_rights
from samples import JOB, SERVER, Json, gated, job, server
from space import Space

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

_API = "rbac.authorization.k8s.io"
_DOCUMENTED: list[Json] = list(
    yaml.safe_load_all((ROOT / "docs/examples/permissions.yaml").read_text(encoding="utf-8"))
)


def _documented() -> list[Json]:
    """Return the rules of the documented Role."""
    (role,) = [one for one in _DOCUMENTED if one["kind"] == "Role" and "namespace" not in one["metadata"]]
    return t.cast(list[Json], role["rules"])


def _kubeconfig(space: Space, rules: list[Json]) -> str:
    """Return a kubeconfig of an identity with these rights in the namespace, and no others."""
    who = {"kind": "ServiceAccount", "name": "limited", "namespace": space.namespace}
    to = {"roleRef": {"apiGroup": _API, "kind": "Role", "name": "limited"}, "subjects": [who]}
    meta = {"name": "limited", "namespace": space.namespace}
    space.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta})
    space.apply({"apiVersion": f"{_API}/v1", "kind": "Role", "metadata": meta, "rules": rules})
    space.apply({"apiVersion": f"{_API}/v1", "kind": "RoleBinding", "metadata": meta, **to})
    token = space.kubectl("create", "token", "limited").strip()
    return without_rights(space.kubeconfig, token, space.directory / "limited.kubeconfig")


def _without(verb: str, resource: str) -> list[Json]:
    """Return the documented rules but for one verb on one resource."""
    rules = [
        {**rule, "verbs": [one for one in rule["verbs"] if resource not in rule["resources"] or one != verb]}
        for rule in _documented()
    ]
    return [rule for rule in rules if rule["verbs"]]


def _pipeline(space: Space, answer: str, *commands: str) -> Path:
    small = {"requests": {"cpu": "10m", "memory": "32Mi"}}
    serve = server(answer)
    scaled = {"autoscaling": {"maxReplicas": 2}, "disruption_budget": {"max_unavailable": 1}}
    recipes: dict[str, Json] = {
        "prepare": job("echo a"),
        "train": {
            "image": "localhost/mlops-eks/digits:0.1.0",
            "pvc": [],
            "resources": {"nnodes": 2, "nproc_per_node": 1, **small},
            "launcher": {"resources": small},
            "train": {"command": ["echo trained"]},
        },
        "serve": {**serve, "server": {**serve["server"], **scaled}},
        "call": gated() if not commands else job(*commands),
    }
    charts = {"prepare": JOB, "train": "training/mpijob-distributed", "serve": SERVER, "call": JOB}
    steps = [{"name": name, "chart": chart, "recipe": f"{name}.yaml", "timeout": 600} for name, chart in charts.items()]
    return space.pipeline_of("run", steps, recipes)


def test_missing_rights_are_named_before_anything_is_installed(space: Space) -> None:
    kubeconfig = _kubeconfig(space, _without("watch", "pods"))
    shown = space.task("helm_step", 2, release="run", chart=JOB, values=job("echo a"), kubeconfig=kubeconfig)
    assert "the identity in use may not watch pods. Nothing was changed." in " ".join(shown.split())
    assert (space.releases(), space.names("leases"), space.ledger()) == ([], [], {})


def test_logs_that_may_not_be_read_are_said_once(space: Space) -> None:
    kubeconfig = _kubeconfig(space, _without("get", "pods/log"))
    shown = space.task("helm_step", release="run", chart=JOB, values=job("echo a"), kubeconfig=kubeconfig)
    assert shown.count("logs cannot be read: these credentials may not 'get' 'pods/log'") == 1
    (container,) = [one for pod in space.record("run")["pods"] for one in pod["containers"]]
    assert container["log_gap"] == "reading it was forbidden"


def test_the_documented_rights_are_enough(space: Space) -> None:
    """For a pipeline to its end, the same again, a server that is upgraded, a run that is stopped, and the status."""
    limited = {"kubeconfig": _kubeconfig(space, _documented())}
    shown = space.play("train", pipeline=_pipeline(space, "first", "echo called"), **limited)
    shown += space.play("train", pipeline=_pipeline(space, "first", "echo called"), **limited)
    assert shown.count("skipped: identical step succeeded") == 3

    play = space.start("train", pipeline=_pipeline(space, "second"), **limited)
    play.shows("tick 1")
    assert "running" in space.play("status", **limited)
    shown += space.play("stop", release="run", **limited)
    shown += play.end(rc=2)

    outcomes = {step: entry["outcome"] for step, entry in space.ledger().items()}
    assert outcomes == {"prepare": "succeeded", "train": "succeeded", "serve": "cancelled", "call": "cancelled"}
    assert space.releases() == []
    assert "forbidden" not in shown.lower()
    assert "may not" not in shown
