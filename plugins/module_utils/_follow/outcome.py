# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""How a step ends: decided by the status of the workload, then by its pods, then by the time limits."""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import human
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.causes import Cause, sentence
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.detectors import not_ready
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.disruptions import disruption
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.root_cause import Consequences, deletion, root_cause
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.terminations import failures, was_killed
from ansible_collections.mlops.eks.plugins.module_utils._follow.changes import Change, LockLost
from ansible_collections.mlops.eks.plugins.module_utils._follow.deadlines import overdue
from ansible_collections.mlops.eks.plugins.module_utils._follow.drain import (
    pod_names,
    unfinished,
    wait_is_over,
    with_first_deletion,
)
from ansible_collections.mlops.eks.plugins.module_utils._follow.state import Ending, Rules, State
from ansible_collections.mlops.eks.plugins.module_utils._kube import pods as pod_view
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.row import NEVER_READY, REQUESTED_FAILURES

# Seconds after which a step can end although its workload was never seen.
_FIRST_SEEN_TIMEOUT = 30.0
# The reason of a Job, or an MPIJob's launcher, whose pods failed too often, for any cause.
_COUNTED = "BackoffLimitExceeded"
# The default of a Deployment's progressDeadlineSeconds.
_PROGRESS_DEADLINE = 600.0


def end(state: State, change: Change, rules: Rules) -> State:
    """Return the state with its ending, if `change` brought one."""
    ending = _with_role(_ending(state, change, rules), state, rules)
    return replace(state, ending=ending, phases={**state.phases, "finishing": change.at}) if ending else state


def _ending(state: State, change: Change, rules: Rules) -> Ending | None:
    subject = f"{rules.kind.kind}/{rules.name}"
    if isinstance(change, LockLost) and state.deleted_at is None:
        return taken_over(subject, change.holder)
    # The status of the workload takes precedence over a problem of one of its pods.
    at = change.at if state.deleted_at is None else state.deleted_at
    verdict, settled = state.verdict, at - state.verdict_since >= state.verdict.settle_seconds
    if verdict.final and settled and not _awaits_nodes(state, at, rules):
        if verdict.state in ("succeeded", "ready"):
            return Ending(outcome=verdict.state, note=verdict.message)
        return _failure(state, rules)
    if state.deleted_at is not None:
        return _deleted(subject, unfinished(state.live.values()), change.at - state.deleted_at)
    if state.ending:
        return state.ending
    known = state.workload is not None or change.at - state.followed_since >= _FIRST_SEEN_TIMEOUT
    cause = overdue(state, change.at, rules) if known else None
    return Ending(outcome="timed_out", cause=cause) if cause else None


def _awaits_nodes(state: State, at: float, rules: Rules) -> bool:
    """Return whether a Deployment missed its progress deadline only because it waited for nodes.

    Kubernetes counts the deadline while pods have no node; here it counts from when each pod got its node.
    """
    if state.verdict.reason != NEVER_READY or state.workload is None:
        return False
    deadline = float(state.workload["spec"].get("progressDeadlineSeconds") or _PROGRESS_DEADLINE)
    newest = (pod for pod in state.live.values() if rules.kind.is_current(state.workload, pod))
    return any((since := pod_view.scheduled(pod)) is None or at - since < deadline for pod in newest)


def _deleted(subject: str, left: list[Document], waited: float) -> Ending | None:
    """Return the ending of a deleted workload, once the wait for the pods that are `left` is over."""
    if not wait_is_over(left, waited):
        return None
    more = f", and {pod_names(left)} still there {human(waited)} later" if left else ""
    return Ending(outcome="lost", cause=Cause.of("Deleted", subject, f"it was deleted while it ran{more}"))


def _with_role(ending: Ending | None, state: State, rules: Rules) -> Ending | None:
    """Return the ending with the role of the pod that its cause names."""
    if ending is None or ending.cause is None:
        return ending
    kind, _, subject = ending.cause.object.partition("/")
    pod = state.pods.get(subject) if kind == "Pod" else None
    return replace(ending, cause=replace(ending.cause, role=rules.kind.role(pod))) if pod else ending


def taken_over(subject: str, holder: str) -> Ending:
    """Return the ending of a step that another controller has taken over."""
    return Ending(outcome="lost", cause=Cause.of("LockLost", subject, f"{holder} took over"))


def settle(state: State, pods: list[Document], rules: Rules, *, nodes: tuple[Document, ...] = ()) -> State:
    """Return the ended state with the final pods and their nodes; the outcome stays.

    The root cause is determined again: a container's final status may arrive after the workload's.
    """
    newest = {(name := pod_view.name(pod)): with_first_deletion(state.pods.get(name), pod) for pod in pods}
    state = replace(state, pods={**state.pods, **newest}, context=nodes)
    if state.ending and state.ending.outcome == "failed" and state.verdict.state == "failed":
        return replace(state, ending=_with_role(_failure(state, rules), state, rules))
    return state


def nodes_to_check(state: State) -> frozenset[str]:
    """Return the nodes whose loss may have caused the failure: those of pods that still ran or were killed."""
    if state.ending is None or state.ending.outcome != "failed" or state.verdict.state != "failed":
        return frozenset()
    pods = [
        pod
        for pod in state.pods.values()
        if pod_view.phase(pod) in ("Running", "Unknown") or disruption(pod) or any(map(was_killed, failures(pod)))
    ]
    return frozenset(node for node in map(pod_view.node, pods) if node)


def _failure(state: State, rules: Rules) -> Ending:
    verdict, subject = state.verdict, f"{rules.kind.kind}/{rules.name}"
    warnings = (*state.warnings.values(), *(one for one in state.context if one["kind"] == "Event"))
    nodes = {one["metadata"]["name"]: one for one in state.context if one["kind"] == "Node"}
    # The pod that caused the failure may have been replaced by one of the same name.
    pods = {**{f"{name} (before)": pod for name, pod in state.replaced_pods.items()}, **state.pods}
    consequences = Consequences(kind=rules.kind, workload=state.workload, pods=pods, warnings=warnings, nodes=nodes)
    cause = root_cause(consequences)
    if cause is None and verdict.reason.partition("/")[0] == _COUNTED:
        cause = deletion(consequences)
    unready = not_ready(state.live, state.warnings.values()) if verdict.reason == NEVER_READY else None
    if cause is None and unready:
        cause = replace(unready, message=f"{unready.message} {sentence(verdict.message)}")
    elif cause is None or verdict.reason in REQUESTED_FAILURES:
        message = verdict.message or verdict.reason or "its status is failed"
        cause = Cause.of(verdict.reason or "Failed", subject, message)
    return Ending(outcome="failed", cause=cause)
