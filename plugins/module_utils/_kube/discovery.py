# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""What the API server calls a kind in its paths: asked of it, not guessed."""

from __future__ import annotations

import typing as t

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import AbsentError
from ansible_collections.mlops.eks.plugins.module_utils._core.nearest import did_you_mean
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Kube
from ansible_collections.mlops.eks.plugins.module_utils._kube.paths import group


class Resource(t.NamedTuple):
    """A kind as the API server serves it."""

    plural: str
    namespaced: bool


def discover(kube: Kube, api_version: str, kind: str) -> Resource:
    """Return the resource of a kind.

    Raises:
        AbsentError: the cluster serves no such API version, or no such kind in it.
    """
    answer = kube.get(group(api_version))
    if answer is None:
        raise AbsentError(
            f"{kind} ({api_version}): the cluster serves no {api_version}. Install its operator and CRDs."
        )
    # Subresources, such as jobs/status, are listed beside their objects.
    found = {entry["kind"]: entry for entry in answer.get("resources") or () if "/" not in entry["name"]}
    if kind not in found:
        raise AbsentError(f"{kind} ({api_version}): the cluster knows no such kind.{did_you_mean(kind, found)}")
    return Resource(plural=str(found[kind]["name"]), namespaced=bool(found[kind].get("namespaced")))
