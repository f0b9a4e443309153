# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""S3 buckets that the stack refers to: each exists, is reachable and is in the right region."""

from __future__ import annotations

from collections.abc import Iterator

from ansible_collections.mlops.eks.plugins.module_utils._aws.facts import Context
from ansible_collections.mlops.eks.plugins.module_utils._aws.finding import Finding, fail, ok, warn
from ansible_collections.mlops.eks.plugins.module_utils._aws.state_bucket import region_of
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import DeniedError


def buckets(context: Context) -> Iterator[Finding]:
    """Check that each bucket exists in a region where FSx, or a workload's identity, can use it."""
    for name, wanted in _wanted(context).items():
        yield _bucket(context, name, of_fsx=[who for who in wanted if who.startswith("fsx ")], wanted=wanted)


def _wanted(context: Context) -> dict[str, list[str]]:
    """Return the users of each bucket, by bucket name."""
    wanted: dict[str, list[str]] = {}
    for entry in context.stack.lustre:
        for association, uri in entry.uris.items():
            bucket = uri.removeprefix("s3://").partition("/")[0]
            wanted.setdefault(bucket, []).append(f"fsx {entry.name} ({association})")
    for identity, places in context.stack.buckets.items():
        for place in places:
            wanted.setdefault(place.partition("/")[0], []).append(f"pod identity {identity}")
    return wanted


def _bucket(context: Context, bucket: str, *, of_fsx: list[str], wanted: list[str]) -> Finding:
    name, who, here = f"bucket {bucket}", ", ".join(dict.fromkeys(wanted)), context.aws.region
    try:
        region = region_of(context.aws, bucket)
    except DeniedError as error:
        found = f"for {who}: this identity may not access it"
        return warn(name, found, f"Allow {error.details['action']} to its users, if it is yours.")
    if region is None:
        return fail(name, f"for {who}: there is no such bucket", f"aws s3 mb s3://{bucket} --region {here}")
    if region == here:
        return ok(name, f"for {who}: in {region}")
    if of_fsx:
        found = f"for {', '.join(of_fsx)}: it is in {region}, the file system will be in {here}"
        return fail(name, found, f"Use a bucket in {here}, or replicate this one there.")
    return warn(name, f"for {who}: it is in {region}", f"Traffic between {region} and {here} costs and is slow.")
