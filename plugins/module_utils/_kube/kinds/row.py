# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""What a row of the table of kinds consists of, and what rows of several families share."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.expressions import condition, is_true

State = t.Literal["pending", "running", "suspended", "succeeded", "ready", "failed"]
# The query of one list of pods: `labelSelector` or `fieldSelector`.
Selector = Mapping[str, str]


# How a selector's expressions are written in a query.
_OPERATORS = {
    "In": "{key} in ({values})",
    "NotIn": "{key} notin ({values})",
    "Exists": "{key}",
    "DoesNotExist": "!{key}",
}
# Seconds in which an operator has looked at a changed object again, also a busy one.
_AGAIN = 30.0
# What a Deployment says of pods that do not become ready in time.
NEVER_READY = "ProgressDeadlineExceeded"
# Reasons of a failure that somebody ordered: no container is to blame.
REQUESTED_FAILURES = frozenset({"DeadlineExceeded", "PreRunningDeadlineExceeded", "Stopped", "fail_on", "until"})


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What a workload's status says. `final` means nothing further will change on its own.

    A `reason` without `final` is a failure that the operator may still take back. The `message` of a good end is what
    that end does not prove; `settle` is how many seconds an end must stay before it counts.
    """

    state: State
    reason: str = ""
    message: str = ""
    settle_seconds: float = 0.0

    @property
    def final(self) -> bool:
        """Whether the step can end on this."""
        return self.state in ("succeeded", "ready", "failed")


PENDING = Verdict(state="pending")
RUNNING = Verdict(state="running")
SUSPENDED = Verdict(state="suspended")
SUCCEEDED = Verdict(state="succeeded")
READY = Verdict(state="ready")


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One row: how to find a workload's pods, which of them speaks for it, and what its status means.

    `selectors` are the queries that find its pods; the status may name more of them. `role` is a pod's short rank
    label such as `worker-3`; `leader` the role whose log is shown, without one every pod's is. `between` maps the
    kinds of what stands between the workload and its pods to a pattern of their names.
    `replaces` says whether the operator notices every failed pod: it starts a new one or fails the workload. `bound`
    means that the leader cannot go on with a new pod in the place of one it began with. `current` tells whether a pod
    is of the workload's newest revision.
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
        """Return whether this pod's log is the log of workload `entry`."""
        leader = self.leader(entry)
        return leader is None or self.role(pod) == leader


def status(entry: Document) -> Document:
    """Return the status, empty before anybody wrote one."""
    return entry.get("status") or {}


def name(entry: Document) -> str:
    """Return the object's name."""
    return str(entry["metadata"]["name"])


def label(pod: Document, key: str) -> str:
    """Return a label, empty without."""
    return str((pod["metadata"].get("labels") or {}).get(key, ""))


def labelled(labels: Mapping[str, str]) -> Selector:
    """Return the selector of pods that have all these labels."""
    return {"labelSelector": ",".join(f"{key}={value}" for key, value in sorted(labels.items()))}


def by_name(key: str) -> Callable[[Document], tuple[Selector, ...]]:
    """Return the selectors of a kind that puts its own name into label `key` of its pods."""
    return lambda entry: (labelled({key: name(entry)}),)


def by_match_labels(entry: Document) -> tuple[Selector, ...]:
    """Return the selector that the workload itself has."""
    wanted: Document = entry["spec"]["selector"]
    labels: Mapping[str, str] = wanted.get("matchLabels") or {}
    terms = [f"{key}={value}" for key, value in sorted(labels.items())]
    for term in wanted.get("matchExpressions") or ():
        values = ",".join(term.get("values") or ())
        terms.append(_OPERATORS[term["operator"]].format(key=term["key"], values=values))
    return ({"labelSelector": ",".join(terms)},)


def plain_role(_: Document) -> str:
    """Return the role of pods that are all alike."""
    return "pod"


def failed(entry: Document, kind: str = "Failed") -> Verdict:
    """Return the failure that condition `kind` tells of."""
    found = condition(entry, kind) or {}
    return Verdict(state="failed", reason=str(found.get("reason", "")), message=str(found.get("message", "")))


def is_stale(entry: Document) -> bool:
    """Return whether the status is that of an earlier generation: an old one looks ready."""
    return int(status(entry).get("observedGeneration") or 0) < int(entry["metadata"].get("generation") or 0)


def ready(entry: Document, template: Document) -> Verdict:
    """Return that a server of this pod template is ready, and what that means without a probe."""
    containers = (template.get("spec") or {}).get("containers") or ()
    if not containers or any(one.get("readinessProbe") or one.get("startupProbe") for one in containers):
        return READY
    least = entry["spec"].get("minReadySeconds")
    lasted = f"have run for {least} s" if least else "run"
    return Verdict(state="ready", message=f"no container has a readiness probe: they {lasted}, nobody asked them")


def failed_unless_changed(entry: Document, reason: str, message: str) -> Verdict:
    """Return a failure; of an object that was changed, one that may be its earlier generation's and must stay."""
    return Verdict(state="failed", reason=reason, message=message, settle_seconds=_AGAIN if is_changed(entry) else 0.0)


def is_changed(entry: Document) -> bool:
    """Return whether the object may ask for something else than when it was created: operators write to it, too."""
    return int(entry["metadata"].get("generation") or 1) > 1


def by_conditions(*, succeeded: str, running: Callable[[Document], bool]) -> Callable[[Document], Verdict]:
    """Return the verdict of jobs that say `succeeded`, Failed and Suspended by conditions of these names."""

    def judge(entry: Document) -> Verdict:
        if is_true(entry, succeeded):
            return SUCCEEDED
        if is_true(entry, "Failed"):
            return failed(entry)
        if is_true(entry, "Suspended"):
            return SUSPENDED
        return RUNNING if running(entry) else PENDING

    return judge
