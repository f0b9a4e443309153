# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Convert the diagnostics of Terraform to one error with its remedy."""

from __future__ import annotations

import os
import re
import shlex
import typing as t
from collections.abc import Iterable, Sequence
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import (
    CommandError,
    ConflictError,
    CredentialsError,
    DeniedError,
    EksError,
    InvalidInputError,
)
from ansible_collections.mlops.eks.plugins.module_utils._terraform.events import Event

# The file that passes variables to Terraform.
VARIABLES = "variables.tfvars.json"
LOCKED = "Error acquiring the state lock"


class ExistsError(ConflictError):
    """A resource to create exists already and is not in the state."""


class Diagnostic(t.NamedTuple):
    """One problem. `where` is `file:line` in the stack's source, or `variables.<name>`."""

    severity: str
    summary: str
    detail: str
    address: str
    where: str

    def sentence(self) -> str:
        """Return one line: the object, the problem, the first sentence of the detail, file and line."""
        text = _short(self.summary)
        # For a rejected value the summary is general; only the detail is specific.
        first = _short(re.split(r"(?<=[.!?])\s", self.detail.strip(), maxsplit=1)[0] if self.detail else "")
        helps = first and not first.startswith("Please see") and first.rstrip(".") not in text
        text += f": {first}" if helps else ""
        about = f"{self.address}: " if self.address else ""
        return f"{about}{text.rstrip('.')}" + (f" ({self.where})" if self.where else "")


class _Meaning(t.NamedTuple):
    kind: type[EksError]
    remedy: str


_AGAIN = "Then run the same command again: what was made is in the state, and the rest is taken up."
# Patterns in a diagnostic and their meaning; the first match wins. The codes are those of the AWS API references
# ("Common Errors" of each service) and of IAM, S3, EC2 and EKS; the other texts are Terraform's own.
_MEANINGS: tuple[tuple[str, _Meaning], ...] = (
    (
        r"ExpiredToken|RequestExpired|token (?:included in the request )?(?:has|is) expired|SSO session .*expired",
        _Meaning(CredentialsError, f"The session of AWS has expired: log in again. {_AGAIN}"),
    ),
    (
        r"No valid credential sources|failed to refresh cached credentials|NoCredentialProviders|failed to get shared"
        r" config profile|no EC2 IMDS role",
        _Meaning(CredentialsError, "There are no credentials for AWS: set AWS_PROFILE, or log in (aws sso login)."),
    ),
    (
        r"InvalidClientTokenId|UnrecognizedClientException|OptInRequired|AuthFailure",
        _Meaning(
            CredentialsError,
            "AWS does not know these credentials there: check the keys, and that the region is enabled.",
        ),
    ),
    (
        r"AccessDenied|UnauthorizedOperation|not authorized to perform",
        _Meaning(DeniedError, f"The identity in use lacks this permission. {_AGAIN}"),
    ),
    (
        r"VcpuLimitExceeded|ServiceQuotaExceeded|LimitExceeded|InsufficientInstanceCapacity|MaxSpotInstanceCount",
        _Meaning(CommandError, f"Ask for a higher quota, or for less. {_AGAIN}"),
    ),
    (
        r"Failed to persist state|Failed to save state|Error saving state",
        _Meaning(
            CommandError, "The state could not be written where it belongs. It is kept; the next run writes it first."
        ),
    ),
    (
        # EC2 API reference, "Error codes"; all other services return a sentence.
        r"already ?(?:exists|associated)|BucketAlready|InvalidSubnet\.Conflict|\.Duplicate\b",
        _Meaning(
            ExistsError,
            "It was made outside of this state, or by a run that was killed in the middle: remove it, choose another"
            " name, or take it over: {program} import {address} ID.",
        ),
    ),
    (
        r"Saved plan is stale",
        _Meaning(ConflictError, "Somebody else changed the state since it was planned: run the same command again."),
    ),
    (
        r"Backend configuration changed|Backend initialization required|Backend type changed",
        _Meaning(
            InvalidInputError,
            "The state is kept elsewhere since the last run: move it with '{program} init -migrate-state', or give the"
            " former backend.",
        ),
    ),
    (
        r"dependency lock file|does not match any of the checksums|Failed to install provider",
        _Meaning(InvalidInputError, "The lock file of the stack must name this provider for this platform."),
    ),
    (
        r"Failed to query available provider packages|could not connect to|Failed to resolve provider packages",
        _Meaning(CommandError, "Give it a way to its registry, or a mirror by TF_CLI_CONFIG_FILE."),
    ),
    (
        r"Invalid value for (?:input )?variable|No value for required variable|Unsupported Terraform Core version"
        r"|Incompatible module",
        _Meaning(InvalidInputError, ""),
    ),
)
# A value of a wrong type; OpenTofu reports where the variable is declared, not where its value is.
_GIVEN = re.compile(r"not suitable for var\.([\w-]+) declared at")
# The missing IAM action, where AWS names it.
_ACTION = re.compile(r"not authorized to perform:? ([a-z0-9-]+:\w+)")
# Messages that follow from an interruption or from another error.
_NOISE = re.compile(r"^(execution halted|operation canceled|context canceled)$", re.IGNORECASE)
# The start of the reason in an answer of AWS.
_TRANSPORT = re.compile(r"(?:https response error )?StatusCode: \d+, (?:RequestID: [^,]*, )?(?:HostID: [^,]*, )?")


def gather(events: Iterable[Event], work: Path, source: Path) -> list[Diagnostic]:
    """Return the problems in `events`, errors first, with file names relative to `source`."""
    found = [_read(event, work, source) for event in events if isinstance(event.get("diagnostic"), dict)]
    return sorted(dict.fromkeys(found), key=lambda problem: problem.severity != "error")


def errors(problems: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return the errors that made a command fail, without those that only follow from them."""
    return [found for found in problems if found.severity == "error" and not _NOISE.match(found.summary)]


def explain(subject: str, problems: Sequence[Diagnostic], text: Sequence[str], program: Path) -> EksError:
    """Return one error: the first problem that has a remedy, else the first problem."""
    failed = errors(problems)
    if not failed:
        # Commands without -json draw a frame around their messages.
        lines = [line.strip(" │╷╵") for line in reversed(text)]
        error = next((line for line in lines if line.startswith("Error:")), "")
        last = error or next(filter(None, lines), "it printed no reason")
        return CommandError(f"{subject}: {last}", diagnostics=[])
    for pattern, meaning in _MEANINGS:
        known = [one for one in failed if re.search(pattern, f"{one.summary} {one.detail}", re.IGNORECASE)]
        if known:
            return _error(subject, known[0], failed, meaning, program)
    return _error(subject, failed[0], failed, _Meaning(CommandError, ""), program)


def _error(
    subject: str, chosen: Diagnostic, failed: Sequence[Diagnostic], meaning: _Meaning, program: Path
) -> EksError:
    others = len(failed) - 1
    more = f" (and {others} more {'error' if others == 1 else 'errors'})" if others else ""
    address = shlex.quote(chosen.address) if chosen.address else "ADDRESS"
    remedy = f" {meaning.remedy.format(program=program, address=address)}" if meaning.remedy else ""
    details: dict[str, t.Any] = {"diagnostics": [problem._asdict() for problem in failed]}
    if lacking := _ACTION.search(f"{chosen.summary} {chosen.detail}"):
        details["action"] = lacking[1]
    return meaning.kind(f"{subject}: {chosen.sentence()}{more}.{remedy}", **details)


def _read(event: Event, work: Path, source: Path) -> Diagnostic:
    entry = event["diagnostic"]
    return Diagnostic(
        severity=entry.get("severity") or "error",
        summary=entry.get("summary") or "",
        detail=entry.get("detail") or "",
        address=entry.get("address") or "",
        where=_where(entry, work, source),
    )


def _where(entry: Event, work: Path, source: Path) -> str:
    """Return the place in the user's source: Terraform's working directory has only links to it."""
    given = _GIVEN.search(entry.get("detail") or "")
    if given:
        return f"variables.{given[1]}"
    place = entry.get("range") or {}
    if not place.get("filename"):
        return ""
    path = Path(os.path.normpath(work / place["filename"]))
    if path.name == VARIABLES:
        key = re.match(r'\s*"([^"]+)"', (entry.get("snippet") or {}).get("code") or "")
        return f"variables.{key[1]}" if key else "variables"
    if path.is_relative_to(work):
        path = source / path.relative_to(work)
    return f"{path}:{(place.get('start') or {}).get('line')}"


def _short(text: str) -> str:
    return " ".join(_TRANSPORT.sub("", text).split())
