# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The support period of the Kubernetes version in EKS."""

from __future__ import annotations

import typing as t
from collections.abc import Iterator
from datetime import date, timedelta

from ansible_collections.mlops.eks.plugins.module_utils._aws.facts import Context
from ansible_collections.mlops.eks.plugins.module_utils._aws.finding import Finding, fail, ok, warn
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import AwsError, CredentialsError, DeniedError

# A warning starts this long before the end of standard support.
_SOON = timedelta(days=60)


class Support(t.NamedTuple):
    """The last days of standard and of extended support."""

    standard: date
    extended: date


# Used when the EKS API does not answer. Source: Amazon EKS user guide, "Amazon EKS Kubernetes release calendar".
TABLE_OF = date(2026, 11, 21)
TABLE = {
    "1.32": Support(date(2026, 3, 23), date(2027, 3, 23)),
    "1.33": Support(date(2026, 7, 29), date(2027, 7, 29)),
    "1.34": Support(date(2026, 12, 2), date(2027, 12, 2)),
    "1.35": Support(date(2027, 3, 27), date(2028, 3, 27)),
    "1.36": Support(date(2027, 8, 2), date(2028, 8, 2)),
}
NAME = "Kubernetes version"


def version(context: Context) -> Iterator[Finding]:
    """Report how long the version is supported, from the EKS API or else from the dated table."""
    try:
        yield _judge(context, support(context), "")
    except CredentialsError:
        raise
    except AwsError as error:
        source = f" (by a table of {TABLE_OF}; EKS did not answer)"
        finding = _judge(context, TABLE, source)
        if finding.level == "fail":
            yield finding
        else:
            remedy = (
                f"Allow the IAM action {error.details['action']}." if isinstance(error, DeniedError) else str(error)
            )
            yield warn(NAME, finding.found, f"{finding.remedy} {remedy}".strip())


def support(context: Context) -> dict[str, Support]:
    """Return the support period of every version that EKS lists."""
    found = context.aws.pages("eks", "describe_cluster_versions", "clusterVersions", includeAll=True)
    return {
        entry["clusterVersion"]: Support(
            entry["endOfStandardSupportDate"].date(), entry["endOfExtendedSupportDate"].date()
        )
        for entry in found
        if "endOfStandardSupportDate" in entry and "endOfExtendedSupportDate" in entry
    }


def _judge(context: Context, known: dict[str, Support], source: str) -> Finding:
    wanted, today = context.stack.version, context.now.date()
    current = sorted((name for name, until in known.items() if until.standard - today > _SOON), key=_number)
    choose = f"Choose {' or '.join(reversed(current))}."
    if wanted not in known:
        return fail(NAME, f"{wanted}: EKS has no such version{source}", choose)
    until = known[wanted]
    if until.extended < today:
        return fail(NAME, f"{wanted}: out of support since {until.extended}{source}", choose)
    if until.standard < today:
        found = f"{wanted}: only extended support, since {until.standard}, until {until.extended}{source}"
        if context.stack.support == "extended":
            return warn(NAME, found, f"Extended support costs more, see the estimate. {choose}")
        return fail(NAME, found, f"{choose} Or pay for it: control_plane.support_type extended.")
    if until.standard - today <= _SOON:
        return warn(NAME, f"{wanted}: standard support ends soon, on {until.standard}{source}", choose)
    return ok(NAME, f"{wanted}: standard support until {until.standard}{source}")


def _number(name: str) -> tuple[int, ...]:
    return tuple(int(part) for part in name.split("."))


def extended(context: Context) -> bool:
    """Return whether the version is in extended support now, by the table. The price depends on it."""
    until = TABLE.get(context.stack.version)
    return until is not None and until.standard < context.now.date()
