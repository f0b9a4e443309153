# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Discovery: the version of the API server, the API versions it serves, and the resource names of kinds."""

from __future__ import annotations

import typing as t
from collections.abc import Iterator

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import AbsentError, EksError, UnreachableError
from ansible_collections.mlops.eks.plugins.module_utils._core.nearest import did_you_mean
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import JSON, Document, Kube
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


# Kubernetes 1.26 and newer return all groups in one answer; older versions only return their names.
_AGGREGATED = ",".join(
    [*(f"{JSON};g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList" for version in ("v2", "v2beta1")), JSON]
)


def server_version(kube: Kube) -> str:
    """Return the version of the API server, such as `v1.35.3`; `""` where it may not be read."""
    return str((_optional(kube, "/version") or {}).get("gitVersion") or "")


def api_versions(kube: Kube) -> tuple[str, ...]:
    """Return the API versions the cluster serves, and the kinds in each as `apps/v1/Deployment`, as Helm lists them."""
    found: set[str] = set()
    for root in ("/api", "/apis"):
        answer = _optional(kube, root, accept=_AGGREGATED) or {}
        for entry in answer.get("items") or ():
            found |= set(_of_group(entry))
        for entry in answer.get("groups") or ():
            found |= {str(version["groupVersion"]) for version in entry.get("versions") or ()}
    return tuple(sorted(found))


def _of_group(entry: Document) -> Iterator[str]:
    name = (entry.get("metadata") or {}).get("name") or ""
    for version in entry.get("versions") or ():
        full = f"{name}/{version['version']}" if name else str(version["version"])
        yield full
        for resource in version.get("resources") or ():
            for one in (resource, *(resource.get("subresources") or ())):
                if kind := (one.get("responseKind") or {}).get("kind"):
                    yield f"{full}/{kind}"


def _optional(kube: Kube, path: str, **how: t.Any) -> Document | None:
    """Return an answer, `None` when the request is refused."""
    try:
        return kube.request("GET", path, **how)
    except UnreachableError:
        raise
    except EksError:
        return None
