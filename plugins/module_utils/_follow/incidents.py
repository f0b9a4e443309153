# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""What goes wrong while the workload goes on: said when it happens, since a restart soon hides it."""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import from_iso
from ansible_collections.mlops.eks.plugins.module_utils._diagnose import events
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.terminations import ended_at, failures, of_instance
from ansible_collections.mlops.eks.plugins.module_utils._follow.state import Rules, State
from ansible_collections.mlops.eks.plugins.module_utils._kube import pods as pod_view
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document

# When a thousand ranks fail together, the first ones tell enough.
_SAID = 20


def since(before: Document | None, pod: Document, state: State, rules: Rules) -> tuple[str, ...]:
    """Return a line for each container of `pod` that failed since it was seen as `before`, while others go on.

    A pod that is alone and is not started again tells the same as the ending does.
    """
    goes_on = len(state.pods) > 1 or pod["spec"].get("restartPolicy") != "Never"
    if before is None or not goes_on or state.incidents >= _SAID or pod_view.deleted_since(pod) is not None:
        return ()
    known = {container.name: ended_at(container) for container in failures(before)}
    fresh = [container for container in failures(pod) if ended_at(container) != known.get(container.name)]
    if not fresh:
        return ()
    warnings, role = events.about_pod(events.by_subject(state.warnings.values()), pod), rules.kind.role(pod)
    causes = (replace(of_instance(pod, container, warnings), role=role, remedy="") for container in fresh)
    return tuple(map(str, causes))


# How often parts of a workload were started again: by the kubelet, by a Job's backoffLimit, or by an operator.
def of_containers(pod: Document) -> int:
    """Return how often the kubelet started containers of this pod again."""
    return sum(container.restarts for container in pod_view.containers(pod))


def replaced(before: Document | None, after: Document) -> int:
    """Return the restarts that are forgotten with `before`, when another pod of the same name takes its place."""
    if before is None or before["metadata"].get("uid") == after["metadata"].get("uid"):
        return 0
    return 1 + of_containers(before)


def count(state: State, rules: Rules) -> int:
    """Return every restart so far; pods of a server's earlier life do not count."""
    after = rules.started if rules.kind.serves else 0.0
    pods = [pod for pod in state.pods.values() if pod_view.created(pod) + 1 > after]
    by_role: dict[str, list[Document]] = {}
    for pod in pods:
        by_role.setdefault(rules.kind.role(pod), []).append(pod)
    again = sum(_followed(group, state.gone, serves=rules.kind.serves) for group in by_role.values())
    return state.replaced + again + sum(of_containers(pod) for pod in pods)


def _followed(pods: list[Document], gone: frozenset[str], *, serves: bool) -> int:
    """Return how many pods of one role came to an untimely end and have a later one in their place."""
    # What a server's rollout deletes has done its work.
    ends = sorted(
        _ended(pod)
        for pod in pods
        if pod_view.phase(pod) == "Failed"
        or (not serves and pod_view.name(pod) in gone and pod_view.phase(pod) != "Succeeded")
    )
    followed, births = 0, iter(sorted(map(pod_view.created, pods)))
    for end in ends:
        # Times have whole seconds: a pod may be followed in the second it ended in, but not by itself.
        if next((born for born in births if born >= end), None) is None:
            break
        followed += 1
    return followed


def _ended(pod: Document) -> float:
    """Return when another pod may have been put in its place: it had ended, or its deletion was asked for.

    The stamp of a deletion is when it must be over, which may be long after the pod has ended.
    """
    finished = [from_iso(one.finished) for one in pod_view.containers(pod) if one.finished]
    deleted = pod_view.deleted_since(pod)
    ends = [*([max(finished)] if finished else []), *([deleted] if deleted is not None else [])]
    return max(pod_view.created(pod) + 0.5, min(ends, default=0.0))
