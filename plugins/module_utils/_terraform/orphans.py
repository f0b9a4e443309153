# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Import resources that a killed Terraform created and did not write into its state."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import ConflictError, EksError
from ansible_collections.mlops.eks.plugins.module_utils._terraform.events import Created, created, read
from ansible_collections.mlops.eks.plugins.module_utils._terraform.imports import COMPOSED, Name, import_name
from ansible_collections.mlops.eks.plugins.module_utils._terraform.process import was_killed
from ansible_collections.mlops.eks.plugins.module_utils._terraform.program import APPLY, Program

# Messages of Terraform for a resource that no longer exists and needs no import.
_GONE = "non-existent remote object"


def import_orphans(program: Program, *, check: bool) -> bool:
    """Import the resources that the last run recorded as created and that its state lacks; return whether any was.

    Terraform does not write the backend after every resource, so a killed one loses its last seconds. With `check` the
    resources are only listed.

    Raises:
        ConflictError: a resource could not be imported, and an apply would create it a second time.
    """
    orphans = _orphans(program)
    for address, one in orphans.items():
        text = f"{address} ({one.identifier}), which a killed run created and the state lacks"
        program.say(f"{program.name} | {'would import' if check else 'importing'} {text}")
    if check or not orphans:
        return False
    simple = {address: Name(one.identifier) for address, one in orphans.items() if one.kind not in COMPOSED}
    failed = _import(program, simple)
    # The import names of the others need attributes that a plan knows once these are in the state.
    if composed := {address: one for address, one in orphans.items() if address not in simple}:
        known = program.planned_attributes()
        names = {address: import_name(*one, known.get(address) or {}) for address, one in composed.items()}
        failed |= _import(program, names)
    if failed:
        raise _refusal(program, failed)
    return True


def _orphans(program: Program) -> dict[str, Created]:
    """Return the resources that the state lacks, by address."""
    log = program.data / APPLY
    recorded = created(read(log)) if was_killed(log) else {}
    known = program.resources() if recorded else {}
    return {address: one for address, one in recorded.items() if address not in known}


def _import(program: Program, names: Mapping[str, Name]) -> dict[str, tuple[str, str]]:
    """Import resources by address. Return the import name and the error of each that failed."""
    failed: dict[str, tuple[str, str]] = {}
    for address, name in names.items():
        try:
            if name.missing:
                raise ConflictError(f"{address}: no plan shows its {' and '.join(name.missing)}")
            program.import_resource(address, name.text)
        except EksError as error:
            if _GONE not in str(error):
                failed[address] = name.text, str(error)
    return failed


def _refusal(program: Program, failed: Mapping[str, tuple[str, str]]) -> ConflictError:
    orphans = {address: name for address, (name, _) in failed.items()}
    commands = "; ".join(
        f"{program.wrapper} import {shlex.quote(address)} {shlex.quote(name)}" for address, name in orphans.items()
    )
    _, why = next(iter(failed.values()))
    return ConflictError(
        f"{program.name}: a killed run created {len(failed)} resources that its state lacks, and they could not be"
        f" imported: {why}. Nothing else was changed. Import them by hand: {commands}. If they no longer exist,"
        f" remove {program.data / APPLY}.",
        orphans=orphans,
    )
