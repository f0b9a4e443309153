# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Checks, before anything is changed, which rights the identity in use lacks.

Source: Kubernetes "Authorization": a SelfSubjectRulesReview covers a whole namespace, but not webhooks such as that of
EKS access policies; a SelfSubjectAccessReview does. Every identity may create both.
"""

from __future__ import annotations

import typing as t
from collections.abc import Iterable

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import AbsentError, ForbiddenError
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document, Kube
from ansible_collections.mlops.eks.plugins.module_utils._kube.paths import Ref

_API = "authorization.k8s.io/v1"


class Right(t.NamedTuple):
    """One verb on one resource of an API group (empty: the core group)."""

    verb: str
    group: str
    resource: str


def rights_to_follow(ref: Ref) -> list[Right]:
    """Return the rights that following a workload needs."""
    group = ref.api_version.rpartition("/")[0]
    workload = [Right(verb, group, ref.plural) for verb in ("get", "list", "watch")]
    return [*workload, *(Right(verb, "", "pods") for verb in ("get", "list", "watch"))]


def require(kube: Kube, rights: Iterable[Right]) -> None:
    """Check that the identity in use has `rights` in the namespace.

    Raises:
        ForbiddenError: it lacks some; the message names them all.
    """
    try:
        granted = _review(kube, "SelfSubjectRulesReview", {"namespace": kube.namespace}).get("resourceRules") or []
        unlisted = [right for right in rights if not any(_grants(rule, right) for rule in granted)]
        missing = [right for right in unlisted if not _may(kube, right)]
    except (ForbiddenError, AbsentError):
        # The cluster does not answer reviews: a missing right fails later.
        return
    if missing:
        names = ", ".join(f"{right.verb} {'.'.join(filter(None, (right.resource, right.group)))}" for right in missing)
        raise ForbiddenError(
            f"cluster {kube.server}, namespace {kube.namespace}: the identity in use may not {names}. Nothing was "
            "changed. Ask the cluster's owner for these rights; docs/permissions.md lists all that are needed."
        )


def _may(kube: Kube, right: Right) -> bool:
    resource, _, sub = right.resource.partition("/")
    asked = {"namespace": kube.namespace, "verb": right.verb, "group": right.group, "resource": resource}
    spec = {"resourceAttributes": {**asked, "subresource": sub}}
    return bool(_review(kube, "SelfSubjectAccessReview", spec).get("allowed"))


def _review(kube: Kube, kind: str, spec: Document) -> Document:
    body = {"apiVersion": _API, "kind": kind, "spec": spec}
    answer = kube.request("POST", f"/apis/{_API}/{kind.lower()}s", body=body)
    return t.cast(Document, answer.get("status") or {})


def _grants(rule: Document, right: Right) -> bool:
    """Return whether a rule of the namespace gives a right to all objects of the resource."""
    wanted = (("verbs", right.verb), ("apiGroups", right.group), ("resources", right.resource))
    return not rule.get("resourceNames") and all({value, "*"} & set(rule.get(key) or []) for key, value in wanted)
