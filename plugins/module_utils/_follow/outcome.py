# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""How a step ends: what the workload says, what its pods say, and what the clock says, in this order."""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import human
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.causes import Cause, sentence
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.detectors import not_ready
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.root_cause import Consequences, deletion, root_cause
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.terminations import failures, killed
from ansible_collections.mlops.eks.plugins.module_utils._follow.changes import Change, LockLost
from ansible_collections.mlops.eks.plugins.module_utils._follow.deadlines import overdue
from ansible_collections.mlops.eks.plugins.module_utils._follow.drain import deleted_first, named, over, staying
from ansible_collections.mlops.eks.plugins.module_utils._follow.state import Ending, Rules, State
from ansible_collections.mlops.eks.plugins.module_utils._kube import pods as pod_view
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.row import NEVER_READY, ORDERED

# Seconds after which a step can end although its workload was never seen.
_FIRST_LOOK = 30.0
# What a Job says of pods that failed too often, and an MPIJob of its launcher, however they did.
_COUNTED = "BackoffLimitExceeded"
# Seconds that a Deployment gives its pods to become ready, unless it says otherwise.
_DEADLINE = 600.0


def end(state: State, change: Change, rules: Rules) -> State:
    """Return the state with its ending, if `change` brought one."""
    ending = _named(_ending(state, change, rules), state, rules)
    return replace(state, ending=ending, phases={**state.phases, "finishing": change.at}) if ending else state


def _ending(state: State, change: Change, rules: Rules) -> Ending | None:
    subject = f"{rules.kind.kind}/{rules.name}"
    if isinstance(change, LockLost) and state.deleted is None:
        return taken_over(subject, change.holder)
    # What the workload itself says counts more than a suspicion about one of its pods.
    at = change.at if state.deleted is None else state.deleted
    if state.verdict.final and at - state.judged >= state.verdict.settle and not _awaits_nodes(state, at, rules):
        if state.verdict.state in ("succeeded", "ready"):
            return Ending(outcome=state.verdict.state, note=state.verdict.message)
        return _failure(state, rules)
    if state.deleted is not None:
        return _deleted(subject, staying(state.live.values()), change.at - state.deleted)
    if state.ending:
        return state.ending
    known = state.workload is not None or change.at - state.began >= _FIRST_LOOK
    late = overdue(state, change.at, rules) if known else None
    return Ending(outcome="timed_out", cause=late) if late else None


def _awaits_nodes(state: State, at: float, rules: Rules) -> bool:
    """Return whether a Deployment missed its progress deadline only because it waited for nodes.

    The deadline runs while pods have no node, and does not begin again when they get one: it is theirs from then on.
    """
    if state.verdict.reason != NEVER_READY or state.workload is None:
        return False
    deadline = float(state.workload["spec"].get("progressDeadlineSeconds") or _DEADLINE)
    newest = (pod for pod in state.live.values() if rules.kind.current(state.workload, pod))
    return any((since := pod_view.scheduled(pod)) is None or at - since < deadline for pod in newest)


def _deleted(subject: str, left: list[Document], waited: float) -> Ending | None:
    """Return the ending of a workload that somebody deleted, once the pods that are `left` are not waited for."""
    if not over(left, waited):
        return None
    more = f", and {named(left)} still there {human(waited)} later" if left else ""
    return Ending(outcome="lost", cause=Cause.of("Deleted", subject, f"it was deleted while it ran{more}"))


def _named(ending: Ending | None, state: State, rules: Rules) -> Ending | None:
    """Return the ending with the role of the pod that its cause names."""
    if ending is None or ending.cause is None:
        return ending
    kind, _, subject = ending.cause.object.partition("/")
    pod = state.pods.get(subject) if kind == "Pod" else None
    return replace(ending, cause=replace(ending.cause, role=rules.kind.role(pod))) if pod else ending


def taken_over(subject: str, holder: str) -> Ending:
    """Return the ending of a step that another controller follows now."""
    return Ending(outcome="lost", cause=Cause.of("LockLost", subject, f"{holder} took over"))


def settle(state: State, pods: list[Document], rules: Rules, *, nodes: tuple[Document, ...] = ()) -> State:
    """Return the ended state with the pods and what is known of their nodes at the end; what decided the ending stays.

    The container to blame is looked for again: its last words may arrive after the workload's.
    """
    newest = {(name := pod_view.name(pod)): deleted_first(state.pods.get(name), pod) for pod in pods}
    state = replace(state, pods={**state.pods, **newest}, around=nodes)
    if state.ending and state.ending.outcome == "failed" and state.verdict.state == "failed":
        return replace(state, ending=_named(_failure(state, rules), state, rules))
    return state


def doubtful_nodes(state: State) -> frozenset[str]:
    """Return the nodes whose loss may be the cause of a failure: of pods that were still there, or were killed."""
    if state.ending is None or state.ending.outcome != "failed" or state.verdict.state != "failed":
        return frozenset()
    pods = [
        pod
        for pod in state.pods.values()
        if pod_view.phase(pod) in ("Running", "Unknown") or pod_view.disruption(pod) or any(map(killed, failures(pod)))
    ]
    return frozenset(node for node in map(pod_view.node, pods) if node)


def _failure(state: State, rules: Rules) -> Ending:
    own, subject = state.verdict, f"{rules.kind.kind}/{rules.name}"
    warnings = (*state.warnings.values(), *(one for one in state.around if one["kind"] == "Event"))
    nodes = {one["metadata"]["name"]: one for one in state.around if one["kind"] == "Node"}
    # A pod that others suffered from may have a successor of its name by now.
    pods = {**{f"{name} (before)": pod for name, pod in state.former.items()}, **state.pods}
    left = Consequences(kind=rules.kind, workload=state.workload, pods=pods, warnings=warnings, nodes=nodes)
    first = root_cause(left) or (deletion(left) if own.reason.partition("/")[0] == _COUNTED else None)
    unready = not_ready(state.live, state.warnings.values()) if own.reason == NEVER_READY else None
    if first is None and unready:
        return Ending(outcome="failed", cause=replace(unready, message=f"{unready.message} {sentence(own.message)}"))
    if first is None or own.reason in ORDERED:
        said = own.message or own.reason or "its status is failed"
        return Ending(outcome="failed", cause=Cause.of(own.reason or "Failed", subject, said))
    return Ending(outcome="failed", cause=first)
