# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Kueue's Workload: why Kueue holds a queued workload back.

Source: kueue v0.18.2 apis/kueue/v1beta2/workload_types.go, pkg/controller/core/workload_controller.go and
pkg/workload/workload.go.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.expressions import condition, is_true

API_VERSION, PLURAL = "kueue.x-k8s.io/v1beta2", "workloads"
# The version before Kueue 0.15; the fields read here are the same.
OLDER = ("kueue.x-k8s.io/v1beta1",)


def why_held(workloads: Iterable[Document], entry: Document, owners: Collection[str] = ()) -> str | None:
    """Return why Kueue holds the workload `entry` back, in one sentence; `None` when it does not.

    `owners` are further uids that may own its Workloads, such as those of its pods.
    """
    # Pod groups and elastic jobs have several Workloads; the first one that is held back gives the reason.
    return next(filter(None, map(_why, _own(workloads, entry, owners))), None)


def deactivated(workloads: Iterable[Document], entry: Document, owners: Collection[str] = ()) -> str | None:
    """Return why Kueue deactivated the workload `entry`, which then waits until a person activates it, or `None`."""
    return next(filter(None, map(_why_deactivated, _own(workloads, entry, owners))), None)


def _own(workloads: Iterable[Document], entry: Document, owners: Collection[str]) -> list[Document]:
    """Return the Workloads of `entry` that have not ended, the oldest first."""
    uids = {entry["metadata"].get("uid"), *owners}
    return sorted((one for one in workloads if _belongs(one, uids) and not is_true(one, "Finished")), key=_age)


def _belongs(found: Document, uids: Collection[str | None]) -> bool:
    return any(owner.get("uid") in uids for owner in found["metadata"].get("ownerReferences") or ())


def _age(found: Document) -> tuple[str, str]:
    return str(found["metadata"].get("creationTimestamp") or ""), str(found["metadata"].get("name") or "")


def _why(found: Document) -> str | None:
    if reason := _why_deactivated(found):
        return reason
    if is_true(found, "Admitted"):
        return _starting(found)
    if is_true(found, "QuotaReserved"):
        return _sentence(f"Kueue has reserved its quota in {_queue(found)} but not admitted it", _checks(found))
    waits = _message(found, "QuotaReserved") or _message(found, "BlockedOnPreemptionGates")
    if is_true(found, "Evicted"):
        return _evicted(found, waits)
    return _sentence(f"Kueue holds it back in {_queue(found)}", waits)


def _why_deactivated(found: Document) -> str | None:
    if found["spec"].get("active") is not False and not is_true(found, "DeactivationTarget"):
        return None
    why = _message(found, "DeactivationTarget") or _message(found, "Evicted")
    return _sentence("Kueue has deactivated it and will not try again", why)


def _starting(found: Document) -> str | None:
    """Return what an admitted workload waits for: Kueue evicts it when its pods do not become ready."""
    ready = condition(found, "PodsReady") or {}
    if ready.get("status") != "False":
        return None
    return _sentence(f"Kueue has admitted it to {_queue(found)}", str(ready.get("message") or ""))


def _evicted(found: Document, waits: str) -> str:
    reason = str((condition(found, "Evicted") or {}).get("reason") or "")
    again = ((found.get("status") or {}).get("requeueState") or {}).get("requeueAt")
    # While it waits to be requeued, the messages of reservation and eviction are the same.
    messages = dict.fromkeys((_message(found, "Preempted"), _message(found, "Evicted"), waits))
    why = "; ".join(message.rstrip(".") for message in messages if message)
    return _sentence(f"Kueue has evicted it ({reason})", why + (f"; queued again at {again}" if again else ""))


def _queue(found: Document) -> str:
    admission = (found.get("status") or {}).get("admission") or {}
    if admission.get("clusterQueue"):
        return f"ClusterQueue {admission['clusterQueue']}"
    return f"LocalQueue {found['spec'].get('queueName') or '(none)'}"


def _checks(found: Document) -> str:
    """Return the admission checks that are not ready, each with its message."""
    states = (found.get("status") or {}).get("admissionChecks") or ()
    open_ones = [check for check in states if check.get("state") != "Ready"]
    messages = [
        f"check {check['name']} is {check.get('state')} ({check.get('message') or 'no message'})" for check in open_ones
    ]
    return "; ".join(messages) or _message(found, "Admitted")


def _message(found: Document, kind: str) -> str:
    return str((condition(found, kind) or {}).get("message") or "")


def _sentence(subject: str, why: str) -> str:
    line = " ".join(why.split()).rstrip(".")
    return f"{subject}: {line}." if line else f"{subject}."
