# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""What goes wrong while the workload goes on: said when it happens, since a restart soon hides it."""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.mlops.eks.plugins.module_utils._kube import pods as pod_view
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document
from ansible_collections.mlops.eks.plugins.module_utils._step import events
from ansible_collections.mlops.eks.plugins.module_utils._step.deaths import ended_at, failures, of_instance
from ansible_collections.mlops.eks.plugins.module_utils._step.state import Rules, State

# When a thousand ranks fail together, the first ones tell enough.
_SAID = 20


def since(before: Document | None, pod: Document, state: State, rules: Rules) -> tuple[str, ...]:
    """Return a line for each container of `pod` that failed since it was seen as `before`, while others go on.

    A pod that is alone and is not started again tells the same as the ending does.
    """
    goes_on = len(state.pods) > 1 or pod["spec"].get("restartPolicy") != "Never"
    if before is None or not goes_on or state.accidents >= _SAID or pod_view.deleted_since(pod) is not None:
        return ()
    known = {container.name: ended_at(container) for container in failures(before)}
    fresh = [container for container in failures(pod) if ended_at(container) != known.get(container.name)]
    if not fresh:
        return ()
    warnings, role = events.about_pod(events.by_subject(state.warnings.values()), pod), rules.kind.role(pod)
    causes = (replace(of_instance(pod, container, warnings), role=role, remedy="") for container in fresh)
    return tuple(map(str, causes))
