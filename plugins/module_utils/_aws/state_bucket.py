# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The S3 bucket of Terraform states: whether it exists, in any account."""

from __future__ import annotations

import typing as t

from ansible_collections.mlops.eks.plugins.module_utils._aws.session import Aws
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import AwsError, DeniedError
from ansible_collections.mlops.eks.plugins.module_utils._core.names import checked
from ansible_collections.mlops.eks.plugins.module_utils._core.secret_redaction import redacted

_HEADER = "x-amz-bucket-region"


def region_of(aws: Aws, bucket: str) -> str | None:
    """Return the region of a bucket, or `None` when no such bucket exists.

    Raises:
        DeniedError: the bucket exists, and the identity may not access it.
        AwsError: any other error.
    """
    reply = aws.find("404", "s3", "head_bucket", Bucket=bucket)
    if reply is None:
        return None
    return str(reply.get("BucketRegion") or reply["ResponseMetadata"]["HTTPHeaders"].get(_HEADER, "us-east-1"))


@redacted
@checked("state_bucket_info")
def state_bucket_info(params: dict[str, t.Any]) -> dict[str, t.Any]:
    """Return whether the bucket `name` exists. It may belong to another account, so no list is used.

    Raises:
        AwsError: the bucket is not in `region`, or S3 does not return its region.
    """
    name, region = params["name"], params["region"]
    try:
        found = region_of(Aws(region=region, profile=params["profile"]), name)
    except DeniedError:
        # Terraform may use another identity, and reports itself whether it has access.
        found = region
    if found not in (None, region):
        raise AwsError(
            f"bucket {name}: it is in {found}, the backend says {region}. Correct the region of the backend."
        )
    return {"changed": False, "exists": found is not None}
