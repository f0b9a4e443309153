# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Apply an operator's own manifests, patched by kustomize, and wait until its deployments are available.

The manifests are applied whenever they differ from the objects in the cluster.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import tempfile
import time
import typing as t
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import ClusterError
from ansible_collections.mlops.eks.plugins.module_utils._local.commands import run
from ansible_collections.mlops.eks.plugins.module_utils._local.kubectl import Kubectl, SilentWebhookError

_T = t.TypeVar("_T")
Say = Callable[[str], None]
Document = dict[str, t.Any]
DEFINITION = re.compile(r"^kind: CustomResourceDefinition$", re.MULTILINE)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Addon:
    """What to apply: `resources` are files, kustomize directories or URLs; `deployments` are `{namespace, name}`.

    `kustomization` holds the other fields of the kustomization, besides resources and patches.
    """

    name: str
    resources: Sequence[str]
    kustomization: Mapping[str, t.Any]
    patches: Sequence[Mapping[str, t.Any]]
    deployments: Sequence[Mapping[str, str]]
    timeout: float


def ensure(addon: Addon, kubectl: Kubectl, *, check: bool, say: Say) -> Document:
    """Apply differences, wait until the deployments are available, return the task's result."""
    with tempfile.TemporaryDirectory(prefix="mlops-eks-addon-") as scratch:
        manifest = Path(scratch) / "manifest.yaml"
        manifest.write_text(render(addon, kubectl.binary, Path(scratch)), encoding="utf-8")
        difference = _despite_webhooks(addon, lambda: kubectl.difference(manifest), say)
        if difference and not check:
            say(f"addon {addon.name} | applying")
            _apply(kubectl, manifest, addon, say)
        if not check:
            _wait_for_deployments(addon, kubectl, say)
    return {"changed": bool(difference), "diff": {"prepared": difference}}


def kustomization(addon: Addon, directory: Path) -> Document:
    """Return the kustomization that patches the resources; kustomize wants local paths relative to `directory`."""
    resources = [
        resource if "://" in resource else os.path.relpath(resource, directory.resolve())
        for resource in addon.resources
    ]
    patches = [
        {**patch, "patch": patch["patch"] if isinstance(patch["patch"], str) else json.dumps(patch["patch"])}
        for patch in addon.patches
    ]
    return {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        # Namespaces first, webhooks last.
        "sortOptions": {"order": "legacy"},
        **addon.kustomization,
        "resources": resources,
        "patches": patches,
    }


def render(addon: Addon, kubectl: str, scratch: Path) -> str:
    """Return the patched manifests as YAML text."""
    directory = scratch / "kustomize"
    directory.mkdir()
    text = json.dumps(kustomization(addon, directory), indent=1)
    (directory / "kustomization.yaml").write_text(text, encoding="utf-8")
    return run([kubectl, "kustomize", "--load-restrictor=LoadRestrictionsNone", directory])


def definitions_apart(manifest: str) -> tuple[str, str]:
    """Split kustomize's output into custom resource definitions and the rest, which may use them."""
    apart: tuple[list[str], list[str]] = ([], [])
    for document in manifest.split("\n---\n"):
        apart[DEFINITION.search(document) is None].append(document)
    return "\n---\n".join(apart[0]), "\n---\n".join(apart[1])


def _apply(kubectl: Kubectl, manifest: Path, addon: Addon, say: Say) -> None:
    definitions, rest = definitions_apart(manifest.read_text(encoding="utf-8"))
    if definitions:
        _despite_webhooks(addon, lambda: kubectl.apply(definitions), say)
        _wait_for_definitions(addon, kubectl, definitions, say)
    if rest:
        _despite_webhooks(addon, lambda: kubectl.apply(rest), say)


def _despite_webhooks(addon: Addon, act: Callable[[], _T], say: Say) -> _T:
    """Return the result of `act`. Retry while a webhook does not answer: its operator may be restarting.

    Raises:
        ClusterError: the cluster refuses it, or the webhook did not answer within the addon's time-out.
    """
    done: list[_T] = []

    def missing() -> str:
        try:
            done[:] = [act()]
        except SilentWebhookError as error:
            return str(error)
        except ClusterError as error:
            raise ClusterError(f"Cannot apply addon {addon.name}: {error}", **error.details) from None
        return ""

    _await(addon, missing, lambda: "look at the pods of its operator", say)
    return done[0]


def _wait_for_definitions(addon: Addon, kubectl: Kubectl, definitions: str, say: Say) -> None:
    # `kubectl wait` gives up on a definition that has no conditions yet.
    def missing() -> str:
        found = kubectl.get("--filename", "-", stdin=definitions)
        unknown = [entry["metadata"]["name"] for entry in found.get("items", [found]) if not is_established(entry)]
        return f"kind {unknown[0]} is not established" if unknown else ""

    _await(addon, missing, lambda: "the API server did not take it up", say)


def _wait_for_deployments(addon: Addon, kubectl: Kubectl, say: Say) -> None:
    waiting = list(addon.deployments)

    def missing() -> str:
        waiting[:] = [entry for entry in waiting if not is_available(_deployment(kubectl, entry))]
        return f"deployment {waiting[0]['namespace']}/{waiting[0]['name']} is not available" if waiting else ""

    _await(addon, missing, lambda: _why(kubectl, waiting[0]["namespace"]), say)


def _await(addon: Addon, missing: Callable[[], str], why: Callable[[], str], say: Say) -> None:
    """Wait until `missing` returns an empty text; `why` returns the reason for the message.

    Raises:
        ClusterError: the addon's time-out expired.
    """
    start = beat = time.monotonic()
    while what := missing():
        elapsed = time.monotonic() - start
        if elapsed > addon.timeout:
            raise ClusterError(f"Addon {addon.name}: {what} after {addon.timeout:.0f} s: {why()}")
        if time.monotonic() - beat > 5:
            beat = time.monotonic()
            say(f"addon {addon.name} | {what}, {elapsed:.0f} s: {why()}")
        time.sleep(0.25)


def _deployment(kubectl: Kubectl, entry: Mapping[str, str]) -> Document:
    return kubectl.get("deployment", entry["name"], f"--namespace={entry['namespace']}", "--ignore-not-found")


def is_established(definition: Document) -> bool:
    """Return whether the API server serves the kind of a custom resource definition."""
    conditions = definition.get("status", {}).get("conditions") or []
    return any(entry["type"] == "Established" and entry["status"] == "True" for entry in conditions)


def is_available(deployment: Document) -> bool:
    """Return whether a Deployment's newest generation runs with all its replicas."""
    status, wanted = deployment.get("status", {}), deployment.get("spec", {}).get("replicas", 1)
    is_observed = status.get("observedGeneration") == deployment.get("metadata", {}).get("generation", 0)
    counts = [status.get(key, 0) for key in ("updatedReplicas", "availableReplicas", "replicas")]
    return is_observed and all(count == wanted for count in counts)


def _why(kubectl: Kubectl, namespace: str) -> str:
    return reason(kubectl.get("pods", f"--namespace={namespace}")["items"])


def reason(pods: Sequence[Document]) -> str:
    """Return in a few words why the first pod that is not ready is not ready."""
    for pod in pods:
        conditions = {entry["type"]: entry for entry in pod["status"].get("conditions", [])}
        if conditions.get("Ready", {}).get("status") == "True":
            continue
        for container in pod["status"].get("containerStatuses", []):
            waiting = container["state"].get("waiting")
            if waiting:
                return f"pod {pod['metadata']['name']}: {waiting.get('reason')} {waiting.get('message', '')}".strip()
        unscheduled = conditions.get("PodScheduled", {})
        if unscheduled.get("status") == "False":
            return f"pod {pod['metadata']['name']}: {unscheduled.get('message', 'not scheduled')}"
        return f"pod {pod['metadata']['name']} is {pod['status'].get('phase')}, not ready yet"
    return "no pod yet" if not pods else "pods are ready"
