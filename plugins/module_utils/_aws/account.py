# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Resources of a cluster that still exist in an account, as AWS reports them: find them, remove them, or wait."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from ansible_collections.mlops.eks.plugins.module_utils._aws.leftover import Kind, Leftover, leftovers
from ansible_collections.mlops.eks.plugins.module_utils._aws.leftovers_ec2 import EC2
from ansible_collections.mlops.eks.plugins.module_utils._aws.leftovers_services import BEFORE_EC2, OTHERS
from ansible_collections.mlops.eks.plugins.module_utils._aws.session import Aws
from ansible_collections.mlops.eks.plugins.module_utils._core.clock import Clock
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import AwsError, ConflictError, DeniedError
from ansible_collections.mlops.eks.plugins.module_utils._core.names import checked
from ansible_collections.mlops.eks.plugins.module_utils._core.secret_redaction import redacted
from ansible_collections.mlops.eks.plugins.module_utils._core.text import listed
from ansible_collections.mlops.eks.plugins.module_utils._core.waiting import Waiting

Say = Callable[[str], None]
KINDS: tuple[Kind, ...] = (*BEFORE_EC2, *EC2, *OTHERS)
# Kinds requested in parallel.
_AT_ONCE = 8
# Error codes when another resource must be removed first, or was removed meanwhile.
_LATER = {
    "DependencyViolation",
    "ResourceInUse",
    "ResourceInUseException",
    "InvalidNetworkInterface.InUse",
    "VolumeInUse",
}
_NOT_FOUND = ("NotFound", "NoSuchEntity", "NotFoundException", "NonExistentQueue")
_COLUMNS = ("kind", "identifier", "name", "state", "made_by", "remedy")


class Seen(t.NamedTuple):
    """The leftovers, and the kinds that could not be listed, each with the reason."""

    found: list[Leftover]
    unknown: dict[str, str]


def look(aws: Aws, cluster: str, kinds: Sequence[Kind] = KINDS) -> Seen:
    """List all kinds in parallel. A kind that the identity may not list is unknown; any other error is raised."""

    def ask(kind: Kind) -> list[Leftover] | DeniedError:
        try:
            return leftovers(kind, aws, cluster)
        except DeniedError as error:
            return error

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        answers = list(pool.map(ask, kinds))
    seen = Seen([], {})
    for kind, answer in zip(kinds, answers, strict=True):
        if isinstance(answer, DeniedError):
            seen.unknown[kind.name] = str(answer)
        else:
            seen.found.extend(answer)
    return seen


@redacted
@checked("eks_leftovers")
def eks_leftovers(
    params: Mapping[str, t.Any], *, check: bool, say: Say, clock: Clock | None = None
) -> dict[str, t.Any]:
    """List the leftovers of a cluster, remove those that its controllers created if requested, wait for the others.

    Raises:
        ConflictError: something is left, or a kind could not be listed, and `fail` is set.
    """
    aws = Aws(region=params["region"], profile=params["profile"])
    account = _Account(aws, params, say, clock or Clock())
    seen = account.look()
    removed: list[str] = []
    if params["remove"] and not check:
        removed = account.remove(seen)
        seen = account.look()
    if not check:
        seen = account.wait(seen)
    result = _result(seen) | {"removed": removed, "changed": bool(removed)}
    if check and params["remove"]:
        result["changed"] = any(entry.maker == "cluster" for entry in seen.found)
    if params["show"] and seen.found:
        for line in result["table"]:
            say(line)
    if params["fail"] and (seen.found or seen.unknown):
        raise ConflictError(_sentence(params["name"], aws, seen), **result)
    return result


class _Account(t.NamedTuple):
    """The resources of one cluster in an account."""

    aws: Aws
    params: Mapping[str, t.Any]
    say: Say
    clock: Clock

    def look(self) -> Seen:
        """Return the leftovers of the requested kinds."""
        blocking, known = self.params["blocking"], set(self.params["known"])
        kinds = [kind for kind in KINDS if kind.blocking or not blocking]
        seen = look(self.aws, self.params["name"], kinds)
        asked = (entry for entry in seen.found if entry.maker == "cluster" or not blocking)
        found = [entry for entry in asked if entry.identifier not in known]
        return Seen(found, seen.unknown)

    def remove(self, seen: Seen) -> list[str]:
        """Remove what the cluster's controllers created. Retry while another resource must be removed first."""
        waiting = self._waiting()
        removed: list[str] = []
        while True:
            later: list[str] = []
            for entry in seen.found:
                if entry.maker == "cluster" and str(entry) not in removed:
                    (removed if self._removed(entry) else later).append(str(entry))
            if not later or waiting.over:
                return removed
            waiting.pause(f"something else must go before {', '.join(later)}")
            seen = self.look()

    def _removed(self, entry: Leftover) -> bool:
        kind = entry.kind
        try:
            self.aws.call(kind.service, kind.operation, **kind.arguments(entry.identifier))
        except AwsError as error:
            code = str(error.details.get("code", ""))
            if code in _LATER:
                return False
            if not code.endswith(_NOT_FOUND):
                raise
        self.say(f"removed {entry}")
        return True

    def wait(self, seen: Seen) -> Seen:
        """List again until nothing is left or the time-out expires."""
        if self.params["timeout"] is None:
            return seen
        waiting = self._waiting()
        while seen.found and not waiting.over:
            waiting.pause(f"waiting for {listed(map(str, seen.found))} to be gone")
            seen = self.look()
        return seen

    def _waiting(self) -> Waiting:
        return Waiting(self.say, self.clock, self.params["timeout"])


def _sentence(cluster: str, aws: Aws, seen: Seen) -> str:
    parts = []
    if seen.found:
        parts.append(
            f"{len(seen.found)} left: {listed(map(str, seen.found))}. Remove each by its command in 'leftovers', then"
            " run this again"
        )
    if seen.unknown:
        parts.append(f"could not look for {', '.join(seen.unknown)}: {next(iter(seen.unknown.values()))}")
    return f"cluster {cluster} in {aws.region}: {'; '.join(parts)}"


def _result(seen: Seen) -> dict[str, t.Any]:
    rows = [entry.to_result() for entry in seen.found]
    return {"leftovers": rows, "unknown": seen.unknown, "table": _table(rows)}


def _table(rows: Sequence[Mapping[str, str]]) -> list[str]:
    if not rows:
        return ["nothing is left"]
    cells = [
        [column.upper().replace("_", " ") for column in _COLUMNS],
        *([row[column] for column in _COLUMNS] for row in rows),
    ]
    widths = [max(len(line[index]) for line in cells) for index in range(len(_COLUMNS))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells]
