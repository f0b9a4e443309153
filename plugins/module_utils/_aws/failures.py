# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""What AWS refused, in one sentence with its remedy."""

from __future__ import annotations

import typing as t

# Error codes (AWS API references, "Common errors") and exceptions of botocore, by what they mean.
_EXPIRED = {"ExpiredToken", "ExpiredTokenException", "RequestExpired", "TokenRefreshRequired"}
_EXPIRED |= {"UnauthorizedSSOTokenError", "SSOTokenLoadError", "TokenRetrievalError"}
_UNKNOWN = {"UnrecognizedClientException", "InvalidClientTokenId", "AuthFailure", "OptInRequired"}
_DENIED = {"AccessDenied", "AccessDeniedException", "UnauthorizedOperation"}
_NONE = {"NoCredentialsError", "PartialCredentialsError", "CredentialRetrievalError"}
_NOWHERE = {"EndpointConnectionError", "ConnectTimeoutError", "ReadTimeoutError", "ConnectionClosedError"}


class Refused(t.NamedTuple):
    """Whose request failed, where, and how botocore told."""

    profile: str | None
    region: str
    error: Exception

    def sentence(self) -> str:
        """Return one line: profile and region, what is wrong, what to do."""
        who = f"profile {self.profile}" if self.profile else "default credentials"
        login = f"aws sso login --profile {self.profile}" if self.profile else "aws sso login"
        return f"{who}, {self.region}: {self._said(login)}"

    def _said(self, login: str) -> str:
        code = failure_code(self.error)
        if code in _EXPIRED:
            return f"the session has expired: log in again ({login})"
        if code in _UNKNOWN:
            return f"the region is not enabled for this account, or the key is not known: check both ({code})"
        if code in _DENIED:
            return f"not allowed: {_message(self.error)}"
        if code in _NONE:
            return f"there are no credentials: set AWS_PROFILE or name profiles, or log in ({login})"
        if code in _NOWHERE:
            return f"no answer: is this a region, and is there a network? ({_message(self.error)})"
        return f"{code}: {_message(self.error)}"


def failure_code(error: Exception) -> str:
    """Return the code AWS answered with, else the name of botocore's exception."""
    response: dict[str, t.Any] = getattr(error, "response", None) or {}
    return str((response.get("Error") or {}).get("Code") or type(error).__name__)


def _message(error: Exception) -> str:
    response: dict[str, t.Any] = getattr(error, "response", None) or {}
    return " ".join(str((response.get("Error") or {}).get("Message") or error).split())
