"""A bucket of states that is another account's, as many companies have one for all."""

from __future__ import annotations

import boto3
from provisioning import Site, words


def test_the_bucket_of_another_account_is_used_and_left_as_it_is(small: Site) -> None:
    role = "arn:aws:iam::999999999999:role/states"
    keys = small.client("sts").assume_role(RoleArn=role, RoleSessionName="states")["Credentials"]
    owner = boto3.client(
        "s3", region_name="us-west-2", aws_access_key_id=keys["AccessKeyId"],
        aws_secret_access_key=keys["SecretAccessKey"], aws_session_token=keys["SessionToken"],
    )  # fmt: skip
    bucket = small.backend("demo")["bucket"]
    owner.create_bucket(Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
    assert small.client("s3").list_buckets()["Buckets"] == []

    small.succeed("cluster.yml")
    assert [entry["Key"] for entry in owner.list_objects_v2(Bucket=bucket)["Contents"]] == ["demo.tfstate"]
    assert "Status" not in owner.get_bucket_versioning(Bucket=bucket)
    # Of a bucket that is taken for missing there would be nothing to destroy.
    said = words(small.fail("teardown.yml", "-e", "confirm_destroy=dmo"))
    assert "this would remove cluster demo in us-west-2 for good: 1 to destroy." in said
    assert "add: -e confirm_destroy=demo (now: dmo)" in said
