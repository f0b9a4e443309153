# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Import resources that a killed Terraform created and did not write into its state."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import ConflictError, EksError
from ansible_collections.mlops.eks.plugins.module_utils._terraform.events import Made, created, read
from ansible_collections.mlops.eks.plugins.module_utils._terraform.imports import COMPOSED, Name, import_name
from ansible_collections.mlops.eks.plugins.module_utils._terraform.process import was_killed
from ansible_collections.mlops.eks.plugins.module_utils._terraform.program import APPLY, Program

# Messages of Terraform for a resource that no longer exists and needs no import.
_GONE = "non-existent remote object"


def take_over(program: Program, *, look: bool) -> bool:
    """Import the resources that the last run recorded as created and that its state lacks; return whether any was.

    Terraform does not write the backend after every resource, so a killed one loses its last seconds. With `look` the
    resources are only listed.

    Raises:
        ConflictError: a resource could not be imported, and an apply would create it a second time.
    """
    lost = _lost(program)
    for address, made in lost.items():
        what = f"{address} ({made.identifier}), made by a run that was killed and missing in the state"
        program.say(f"{program.name} | {'would take over' if look else 'taking over'} {what}")
    if look or not lost:
        return False
    plain = {address: Name(made.identifier) for address, made in lost.items() if made.kind not in COMPOSED}
    failed = _take(program, plain)
    # The import names of the others need attributes that a plan knows once these are in the state.
    if composed := {address: made for address, made in lost.items() if address not in plain}:
        known = program.intended()
        names = {address: import_name(*made, known.get(address) or {}) for address, made in composed.items()}
        failed |= _take(program, names)
    if failed:
        raise _refusal(program, failed)
    return True


def _lost(program: Program) -> dict[str, Made]:
    """Return the resources that the state lacks, by address."""
    log = program.data / APPLY
    made = created(read(log)) if was_killed(log) else {}
    known = program.resources() if made else {}
    return {address: found for address, found in made.items() if address not in known}


def _take(program: Program, names: Mapping[str, Name]) -> dict[str, tuple[str, str]]:
    """Import resources by address. Return the import name and the error of each that failed."""
    failed: dict[str, tuple[str, str]] = {}
    for address, name in names.items():
        try:
            if name.missing:
                raise ConflictError(f"{address}: its {' and '.join(name.missing)} can be told by no plan")
            program.take(address, name.text)
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
        f"{program.name}: a run that was killed made {len(failed)} resources that its state does not know, and they"
        f" could not be taken over: {why}. Nothing else was done now. Take them over by hand: {commands}. Or, if they"
        f" are gone, remove {program.data / APPLY}.",
        orphans=orphans,
    )
