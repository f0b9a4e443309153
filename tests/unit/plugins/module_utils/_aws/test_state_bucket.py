"""The bucket of states: there, not there, somebody else's, somewhere else."""

from __future__ import annotations

import boto3
import pytest
from fakes.aws.documents import ServiceError
from fakes.aws.server import AwsServer

from ansible_collections.mlops.eks.plugins.module_utils._aws.state_bucket import state_bucket_info
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import AwsError, CredentialsError

REGION = "us-west-2"


def look(name: str) -> bool:
    found = state_bucket_info({"name": name, "region": REGION, "profile": None})
    assert not found["changed"]
    return bool(found["exists"])


def make(name: str, region: str = REGION) -> None:
    where = {"LocationConstraint": region}
    boto3.client("s3", region_name=region).create_bucket(Bucket=name, CreateBucketConfiguration=where)


def test_one_that_is_there_and_one_that_is_not(account: AwsServer) -> None:
    make("states-of-mine")
    assert look("states-of-mine")
    assert not look("states-of-nobody")
    # A list of all buckets lacks those of other accounts, and takes a right that few have.
    assert "s3:ListBuckets" not in account.asked


def test_one_that_may_not_be_seen_is_there(account: AwsServer) -> None:
    account.answer("s3", "HeadBucket", ServiceError("AccessDenied", status=403))
    assert look("states-of-another")


def test_one_in_another_region_is_refused(account: AwsServer) -> None:
    make("states-in-europe", "eu-west-1")
    with pytest.raises(AwsError, match="it is in eu-west-1, the backend says us-west-2"):
        look("states-in-europe")


def test_without_credentials_the_remedy_is_said(account: AwsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    assert account.url
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, "/dev/null")
    with pytest.raises(CredentialsError, match="aws sso login"):
        look("states-of-mine")
