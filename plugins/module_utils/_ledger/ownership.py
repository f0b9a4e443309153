# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Which Helm releases a run may change: those that carry its labels and are in its ledger, and those it adopts."""

from __future__ import annotations

from collections.abc import Mapping

from ansible_collections.mlops.eks.plugins.module_utils._helm.releases import Release
from ansible_collections.mlops.eks.plugins.module_utils._ledger.ledger import Entry


def may_change(found: Release, *, run: str, entries: Mapping[str, Entry], adopt: bool) -> bool:
    """Return whether run `run`, whose ledger has `entries`, installed this release or may adopt it."""
    installed = found.run == run and any(entry.helm_release == found.name for entry in entries.values())
    return installed or (adopt and _adoptable(found, run))


def _adoptable(found: Release, run: str) -> bool:
    """Return whether no other run owns this release."""
    return found.run in ("", run)


def refusal(found: Release, *, run: str, namespace: str) -> str:
    """Return why the run must not change this release, and what the user can do about it."""
    where = f"release {found.name} in namespace {namespace}"
    if not _adoptable(found, run):
        return (
            f"{where}: it belongs to step {found.step!r} of run {found.run!r}, not to run {run!r}; nothing was "
            "changed. Give the run or the step another name."
        )
    if found.run:
        why = f"it carries the labels of run {run!r}, but the ledger mlops-eks-{run} does not know it"
    else:
        why = f"this collection did not install it (revision {found.revision}, {found.status})"
    return (
        f"{where}: {why}; nothing was changed. Use another release name, remove it with "
        f"'helm uninstall {found.name} -n {namespace}', or set adopt=true to hand it to this run."
    )
