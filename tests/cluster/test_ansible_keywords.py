# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Ansible's keywords around a step on a real cluster."""

from __future__ import annotations

import base64
import json
import shlex
import typing as t
from pathlib import Path

import pytest
import yaml
from samples import JOB, job
from space import Space

pytestmark = pytest.mark.cluster


def _login_by_profile(space: Space, profile: str) -> Path:
    """Return a kubeconfig whose exec plugin, as that of EKS, logs in only with the right AWS_PROFILE."""
    found = yaml.safe_load(Path(space.kubeconfig).read_text(encoding="utf-8"))
    (user,) = found["users"]
    pair = {
        field: base64.b64decode(user["user"][f"{key}-data"]).decode()
        for field, key in (("clientCertificateData", "client-certificate"), ("clientKeyData", "client-key"))
    }
    version = "client.authentication.k8s.io/v1"
    said = space.directory / "credential.json"
    said.write_text(json.dumps({"apiVersion": version, "kind": "ExecCredential", "status": pair}), encoding="utf-8")
    script = (
        f'if [ "$AWS_PROFILE" = {profile} ]; then cat {shlex.quote(str(said))}; '
        'else echo "no profile, but \\"$AWS_PROFILE\\"" >&2; exit 1; fi'
    )
    plugin = {"apiVersion": version, "command": "sh", "args": ["-c", script], "interactiveMode": "Never"}
    user["user"] = {"exec": plugin}
    path = space.directory / "profile.kubeconfig"
    path.write_text(yaml.safe_dump(found), encoding="utf-8")
    return path


def test_a_step_logs_in_by_the_environment_of_its_play(space: Space) -> None:
    recipe = space.directory / "recipe.yaml"
    recipe.write_text(yaml.safe_dump(job("echo done")), encoding="utf-8")
    where = {"kubeconfig": str(_login_by_profile(space, "trainers")), "namespace": space.namespace}
    step = {**where, "release": "run", "chart": JOB, "recipe": [str(recipe)], "runs_dir": str(space.runs)}
    play: list[dict[str, t.Any]] = [
        {
            "hosts": "clusters",
            "gather_facts": False,
            "tasks": [{"name": "Step", "mlops.eks.helm_step": step}],
            "environment": {"AWS_PROFILE": "{{ profile }}"},
        }
    ]
    path = space.directory / "play.yml"
    path.write_text(yaml.safe_dump(play), encoding="utf-8")
    refused = space.play(path, rc=2, profile="other")
    assert 'no profile, but "other"' in " ".join(refused.split())
    # Ours by HTTP, Helm's by its own client.
    space.play(path, profile="trainers")
    assert space.record("run")["outcome"] == "succeeded"
