# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Failures and restarts while the workload goes on: each failure is printed at once, as a restart hides it.

Restarts by the kubelet, by a Job's backoffLimit and by operators are counted.
"""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import from_iso
from ansible_collections.mlops.eks.plugins.module_utils._diagnose import events
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.terminations import (
    ended_at,
    failures,
    termination_cause,
)
from ansible_collections.mlops.eks.plugins.module_utils._follow.state import Rules, State
from ansible_collections.mlops.eks.plugins.module_utils._kube import pods as pod_view
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document

# When a thousand ranks fail together, the first ones are enough.
_MAX_PRINTED = 20


def new_failures(before: Document | None, pod: Document, state: State, rules: Rules) -> tuple[str, ...]:
    """Return a line for each container of `pod` that failed since it was seen as `before`, while others go on.

    A single pod that is not restarted gives none: the ending says the same.
    """
    continues = len(state.pods) > 1 or pod["spec"].get("restartPolicy") != "Never"
    if before is None or not continues or state.incidents >= _MAX_PRINTED or pod_view.deleted_since(pod) is not None:
        return ()
    known = {container.name: ended_at(container) for container in failures(before)}
    new = [container for container in failures(pod) if ended_at(container) != known.get(container.name)]
    if not new:
        return ()
    warnings, role = events.about_pod(events.by_subject(state.warnings.values()), pod), rules.kind.role(pod)
    causes = (replace(termination_cause(pod, container, warnings), role=role, remedy="") for container in new)
    return tuple(map(str, causes))


def container_restarts(pod: Document) -> int:
    """Return how often the kubelet restarted containers of this pod."""
    return sum(container.restarts for container in pod_view.containers(pod))


def lost_restarts(before: Document, after: Document) -> int:
    """Return the restarts that `before` accounts for when `after` is another pod of its name, else 0."""
    if before["metadata"].get("uid") == after["metadata"].get("uid"):
        return 0
    return 1 + container_restarts(before)


def total_restarts(state: State, rules: Rules) -> int:
    """Return all restarts so far; pods of a server's earlier revision do not count."""
    after = rules.started if rules.kind.serves else 0.0
    pods = [pod for pod in state.pods.values() if pod_view.created(pod) + 1 > after]
    by_role: dict[str, list[Document]] = {}
    for pod in pods:
        by_role.setdefault(rules.kind.role(pod), []).append(pod)
    replaced = sum(_replaced(group, state.gone, serves=rules.kind.serves) for group in by_role.values())
    return state.past_restarts + replaced + sum(map(container_restarts, pods))


def _replaced(pods: list[Document], gone: frozenset[str], *, serves: bool) -> int:
    """Return how many pods of one role failed or were deleted and were replaced by a later pod."""
    # A server's rollout deletes pods on purpose.
    ends = sorted(
        _ended(pod)
        for pod in pods
        if pod_view.phase(pod) == "Failed"
        or (not serves and pod_view.name(pod) in gone and pod_view.phase(pod) != "Succeeded")
    )
    replaced, creations = 0, iter(sorted(map(pod_view.created, pods)))
    for end in ends:
        # Times have whole seconds: a pod may be replaced in the second of its end, but not by itself.
        if next((created for created in creations if created >= end), None) is None:
            break
        replaced += 1
    return replaced


def _ended(pod: Document) -> float:
    """Return the earliest time at which another pod may have replaced it: its end, or the request of its deletion."""
    finished = [from_iso(one.finished) for one in pod_view.containers(pod) if one.finished]
    deleted = pod_view.deleted_since(pod)
    ends = [*([max(finished)] if finished else []), *([deleted] if deleted is not None else [])]
    return max(pod_view.created(pod) + 0.5, min(ends, default=0.0))
