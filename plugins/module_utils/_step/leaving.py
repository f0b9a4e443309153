# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""For how long pods that somebody deletes are waited for: what they write until they end, as of a checkpoint, is kept.

Source: Kubernetes "Pod termination": a pod that is deleted has a grace period, and ends in it with a final phase. The
time of deletion is the API server's, so what is waited is counted from when it was noticed: no two clocks are compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ansible_collections.mlops.eks.plugins.module_utils._kube import pods as pod_view
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document
from ansible_collections.mlops.eks.plugins.module_utils._kube.expressions import condition

# Kubernetes' own default of the grace period, and the seconds that a kubelet may need beyond one. A grace period may be
# of any length: who asks for 20 minutes writes a checkpoint in them.
_GRACE, _BEYOND = 30.0, 5.0
# Seconds in which the garbage collector gets to the pods of what was deleted; those it leaves alone were orphaned.
_COLLECTED = 15.0
_DELETION = ("deletionTimestamp", "deletionGracePeriodSeconds")


def patience(pods: Iterable[Document]) -> float:
    """Return the seconds these pods may take to end once they are deleted."""
    return max(map(_grace, pods), default=0.0) + _BEYOND


def survivors(pods: Iterable[Document]) -> list[Document]:
    """Return the pods whose programs still run, on nodes that still answer: they have something to say when they end.

    Of a silent node the pods are set to not ready without a reason (Kubernetes v1.35
    pkg/controller/util/node/controller_utils.go, MarkPodsNotReady); a kubelet gives one.
    """
    return [pod for pod in staying(pods) if _runs(pod) and not _unheard(pod)]


def _runs(pod: Document) -> bool:
    return any(container.state == "running" for container in pod_view.containers(pod))


def _unheard(pod: Document) -> bool:
    ready = condition(pod, "Ready") or {}
    found = pod_view.disruption(pod)
    return (ready.get("status") == "False" and not ready.get("reason")) or (
        found is not None and found.reason == "NodeLost"
    )


def staying(pods: Iterable[Document]) -> list[Document]:
    """Return the pods that have not ended."""
    return [pod for pod in pods if pod_view.phase(pod) not in ("Succeeded", "Failed")]


def over(pods: Sequence[Document], waited: float) -> bool:
    """Return whether these pods, which have not ended, are not to be waited for any longer; `waited` is in seconds."""
    orphaned = waited >= _COLLECTED and not any(pod["metadata"].get("deletionTimestamp") for pod in pods)
    return not pods or orphaned or waited >= patience(pods)


def named(pods: Sequence[Document]) -> str:
    """Return the pods' names, or how many they are."""
    names = sorted(map(pod_view.name, pods))
    more = f" and {len(names) - 3} more pods" if len(names) > 3 else ""
    return f"{', '.join(names[:3])}{more}"


def deleted_first(before: Document | None, pod: Document) -> Document:
    """Return the pod, deleted since it was when it was seen `before`.

    Its kubelet deletes it once more, without grace, when its containers have ended (Kubernetes v1.35
    pkg/kubelet/status/status_manager.go); with a finalizer, as a Job's pod has, it then seems to be deleted only since.
    """
    earlier: Document = before["metadata"] if before else {}
    if not earlier.get("deletionTimestamp") or earlier.get("uid") != pod["metadata"].get("uid"):
        return pod
    return {**pod, "metadata": {**pod["metadata"], **{key: earlier[key] for key in _DELETION if key in earlier}}}


def _grace(pod: Document) -> float:
    said = (pod["metadata"], "deletionGracePeriodSeconds"), (pod.get("spec") or {}, "terminationGracePeriodSeconds")
    return next((float(place[key]) for place, key in said if place.get(key) is not None), _GRACE)
