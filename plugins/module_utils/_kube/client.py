# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""One HTTP client per cluster: JSON in, JSON out, patient with a cluster that is briefly away.

Typed models are not used: objects are what the API sends, whatever its release.
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
# A watch is closed by the server after this many seconds and opened again: few requests, yet no socket lives for ever.
WATCH_SECONDS = 540
_READ_TIMEOUT = 30.0
# Failures in a row, about two seconds of them, after which people want to know.
_WORTH_SAYING = 4
# How often credentials that have never worked are tried.
_LOGINS = 3


def print_nothing(line: str) -> None:
    """Take a line that nobody wants to read."""


class BusyError(UnreachableError):
    """A request was not answered as it should; it may be repeated, after the `wait` seconds the server asked for."""

    def __init__(self, problem: str, wait: float = 0.0) -> None:
        super().__init__(problem)
        self.wait = wait


@dataclass(kw_only=True)
class Kube:
    """A connection to one cluster.

    `patience` is how many seconds a request may be repeated while the cluster does not answer, infinite where there is
    no limit; `notice` is told of it.
    """

    kubeconfig: str
    context: str | None
    namespace: str
    patience: float = 60.0
    clock: Clock = field(default_factory=Clock)
    notice: Callable[[str], None] = print_nothing

    def __post_init__(self) -> None:
        self._connection = Connection(self.kubeconfig, self.context)
        self._renewing = threading.Lock()
        # Whether the cluster has ever taken our credentials.
        self._known = False
        if self._connection.trusts_anybody:
            self.notice(f"cluster {self.server}: 'insecure-skip-tls-verify' is set, so anybody could answer for it")

    @property
    def server(self) -> str:
        """The API server's address."""
        return self._connection.server

    @property
    def _how_long(self) -> str:
        return f"for {self.patience:g} s" if self.patience < math.inf else "until it does"

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
        """Send one request, repeated with back-off while the cluster is away, and return the JSON answer.

        Raises:
            UnreachableError: no answer within `patience` seconds.
            ForbiddenError: 401 or 403. AbsentError: 404. ConflictError: 409. ClusterError: any other refusal.
        """
        payload = None if body is None else json.dumps(body).encode()
        deadline = self.clock.now() + self.patience
        for attempt in itertools.count(1):
            try:
                return self._parsed(self._once(method, path, params, payload, content_type, accept=accept).data)
            except (BusyError, ForbiddenError) as error:
                left = deadline - self.clock.now()
                if left <= 0 or not self._may_repeat(error, attempt):
                    raise self._given_up(error) from error
                if attempt == _WORTH_SAYING:
                    self.notice(f"cluster {self.server} does not answer ({error}); trying {self._how_long}")
                self.clock.sleep(min(left, pause(attempt, error)))
        raise NotImplementedError

    def _may_repeat(self, error: BusyError | ForbiddenError, attempt: int) -> bool:
        """Return whether an error may go away by itself, as that of a login which has worked before."""
        if isinstance(error, BusyError):
            return True
        return error.details.get("status") == 401 and (self._known or attempt < _LOGINS)

    def _given_up(self, error: BusyError | ForbiddenError) -> ClusterError:
        if isinstance(error, ForbiddenError):
            return error
        return UnreachableError(
            f"cluster {self.server}: no answer for {self.patience:g} s ({error}). "
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
            BusyError: no answer, or one that asks for patience. ClusterError: the server refused.
        """
        try:
            return self._once("GET", path, params, None, JSON, stream=True, read_timeout=read_timeout)
        except ForbiddenError as error:
            if error.details.get("status") != 401:
                raise
        # The credentials are new ones by now.
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
                self._known = True
                return response
            said = response.read(65536) if stream else response.data
        except urllib3.exceptions.HTTPError as error:
            raise BusyError(_reason(error)) from error
        response.close()
        if response.status in _RETRIED:
            raise BusyError(f"HTTP {response.status}", _seconds(response.headers.get("Retry-After")))
        if response.status == 409 and method == "PATCH":
            # Others wrote at the same time, again and again; a patch that names no version is not meant to mind.
            raise BusyError("HTTP 409")
        if response.status == 401:
            self._renew(connection)
        raise refusal(response.status, said, f"{method} {path}")

    def _renew(self, refused: Connection) -> None:
        """Log in anew, once for all the threads that were refused."""
        with self._renewing:
            if self._connection is refused:
                self._connection = refused.renewed()


def pause(attempt: int, error: Exception) -> float:
    """Return the seconds to wait after failure number `attempt` in a row: with jitter, 10 s at most or as asked for."""
    asked = error.wait if isinstance(error, BusyError) else 0.0
    return max(asked * random.uniform(1.0, 1.2), float(min(0.2 * 2**attempt, 10.0)) * random.uniform(0.5, 1.0))


def refusal(status: int, body: bytes, what: str) -> ClusterError | ConflictError:
    """Return the error that an HTTP refusal means."""
    try:
        said = str(json.loads(body).get("message", ""))
    except (ValueError, AttributeError):
        said = body[:200].decode(errors="replace")
    match status:
        case 401:
            return ForbiddenError(
                f"{what}: the cluster refuses these credentials (401). Renew them, for EKS with 'aws sso login'.",
                status=401,
            )
        case 403:
            nobody = "system:anonymous" in said
            remedy = (
                "Give the kubeconfig's user credentials" if nobody else "Ask the cluster's owner for this permission"
            )
            return ForbiddenError(f"{said or what}. {remedy}.", status=403)
        case 404:
            return AbsentError(f"{what}: {said or 'not found'}.", status=404)
        case 409:
            return ConflictError(f"{what}: {said or 'conflict'}.", status=409)
        case _:
            return ClusterError(f"{what}: refused with HTTP {status}: {said}", status=status)


def _seconds(header: str | None) -> float:
    """Return what a `Retry-After` header asks for; its other form, a date, is for browsers."""
    return float(header) if header and header.isdigit() else 0.0


# What urllib3 puts before its words; the cluster's address is told already, and those of EKS are long.
_PLACE = re.compile(r"^HTTPS?Connection(?:Pool)?\([^)]*\): ")


def _reason(error: urllib3.exceptions.HTTPError) -> str:
    inner = getattr(error, "reason", None) or error
    text = str(inner).split(": ", 1)[-1] if "object at" in str(inner) else str(inner)
    return _PLACE.sub("", text.splitlines()[0])[:160] if text else type(error).__name__
