# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The workload kinds: one row each, with what its status means. A new kind costs a row and a test beside the others.

The rows stand by family in the files beside this one; the terminal conditions were read in each operator's source at
the version that the family names.
"""

from __future__ import annotations

from collections.abc import Mapping

from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds import core, kserve, kubeflow, ray, sets
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.expressions import Expression
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.row import (
    PENDING,
    REQUESTED_FAILURES,
    RUNNING,
    Kind,
    Selector,
    State,
    Verdict,
    label,
    labelled,
    name,
    plain_role,
)

__all__ = ["KINDS", "PENDING", "REQUESTED_FAILURES", "Kind", "Selector", "State", "Verdict", "judge", "unknown"]

_INSTANCE = "app.kubernetes.io/instance"

KINDS: Mapping[tuple[str, str], Kind] = {
    (row.api_version, row.kind): row for family in (core, kubeflow, sets, ray, kserve) for row in family.ROWS
}


def judge(kind: Kind, entry: Document, *, until: Expression | None, fail_on: tuple[Expression, ...]) -> Verdict:
    """Return what `entry` says: `fail_on` first, then `until` when given, else the kind's own row."""
    for expression in fail_on:
        if expression.holds(entry):
            return Verdict(state="failed", reason="fail_on", message=f"{expression.text} holds")
    own = kind.judge(entry)
    if until is None or own.state == "failed":
        return own
    if until.holds(entry):
        return Verdict(state="ready" if kind.serves else "succeeded", reason="until")
    if own.state == "succeeded":
        # Nothing about it will change any more.
        return Verdict(state="failed", reason="until", message=f"it ended well, but {until.text} never held")
    return RUNNING if own.final else own


def unknown(api_version: str, kind: str, plural: str, *, serves: bool = False, namespaced: bool = True) -> Kind:
    """Return the row of a kind that has none: only `until` and `fail_on` decide it; pods by the release's label."""
    return Kind(
        api_version=api_version,
        kind=kind,
        plural=plural,
        serves=serves,
        judge=lambda _: PENDING,
        selectors=lambda entry: (labelled({_INSTANCE: label(entry, _INSTANCE) or name(entry)}),),
        role=plain_role,
        namespaced=namespaced,
        replaces_failed_pods=False,
    )
