# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Calls to AWS. Only this module uses boto3; each of its errors becomes one line."""

from __future__ import annotations

import functools
import re
import threading
import typing as t

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import (
    AwsError,
    CredentialsError,
    DeniedError,
    EksError,
)
from ansible_collections.mlops.eks.plugins.module_utils._core.libraries import boto3, botocore
from ansible_collections.mlops.eks.plugins.module_utils._core.nearest import did_you_mean

Reply = dict[str, t.Any]

# The region for account-wide requests: it is enabled in every account of its partition.
_HOMES = {"aws": "us-east-1", "aws-cn": "cn-north-1", "aws-us-gov": "us-gov-west-1"}
# Codes that reject the credentials, not the request. Source: "Common errors" of the services' API references.
_STALE = {
    "AuthFailure",
    "ExpiredToken",
    "ExpiredTokenException",
    "IncompleteSignature",
    "InvalidClientTokenId",
    "RequestExpired",
    "SignatureDoesNotMatch",
    "UnrecognizedClientException",
}
_DENIED = {"403", "AccessDenied", "AccessDeniedException", "AuthorizationError", "UnauthorizedOperation"}
_ACTION = re.compile(r"not authorized to perform:? ([a-z0-9-]+:\w+)")
# Calls whose IAM action has a different name.
_ACTIONS = {"s3:HeadBucket": "s3:ListBucket"}


class Aws:
    """One identity in one region; thread-safe.

    `AWS_ENDPOINT_URL` and the other AWS environment variables work as in the AWS command line.
    """

    def __init__(self, *, region: str, profile: str | None = None) -> None:
        """Load the profile, without a request to AWS.

        Raises:
            MissingToolError: boto3 is not installed.
            CredentialsError: there is no such profile, or its settings are broken.
            AwsError: `region` does not have the form of a region name.
        """
        self.region, self.profile = region, profile
        self._lock = threading.Lock()
        self._clients: dict[tuple[str, str], t.Any] = {}
        try:
            self._session = boto3.Session(profile_name=profile, region_name=region)
            self.partition: str = self._session.get_partition_for_region(region)
        except botocore.exceptions.UnknownRegionError:
            raise AwsError(f"region {region!r}: not the name of a region. An example is us-west-2.") from None
        except botocore.exceptions.BotoCoreError as error:
            raise explain(error, "the AWS configuration", profile) from error

    @property
    def home(self) -> str:
        """The region for account-wide requests."""
        return _HOMES.get(self.partition, self.region)

    def client(self, service: str, region: str | None = None) -> t.Any:
        """Return boto3's client of `service`. Creation is slow and not thread-safe, so each client is created once."""
        where = region or self.region
        with self._lock:
            if (service, where) not in self._clients:
                settings = botocore.config.Config(
                    connect_timeout=5, read_timeout=20, retries={"mode": "standard", "max_attempts": 4}
                )
                self._clients[service, where] = self._session.client(service, region_name=where, config=settings)
            return self._clients[service, where]

    def call(self, service: str, operation: str, *, region: str | None = None, **arguments: t.Any) -> Reply:
        """Return the answer of one API call.

        Raises:
            CredentialsError: there are no credentials, or they have expired.
            DeniedError: the identity lacks the IAM action.
            AwsError: any other error; `details["code"]` is the error code of AWS.
        """
        where = f"{service} {operation} in {region or self.region}"
        try:
            return t.cast(Reply, getattr(self.client(service, region), operation)(**arguments))
        except (botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError) as error:
            raise explain(error, where, self.profile) from error

    def find(self, absent: str, service: str, operation: str, **arguments: t.Any) -> Reply | None:
        """Return the answer of one API call, or `None` for the error code `absent`; other errors as in `call`."""
        try:
            return self.call(service, operation, **arguments)
        except AwsError as error:
            if error.details.get("code") == absent:
                return None
            raise

    def identity(self) -> Reply:
        """Return the caller's identity, with `Arn` and `Account`; errors as in `call`."""
        return self.call("sts", "get_caller_identity", region=self.home)

    def cluster(self, name: str) -> Reply | None:
        """Return the EKS cluster of that name, or `None`; errors as in `call`."""
        found = self.find("ResourceNotFoundException", "eks", "describe_cluster", name=name)
        return found and t.cast(Reply, found["cluster"])

    def pages(
        self, service: str, operation: str, key: str, *, region: str | None = None, **arguments: t.Any
    ) -> list[t.Any]:
        """Return the entries under `key` of all pages of an answer; errors as in `call`."""
        where = f"{service} {operation} in {region or self.region}"
        try:
            pages = self.client(service, region).get_paginator(operation).paginate(**arguments)
            return [entry for page in pages for entry in page.get(key) or ()]
        except (botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError) as error:
            raise explain(error, where, self.profile) from error


def own_region(profile: str | None) -> str:
    """Return the region of a profile or of the environment, or `""`.

    Raises:
        MissingToolError: boto3 is not installed.
        CredentialsError: there is no such profile, or its settings are broken.
    """
    try:
        return boto3.Session(profile_name=profile).region_name or ""
    except botocore.exceptions.BotoCoreError as error:
        raise explain(error, "the AWS configuration", profile) from error


def explain(error: Exception, where: str, profile: str | None) -> EksError:
    """Convert an error of botocore to one of this collection."""
    if isinstance(error, botocore.exceptions.ClientError):
        return _refused(error, where, profile)
    text = " ".join(str(error).split())
    if isinstance(error, botocore.exceptions.ProfileNotFound):
        meant = did_you_mean(error.kwargs["profile"], botocore.session.Session().available_profiles)
        return CredentialsError(f"{text}. Name a profile of the AWS configuration, or none.{meant}")
    if isinstance(error, botocore.exceptions.ConfigParseError):
        return CredentialsError(f"{text}. Correct it.")
    if isinstance(error, _credential_errors()):
        return CredentialsError(f"no usable AWS credentials: {text}. {_sign_in(profile)}")
    if isinstance(error, (botocore.exceptions.ConnectionError, botocore.exceptions.HTTPClientError)):
        return AwsError(f"{where}: {text} Check the network, the proxy and AWS_ENDPOINT_URL.", code="Unreachable")
    return AwsError(f"{where}: {text}", code=type(error).__name__)


def _refused(error: t.Any, where: str, profile: str | None) -> EksError:
    code = str(error.response.get("Error", {}).get("Code", ""))
    text = " ".join(str(error.response.get("Error", {}).get("Message", "")).split())
    if code in _STALE:
        return CredentialsError(f"AWS does not accept the credentials ({code}: {text}). {_sign_in(profile)}", code=code)
    if code in _DENIED:
        action = _action(error, where, text)
        return DeniedError(
            f"{where}: not allowed. The identity needs the IAM action {action}.", code=code, action=action
        )
    return AwsError(f"{where}: {code}: {text}".rstrip(": "), code=code)


def _action(error: t.Any, where: str, text: str) -> str:
    """Return the missing IAM action: from the message of AWS, else derived from the name of the call."""
    named = _ACTION.search(text)
    prefix = {"efs": "elasticfilesystem", "service-quotas": "servicequotas"}.get(where.split()[0], where.split()[0])
    asked = f"{prefix}:{error.operation_name}"
    return named[1] if named else _ACTIONS.get(asked, asked)


def _sign_in(profile: str | None) -> str:
    chosen = f" --profile {profile}" if profile else ""
    return f"Sign in again (aws sso login{chosen}) or set new ones; `aws sts get-caller-identity{chosen}` tells."


@functools.cache
def _credential_errors() -> tuple[type[Exception], ...]:
    return (
        botocore.exceptions.NoCredentialsError,
        botocore.exceptions.PartialCredentialsError,
        botocore.exceptions.CredentialRetrievalError,
        botocore.exceptions.TokenRetrievalError,
        botocore.exceptions.SSOError,
    )
