# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""All checks before a stack is applied: credentials and region first, then all others in parallel."""

from __future__ import annotations

import functools
import typing as t
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

from ansible_collections.mlops.eks.plugins.module_utils._aws import (
    checks_names,
    checks_network,
    checks_nodes,
    checks_place,
    checks_quotas,
    checks_vcpus,
    checks_version,
)
from ansible_collections.mlops.eks.plugins.module_utils._aws.checks_buckets import buckets
from ansible_collections.mlops.eks.plugins.module_utils._aws.context import read_context
from ansible_collections.mlops.eks.plugins.module_utils._aws.cost import Estimate, estimate
from ansible_collections.mlops.eks.plugins.module_utils._aws.facts import Context
from ansible_collections.mlops.eks.plugins.module_utils._aws.finding import Finding, fail, warn
from ansible_collections.mlops.eks.plugins.module_utils._aws.table import table
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import AwsError, DeniedError, InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._core.names import checked
from ansible_collections.mlops.eks.plugins.module_utils._core.secret_redaction import redacted
from ansible_collections.mlops.eks.plugins.module_utils._core.text import plain

# Checks in parallel; more would exceed the rate limits of EC2.
_WORKERS = 8
Say = Callable[[str], None]


class Check(t.NamedTuple):
    """A check: its function, and the name of the line that reports an error of the check itself."""

    name: str
    run: Callable[[Context], Iterator[Finding]]


# A failure here makes all other checks fail for the same reason.
FIRST = (Check("credentials", checks_place.credentials), Check("region", checks_place.region))
CHECKS = (
    Check("zones", checks_place.zones),
    Check(checks_version.NAME, checks_version.version),
    Check("address ranges", checks_network.ranges),
    Check("other VPCs", checks_network.neighbours),
    Check("existing VPC", checks_network.existing),
    Check("offers", checks_nodes.offerings),
    Check("EFA and placement", checks_nodes.efa),
    Check("reservations", checks_nodes.reservations),
    Check("room for pipelines", checks_nodes.pools),
    Check("quotas of vCPUs", checks_vcpus.vcpu_quotas),
    *(
        Check(f"quota of {quota.name}", functools.partial(checks_quotas.counted, quota=quota))
        for quota in checks_quotas.QUOTAS
    ),
    *(
        Check(f"names of {names.kind}", functools.partial(checks_names.taken, names=names))
        for names in checks_names.NAMES
    ),
    Check("buckets", buckets),
)


@redacted
@checked("eks_preflight")
def preflight(params: Mapping[str, t.Any], *, say: Say = lambda _: None) -> dict[str, t.Any]:
    """Run all checks and return the findings, the estimate, and both as lines of text.

    Raises:
        InvalidInputError: variables or a pipeline are invalid; or a check failed, and `fail` is set. Its details
            are the failed findings, because Ansible prints all details of a failure.
    """
    context = read_context(params)
    findings, cost = _check(context)
    red = [finding for finding in findings if finding.level == "fail"]
    lines = [plain(line) for line in table(findings, cost)]
    if params["show"]:
        for line in lines:
            say(line)
    where = f"{context.stack.name} in {context.aws.region}"
    names = ", ".join(finding.name for finding in red)
    failed = f"{len(red)} of {len(findings)} checks failed: {names}. Nothing was changed."
    if red and params["fail"]:
        raise InvalidInputError(f"{where}: {failed}", findings=[finding.to_result() for finding in red], ok=False)
    return {
        "changed": False,
        "msg": f"{where}: {failed if red else f'none of {len(findings)} checks failed'}",
        "findings": [finding.to_result() for finding in findings],
        "ok": not red,
        "cost": cost and cost.to_result(),
        "table": lines,
    }


def _check(context: Context) -> tuple[list[Finding], Estimate | None]:
    findings: list[Finding] = []
    for check in FIRST:
        findings += _made(check, context)
        if findings[-1].level == "fail":
            rest = warn("all others", "not made, as they would fail for the same reason", "Correct this first.")
            return [*findings, rest], None
    with ThreadPoolExecutor(max_workers=_WORKERS) as pool:
        priced = pool.submit(estimate, context)
        for made in pool.map(lambda check: _made(check, context), CHECKS):
            findings += made
        try:
            cost = priced.result()
        except AwsError as error:
            return [*findings, _broken("cost", error)], None
    return [*findings, cost.finding()], cost


def _made(check: Check, context: Context) -> list[Finding]:
    """Return the findings of a check. An error of the check itself is a finding too."""
    findings: list[Finding] = []
    try:
        findings.extend(check.run(context))
    except DeniedError as error:
        action = error.details["action"]
        findings.append(warn(check.name, "this identity may not ask", f"Allow it the IAM action {action}."))
    except AwsError as error:
        findings.append(_broken(check.name, error))
    return findings


def _broken(name: str, error: AwsError) -> Finding:
    return fail(name, "it could not be checked", str(error))
