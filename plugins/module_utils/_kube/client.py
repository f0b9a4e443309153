# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""One HTTP client per cluster: JSON in, JSON out, patient with a cluster that is briefly away.

It stands on the raw layer of the `kubernetes` package: that package reads the kubeconfig, runs exec plugins and
renews their
tokens; typed models are not used, as they differ between its releases 3x and 37.
"""

from __future__ import annotations

import json
import random
import socket
import typing as t
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

import urllib3
from kubernetes.client import Configuration
from urllib3.connection import HTTPConnection

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import Clock
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import (
    AbsentError,
    ClusterError,
    ConflictError,
    ForbiddenError,
    UnreachableError,
)
from ansible_collections.mlops.eks.plugins.module_utils._kube.kubeconfig import configuration

Document = dict[str, t.Any]
Params = Mapping[str, str | int]

_RETRIED = (429, 500, 502, 503, 504)
# A watch is closed by the server after this many seconds and opened again: few requests, yet no socket lives for ever.
WATCH_SECONDS = 540
_READ_TIMEOUT = 30.0
_CONNECT_TIMEOUT = 10.0

# A silent log is kept alive on its way through load balancers (350 s at AWS), and a dead connection is found.
_KEEP_ALIVE = [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)] + [
    # macOS spells the first one otherwise; its default will do there.
    (socket.IPPROTO_TCP, getattr(socket, name), seconds)
    for name, seconds in (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 15))
    if hasattr(socket, name)
]


# Failures in a row, about two seconds of them, after which people want to know.
_WORTH_SAYING = 4


def print_nothing(line: str) -> None:
    """Take a line that nobody wants to read."""


@dataclass(kw_only=True)
class Kube:
    """A connection to one cluster.

    `patience` is how many seconds a request may be repeated while the cluster does not answer; `notice` is told of it.
    """

    kubeconfig: str
    context: str | None
    namespace: str
    patience: float = 60.0
    clock: Clock = field(default_factory=Clock)
    notice: Callable[[str], None] = print_nothing

    def __post_init__(self) -> None:
        self._configuration = configuration(self.kubeconfig, self.context)
        self._pool = _pool(self._configuration)

    @property
    def server(self) -> str:
        """The API server's address."""
        return str(self._configuration.host)

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
        content_type: str = "application/json",
    ) -> Document:
        """Send one request, repeated with back-off while the cluster is away, and return the JSON answer.

        Raises:
            UnreachableError: no answer within `patience` seconds.
            ForbiddenError: 401 or 403. AbsentError: 404. ConflictError: 409. ClusterError: any other refusal.
        """
        payload = None if body is None else json.dumps(body).encode()
        deadline = self.clock.now() + self.patience
        attempt = 0
        while True:
            attempt += 1
            problem, wait = "", 0.0
            try:
                answer = self._send(method, path, params, payload, content_type)
                if answer.status < 400:
                    return self._parsed(answer.data)
                # A stale token is renewed by the next attempt; a rejected one stays rejected.
                if answer.status not in _RETRIED and not (answer.status == 401 and attempt < 3):
                    raise refusal(answer.status, answer.data, f"{method} {path}")
                problem = f"HTTP {answer.status}"
                wait = _seconds(answer.headers.get("Retry-After"))
            except urllib3.exceptions.HTTPError as error:
                problem = _reason(error)
            wait = max(wait, min(0.2 * 2**attempt, 10.0)) * random.uniform(0.5, 1.0)
            if self.clock.now() + wait > deadline:
                raise self._unreachable(problem)
            if attempt == _WORTH_SAYING:
                self.notice(f"cluster {self.server} does not answer ({problem}); trying for {self.patience:g} s")
            self.clock.sleep(wait)

    def _unreachable(self, problem: str) -> UnreachableError:
        return UnreachableError(
            f"cluster {self.server}: no answer for {self.patience:g} s ({problem}). "
            "Check that it runs, the kubeconfig and the network, then run the same command again."
        )

    def _parsed(self, body: bytes) -> Document:
        try:
            return t.cast(Document, json.loads(body or b"{}"))
        except ValueError:
            raise ClusterError(
                f"cluster {self.server}: its answer is not JSON. Is 'server' in the kubeconfig really the API server?"
            ) from None

    def stream(self, path: str, params: Params | None = None, *, read_timeout: float) -> urllib3.BaseHTTPResponse:
        """Open a response that is read as it arrives; the caller closes it.

        Raises:
            ClusterError: the server refused. urllib3.exceptions.HTTPError: it could not be reached.
        """
        response = self._send("GET", path, params, None, "application/json", stream=True, read_timeout=read_timeout)
        if response.status >= 400:
            body = response.read(65536)
            response.release_conn()
            raise refusal(response.status, body, f"GET {path}")
        return response

    def _send(
        self,
        method: str,
        path: str,
        params: Params | None,
        payload: bytes | None,
        content_type: str,
        *,
        stream: bool = False,
        read_timeout: float = _READ_TIMEOUT,
    ) -> urllib3.BaseHTTPResponse:
        headers = {"Accept": "application/json", "Content-Type": content_type, "User-Agent": "mlops.eks"}
        # Asking for the settings anew runs the exec plugin again when its token is about to expire.
        settings = t.cast(dict[str, dict[str, str]], self._configuration.auth_settings())
        for setting in settings.values():
            if setting["value"]:
                headers[setting["key"]] = setting["value"]
        query = f"?{urlencode(params)}" if params else ""
        return self._pool.request(
            method,
            f"{self.server}{path}{query}",
            body=payload,
            headers=headers,
            preload_content=not stream,
            retries=False,
            timeout=urllib3.Timeout(connect=_CONNECT_TIMEOUT, read=read_timeout),
        )


def refusal(status: int, body: bytes, what: str) -> ClusterError | ConflictError:
    """Return the error that an HTTP refusal means."""
    try:
        said = str(json.loads(body).get("message", ""))
    except (ValueError, AttributeError):
        said = body[:200].decode(errors="replace")
    match status:
        case 401:
            return ForbiddenError(
                f"{what}: the cluster refuses these credentials (401). Renew them, for EKS with 'aws sso login'."
            )
        case 403:
            return ForbiddenError(f"{said or what}. Ask the cluster's owner for this permission.", status=403)
        case 404:
            return AbsentError(f"{what}: {said or 'not found'}.", status=404)
        case 409:
            return ConflictError(f"{what}: {said or 'conflict'}.", status=409)
        case _:
            return ClusterError(f"{what}: refused with HTTP {status}: {said}", status=status)


def _seconds(header: str | None) -> float:
    """Return what a `Retry-After` header asks for; its other form, a date, is for browsers."""
    return float(header) if header and header.isdigit() else 0.0


def _reason(error: urllib3.exceptions.HTTPError) -> str:
    inner = getattr(error, "reason", None) or error
    text = str(inner).split(": ", 1)[-1] if "object at" in str(inner) else str(inner)
    return text.splitlines()[0][:160] if text else type(error).__name__


def _pool(settings: Configuration) -> urllib3.PoolManager:
    options: dict[str, t.Any] = {
        "num_pools": 4,
        "maxsize": 32,
        "block": False,
        "cert_reqs": "CERT_REQUIRED" if settings.verify_ssl else "CERT_NONE",
        "ca_certs": settings.ssl_ca_cert,
        "cert_file": settings.cert_file,
        "key_file": settings.key_file,
        "socket_options": [*HTTPConnection.default_socket_options, *_KEEP_ALIVE],
    }
    if settings.tls_server_name:
        options["server_hostname"] = settings.tls_server_name
    if settings.proxy:
        return urllib3.ProxyManager(settings.proxy, **options)
    return urllib3.PoolManager(**options)
