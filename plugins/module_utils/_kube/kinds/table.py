# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The table of workload kinds. To add a kind, add a `Kind` to the ROWS of its family and cases to its test.

The families are the modules beside this one. Their terminal conditions come from the operator's source, at the version
that each module names.
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
    """Return the verdict on `entry`: by `fail_on`, then by `until` when given, else by the row of the kind."""
    for expression in fail_on:
        if expression.holds(entry):
            return Verdict(state="failed", reason="fail_on", message=f"{expression.text} holds")
    own = kind.judge(entry)
    if until is None or own.state == "failed":
        return own
    if until.holds(entry):
        return Verdict(state="ready" if kind.serves else "succeeded", reason="until")
    if own.state == "succeeded":
        # The status will not change any more.
        return Verdict(state="failed", reason="until", message=f"it ended well, but {until.text} never held")
    return RUNNING if own.final else own


def unknown(api_version: str, kind: str, plural: str, *, serves: bool = False, namespaced: bool = True) -> Kind:
    """Return a row for a kind without one: `until` and `fail_on` decide; the label of the release finds its pods."""
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
