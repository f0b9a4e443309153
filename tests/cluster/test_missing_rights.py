# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""An identity that could install a step but not follow it is told so by a real API server, before anything happens."""

from __future__ import annotations

import pytest
from proxy import without_rights
from samples import JOB, Json, job
from space import Space

pytestmark = pytest.mark.cluster


def _role(space: Space, *rules: Json) -> str:
    """Return a kubeconfig of an identity with these rights in the namespace."""
    api = "rbac.authorization.k8s.io"
    who = {"kind": "ServiceAccount", "name": "limited", "namespace": space.namespace}
    ref = {"apiGroup": api, "kind": "Role", "name": "limited"}
    meta = {"name": "limited", "namespace": space.namespace}
    space.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta})
    space.apply({"apiVersion": f"{api}/v1", "kind": "Role", "metadata": meta, "rules": list(rules)})
    space.apply({"apiVersion": f"{api}/v1", "kind": "RoleBinding", "metadata": meta, "roleRef": ref, "subjects": [who]})
    token = space.kubectl("create", "token", "limited").strip()
    return without_rights(space.kubeconfig, token, space.directory / "limited.kubeconfig")


EVERYTHING = {"verbs": ["*"], "resources": ["*"], "apiGroups": ["batch", "coordination.k8s.io", "events.k8s.io"]}
CORE = {"verbs": ["*"], "apiGroups": [""], "resources": ["configmaps", "secrets", "events", "pods/log"]}


def test_missing_rights_are_named_before_anything_is_installed(space: Space) -> None:
    kubeconfig = _role(space, EVERYTHING, CORE, {"verbs": ["get", "list"], "apiGroups": [""], "resources": ["pods"]})
    shown = space.task("helm_step", 2, release="run", chart=JOB, values=job("echo a"), kubeconfig=kubeconfig)
    assert "the identity in use may not watch pods. Nothing was changed." in " ".join(shown.split())
    assert (space.releases(), space.names("leases"), space.ledger()) == ([], [], {})


def test_the_documented_rights_suffice(space: Space) -> None:
    kubeconfig = _role(space, EVERYTHING, CORE, {"verbs": ["*"], "apiGroups": [""], "resources": ["pods"]})
    space.task("helm_step", release="run", chart=JOB, values=job("echo a"), kubeconfig=kubeconfig)
    assert space.log("run")[0] == "a"
    assert space.record("run")["outcome"] == "succeeded"
