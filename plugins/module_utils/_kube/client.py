# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The HTTP client of one cluster: JSON requests, repeated while the API server does not answer.

Objects are plain dictionaries, as the API sends them in any release.
"""

from __future__ import annotations

import itertools
import json
import math
import random
import re
import threading
import typing as t
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import Clock
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import (
    AbsentError,
    ClusterError,
    ConflictError,
    ForbiddenError,
    UnreachableError,
)
from ansible_collections.mlops.eks.plugins.module_utils._core.libraries import urllib3
from ansible_collections.mlops.eks.plugins.module_utils._kube.connection import Connection

Document = dict[str, t.Any]
Params = Mapping[str, str | int]

JSON = "application/json"
_RETRIED = (429, 500, 502, 503, 504)
# The server closes a watch after this many seconds; then it is opened again.
WATCH_SECONDS = 540
_READ_TIMEOUT = 30.0
# Failures in a row, about two seconds, after which a line is printed.
_NOTICE_AFTER = 4
# How often credentials that never worked are tried.
_MAX_LOGINS = 3


def print_nothing(line: str) -> None:
    """Drop a line."""


class BusyError(UnreachableError):
    """A request failed and may be repeated, after the `wait` seconds that the server asked for."""

    def __init__(self, problem: str, wait: float = 0.0) -> None:
        super().__init__(problem)
        self.wait = wait


@dataclass(kw_only=True)
class Kube:
    """A connection to one cluster.

    A request is repeated for `api_retry_timeout` seconds while the cluster does not answer; infinite is no limit.
    `notice` takes lines about it.
    """

    kubeconfig: str
    context: str | None
    namespace: str
    api_retry_timeout: float = 60.0
    clock: Clock = field(default_factory=Clock)
    notice: Callable[[str], None] = print_nothing

    def __post_init__(self) -> None:
        self._connection = Connection(self.kubeconfig, self.context)
        self._renewing = threading.Lock()
        # Whether the cluster has accepted the credentials before.
        self._accepted = False
        if self._connection.insecure:
            self.notice(
                f"cluster {self.server}: 'insecure-skip-tls-verify' is set, so another server could impersonate it"
            )

    @property
    def server(self) -> str:
        """The API server's address."""
        return self._connection.server

    @property
    def _duration(self) -> str:
        return f"for {self.api_retry_timeout:g} s" if self.api_retry_timeout < math.inf else "until it does"

    def get(self, path: str, params: Params | None = None) -> Document | None:
        """Return the object or list at `path`, or `None` when it does not exist."""
        try:
            return self.request("GET", path, params=params)
        except AbsentError:
            return None

    def request(
        self,
        method: str,
        path: str,
        *,
        params: Params | None = None,
        body: t.Any = None,
        content_type: str = JSON,
        accept: str = JSON,
    ) -> Document:
        """Send one request, repeated with back-off while the cluster does not answer, and return the JSON answer.

        Raises:
            UnreachableError: no answer within `api_retry_timeout` seconds.
            ForbiddenError: 401 or 403. AbsentError: 404. ConflictError: 409. ClusterError: any other refusal.
        """
        payload = None if body is None else json.dumps(body).encode()
        deadline = self.clock.now() + self.api_retry_timeout
        for attempt in itertools.count(1):
            try:
                return self._parsed(self._once(method, path, params, payload, content_type, accept=accept).data)
            except (BusyError, ForbiddenError) as error:
                left = deadline - self.clock.now()
                if left <= 0 or not self._may_repeat(error, attempt):
                    raise self._final(error) from error
                if attempt == _NOTICE_AFTER:
                    self.notice(f"cluster {self.server} does not answer ({error}); trying {self._duration}")
                self.clock.sleep(min(left, pause(attempt, error)))
        raise NotImplementedError

    def _may_repeat(self, error: BusyError | ForbiddenError, attempt: int) -> bool:
        """Return whether an error may go away, such as a refused login that worked before."""
        if isinstance(error, BusyError):
            return True
        return error.details.get("status") == 401 and (self._accepted or attempt < _MAX_LOGINS)

    def _final(self, error: BusyError | ForbiddenError) -> ClusterError:
        if isinstance(error, ForbiddenError):
            return error
        return UnreachableError(
            f"cluster {self.server}: no answer for {self.api_retry_timeout:g} s ({error}). "
            "Check that it runs, the kubeconfig and the network, then run the same command again."
        )

    def _parsed(self, body: bytes) -> Document:
        try:
            return t.cast(Document, json.loads(body or b"{}"))
        except ValueError:
            if body.startswith(b"{"):
                raise BusyError("its answers break off") from None
            raise ClusterError(
                f"cluster {self.server}: its answer is not JSON. Is 'server' in the kubeconfig really the API server?"
            ) from None

    def stream(self, path: str, params: Params | None = None, *, read_timeout: float) -> urllib3.BaseHTTPResponse:
        """Open a response that is read as it arrives; the caller closes it.

        Raises:
            BusyError: no answer, or one that asks to wait. ClusterError: the server refused.
        """
        try:
            return self._once("GET", path, params, None, JSON, stream=True, read_timeout=read_timeout)
        except ForbiddenError as error:
            if error.details.get("status") != 401:
                raise
        # `_once` has renewed the credentials.
        return self._once("GET", path, params, None, JSON, stream=True, read_timeout=read_timeout)

    def _once(
        self,
        method: str,
        path: str,
        params: Params | None,
        payload: bytes | None,
        content_type: str,
        *,
        accept: str = JSON,
        stream: bool = False,
        read_timeout: float = _READ_TIMEOUT,
    ) -> urllib3.BaseHTTPResponse:
        connection = self._connection
        headers = {"Accept": accept, "Content-Type": content_type}
        target = f"{path}?{urlencode(params)}" if params else path
        try:
            response = connection.send(
                method, target, body=payload, headers=headers, stream=stream, read_timeout=read_timeout
            )
            if response.status < 400:
                self._accepted = True
                return response
            body = response.read(65536) if stream else response.data
        except urllib3.exceptions.HTTPError as error:
            raise BusyError(_reason(error)) from error
        response.close()
        if response.status in _RETRIED:
            raise BusyError(f"HTTP {response.status}", _seconds(response.headers.get("Retry-After")))
        if response.status == 409 and method == "PATCH":
            # Concurrent writes; a patch without a resourceVersion can be repeated.
            raise BusyError("HTTP 409")
        if response.status == 401:
            self._renew(connection)
        raise refusal(response.status, body, f"{method} {path}")

    def _renew(self, refused: Connection) -> None:
        """Renew the credentials, once for all threads that were refused."""
        with self._renewing:
            if self._connection is refused:
                self._connection = refused.renewed()


def pause(attempt: int, error: Exception) -> float:
    """Return the seconds to wait after failure number `attempt`, with jitter: at most 10, or as the server asks."""
    asked = error.wait if isinstance(error, BusyError) else 0.0
    return max(asked * random.uniform(1.0, 1.2), float(min(0.2 * 2**attempt, 10.0)) * random.uniform(0.5, 1.0))


def refusal(status: int, body: bytes, what: str) -> ClusterError | ConflictError:
    """Return the error for an HTTP status of 400 or more."""
    try:
        message = str(json.loads(body).get("message", ""))
    except (ValueError, AttributeError):
        message = body[:200].decode(errors="replace")
    match status:
        case 401:
            return ForbiddenError(
                f"{what}: the cluster refuses these credentials (401). Renew them, for EKS with 'aws sso login'.",
                status=401,
            )
        case 403:
            anonymous = "system:anonymous" in message
            remedy = (
                "Give the kubeconfig's user credentials" if anonymous else "Ask the cluster's owner for this permission"
            )
            return ForbiddenError(f"{message or what}. {remedy}.", status=403)
        case 404:
            return AbsentError(f"{what}: {message or 'not found'}.", status=404)
        case 409:
            return ConflictError(f"{what}: {message or 'conflict'}.", status=409)
        case _:
            return ClusterError(f"{what}: refused with HTTP {status}: {message}", status=status)


def _seconds(header: str | None) -> float:
    """Return the seconds of a `Retry-After` header; a date counts as 0."""
    return float(header) if header and header.isdigit() else 0.0


# The prefix of urllib3's messages: the address of the cluster, which our message has already.
_ADDRESS = re.compile(r"^HTTPS?Connection(?:Pool)?\([^)]*\): ")


def _reason(error: urllib3.exceptions.HTTPError) -> str:
    inner = getattr(error, "reason", None) or error
    text = str(inner).split(": ", 1)[-1] if "object at" in str(inner) else str(inner)
    return _ADDRESS.sub("", text.splitlines()[0])[:160] if text else type(error).__name__
