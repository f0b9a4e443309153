# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""A place for states that locks as AWS does."""

from __future__ import annotations

import typing as t

import boto3


class Bucket:
    """A bucket of moto's S3, in which a state is kept."""

    NAME, STATE, LOCK = "states", "train.tfstate", "train.tfstate.tflock"

    def __init__(self, address: str) -> None:
        self.address = address
        self.client = boto3.client(
            "s3", "us-east-1", endpoint_url=address, aws_access_key_id="testing", aws_secret_access_key="testing"
        )
        self.client.create_bucket(Bucket=self.NAME)

    @property
    def backend(self) -> dict[str, t.Any]:
        """The backend's settings, as the module takes them."""
        skipped = ("credentials_validation", "requesting_account_id", "metadata_api_check", "s3_checksum")
        return {
            "bucket": self.NAME,
            "key": self.STATE,
            "region": "us-east-1",
            "access_key": "testing",
            "secret_key": "testing",
            "endpoints": {"s3": self.address},
            "use_path_style": True,
            **{f"skip_{name}": True for name in skipped},
        }

    def has(self, key: str) -> bool:
        """Return whether there is an object of that name."""
        found = self.client.list_objects_v2(Bucket=self.NAME).get("Contents", [])
        return key in [entry["Key"] for entry in found]

    def write(self, key: str, text: str) -> None:
        """Write an object."""
        self.client.put_object(Bucket=self.NAME, Key=key, Body=text.encode())

    def remove(self, *, bucket: bool = False) -> None:
        """Remove all objects, and the bucket."""
        for entry in self.client.list_objects_v2(Bucket=self.NAME).get("Contents", []):
            self.client.delete_object(Bucket=self.NAME, Key=entry["Key"])
        if bucket:
            self.client.delete_bucket(Bucket=self.NAME)
