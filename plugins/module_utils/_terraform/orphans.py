# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""What a killed Terraform made and could not write into its state: the next run takes it over."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import ConflictError, EksError
from ansible_collections.mlops.eks.plugins.module_utils._terraform.events import Made, created, read
from ansible_collections.mlops.eks.plugins.module_utils._terraform.imports import COMPOSED, Name, import_name
from ansible_collections.mlops.eks.plugins.module_utils._terraform.process import was_killed
from ansible_collections.mlops.eks.plugins.module_utils._terraform.program import APPLY, Program

# What is gone again need not be taken over. The words are Terraform's own.
_GONE = "non-existent remote object"


def take_over(program: Program, *, look: bool) -> bool:
    """Import what the last run made, by its own record, and its state lacks; return whether anything was imported.

    A backend is not written after every resource: of a Terraform that was killed, the last seconds are missing there.
    With `look` they are only told of.

    Raises:
        ConflictError: something could not be imported, and making it again would make a second one.
    """
    lost = _lost(program)
    for address, made in lost.items():
        what = f"{address} ({made.identifier}), made by a run that was killed and missing in the state"
        program.say(f"{program.name} | {'would take over' if look else 'taking over'} {what}")
    if look or not lost:
        return False
    plain = {address: Name(made.identifier) for address, made in lost.items() if made.kind not in COMPOSED}
    failed = _take(program, plain)
    # The others are named by attributes, which a plan knows as soon as these are in the state.
    if composed := {address: made for address, made in lost.items() if address not in plain}:
        known = program.intended()
        names = {address: import_name(*made, known.get(address) or {}) for address, made in composed.items()}
        failed |= _take(program, names)
    if failed:
        raise _refusal(program, failed)
    return True


def _lost(program: Program) -> dict[str, Made]:
    """Return what the state lacks, by address."""
    log = program.data / APPLY
    made = created(read(log)) if was_killed(log) else {}
    known = program.resources() if made else {}
    return {address: found for address, found in made.items() if address not in known}


def _take(program: Program, names: Mapping[str, Name]) -> dict[str, tuple[str, str]]:
    """Import resources, given by address; return those that could not be: their name in the import, and why."""
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
