# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The row type of the table of kinds, and helpers that several families share."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.expressions import condition, is_true

State = t.Literal["pending", "running", "suspended", "succeeded", "ready", "failed"]
# The query of one list of pods: `labelSelector` or `fieldSelector`.
Selector = Mapping[str, str]


# The query syntax of matchExpressions.
_OPERATORS = {
    "In": "{key} in ({values})",
    "NotIn": "{key} notin ({values})",
    "Exists": "{key}",
    "DoesNotExist": "!{key}",
}
# Seconds in which also a busy operator reconciles a changed object.
_AGAIN = 30.0
# A Deployment's reason when its pods do not become ready in time.
NEVER_READY = "ProgressDeadlineExceeded"
# Reasons of failures that the user requested; no container caused them.
REQUESTED_FAILURES = frozenset({"DeadlineExceeded", "PreRunningDeadlineExceeded", "Stopped", "fail_on", "until"})


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What a workload's status means.

    A `reason` without `final` is a failure that the operator may still revoke. The `message` of a success says what it
    does not prove. A final verdict counts after it has stayed for `settle_seconds`.
    """

    state: State
    reason: str = ""
    message: str = ""
    settle_seconds: float = 0.0

    @property
    def final(self) -> bool:
        """Whether the step can end with this verdict."""
        return self.state in ("succeeded", "ready", "failed")


PENDING = Verdict(state="pending")
RUNNING = Verdict(state="running")
SUSPENDED = Verdict(state="suspended")
SUCCEEDED = Verdict(state="succeeded")
READY = Verdict(state="ready")


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One row: how to find the pods of a workload, and what its status means.

    `judge`: returns the verdict on the object.
    `selectors`: the queries that find its pods; more may follow from its status.
    `role`: a pod's rank label such as `worker-3`. `leader`: the role whose log is printed; without one, all are.
    `intermediates`: by kind of the objects between workload and pods, a pattern of their names.
    `replaces_failed_pods`: whether the operator replaces every failed pod or fails the workload.
    `fixed_ranks`: whether a new pod cannot join a running leader.
    `is_current`: whether a pod belongs to the workload's newest revision.
    """

    api_version: str
    kind: str
    plural: str
    serves: bool
    judge: Callable[[Document], Verdict]
    selectors: Callable[[Document], tuple[Selector, ...]]
    role: Callable[[Document], str]
    leader: Callable[[Document], str | None] = lambda _: None
    intermediates: Callable[[Document], Mapping[str, str]] = lambda _: {}
    namespaced: bool = True
    replaces_failed_pods: bool = True
    fixed_ranks: bool = False
    is_current: Callable[[Document, Document], bool] = lambda *_: True

    def leads(self, entry: Document, pod: Document) -> bool:
        """Return whether this pod is the leader of workload `entry`; without a leader, every pod is."""
        leader = self.leader(entry)
        return leader is None or self.role(pod) == leader


def status(entry: Document) -> Document:
    """Return the status, empty when there is none."""
    return entry.get("status") or {}


def name(entry: Document) -> str:
    """Return the object's name."""
    return str(entry["metadata"]["name"])


def label(pod: Document, key: str) -> str:
    """Return a label, empty when there is none."""
    return str((pod["metadata"].get("labels") or {}).get(key, ""))


def labelled(labels: Mapping[str, str]) -> Selector:
    """Return the selector of pods that have all these labels."""
    return {"labelSelector": ",".join(f"{key}={value}" for key, value in sorted(labels.items()))}


def by_name(key: str) -> Callable[[Document], tuple[Selector, ...]]:
    """Return the selectors of a kind whose pods have its name in label `key`."""
    return lambda entry: (labelled({key: name(entry)}),)


def by_match_labels(entry: Document) -> tuple[Selector, ...]:
    """Return the selector in the workload's spec."""
    wanted: Document = entry["spec"]["selector"]
    labels: Mapping[str, str] = wanted.get("matchLabels") or {}
    terms = [f"{key}={value}" for key, value in sorted(labels.items())]
    for term in wanted.get("matchExpressions") or ():
        values = ",".join(term.get("values") or ())
        terms.append(_OPERATORS[term["operator"]].format(key=term["key"], values=values))
    return ({"labelSelector": ",".join(terms)},)


def plain_role(_: Document) -> str:
    """Return the role of pods that have no ranks."""
    return "pod"


def failed(entry: Document, kind: str = "Failed") -> Verdict:
    """Return the failure in condition `kind`."""
    found = condition(entry, kind) or {}
    return Verdict(state="failed", reason=str(found.get("reason", "")), message=str(found.get("message", "")))


def is_stale(entry: Document) -> bool:
    """Return whether the status is of an earlier generation, which may look ready."""
    return int(status(entry).get("observedGeneration") or 0) < int(entry["metadata"].get("generation") or 0)


def ready(entry: Document, template: Document) -> Verdict:
    """Return the ready verdict of a server with this pod template, with a note when it has no probe."""
    containers = (template.get("spec") or {}).get("containers") or ()
    if not containers or any(one.get("readinessProbe") or one.get("startupProbe") for one in containers):
        return READY
    least = entry["spec"].get("minReadySeconds")
    lasted = f"have run for {least} s" if least else "run"
    return Verdict(
        state="ready", message=f"no container has a readiness probe: they {lasted}, but nothing checks that they serve"
    )


def failed_unless_changed(entry: Document, reason: str, message: str) -> Verdict:
    """Return a failure; that of a changed object may be of its earlier generation, so it must stay to count."""
    return Verdict(state="failed", reason=reason, message=message, settle_seconds=_AGAIN if is_changed(entry) else 0.0)


def is_changed(entry: Document) -> bool:
    """Return whether the spec may have changed since the creation; operators change it too."""
    return int(entry["metadata"].get("generation") or 1) > 1


def by_conditions(*, succeeded: str, running: Callable[[Document], bool]) -> Callable[[Document], Verdict]:
    """Return the `judge` of jobs with the conditions `succeeded`, Failed and Suspended."""

    def judge(entry: Document) -> Verdict:
        if is_true(entry, succeeded):
            return SUCCEEDED
        if is_true(entry, "Failed"):
            return failed(entry)
        if is_true(entry, "Suspended"):
            return SUSPENDED
        return RUNNING if running(entry) else PENDING

    return judge
