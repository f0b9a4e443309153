# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The bucket in which Terraform keeps states: whether it is there, whoever's it is."""

from __future__ import annotations

import typing as t

from ansible_collections.mlops.eks.plugins.module_utils._aws.session import Aws
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import AwsError, DeniedError
from ansible_collections.mlops.eks.plugins.module_utils._core.names import checked
from ansible_collections.mlops.eks.plugins.module_utils._core.secret_redaction import redacted

_HEADER = "x-amz-bucket-region"


def region_of(aws: Aws, bucket: str) -> str | None:
    """Return the region of a bucket, `None` when there is none of that name.

    Raises:
        DeniedError: it is there, and the identity may not see more.
        AwsError: anything else.
    """
    reply = aws.find("404", "s3", "head_bucket", Bucket=bucket)
    if reply is None:
        return None
    return str(reply.get("BucketRegion") or reply["ResponseMetadata"]["HTTPHeaders"].get(_HEADER, "us-east-1"))


@redacted
@checked("state_bucket_info")
def state_bucket_info(params: dict[str, t.Any]) -> dict[str, t.Any]:
    """Tell whether the bucket `name` is there: by itself, as a list of the account's own lacks one of another account.

    Raises:
        AwsError: it is in another region than `region`, or S3 does not say.
    """
    name, region = params["name"], params["region"]
    try:
        found = region_of(Aws(region=region, profile=params["profile"]), name)
    except DeniedError:
        # Whether Terraform may use it Terraform says, which may have another identity.
        found = region
    if found not in (None, region):
        raise AwsError(
            f"bucket {name}: it is in {found}, the backend says {region}. Correct the region of the backend."
        )
    return {"changed": False, "exists": found is not None}
