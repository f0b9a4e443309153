# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""An API server that misbehaves by script: a proxy in front of the real one, with a certificate of its own.

A script is a function from a call to a trouble, or to `None` when the call is to pass. A trouble is a function that
answers the call its own way. Whatever passes is answered by the real API server, byte for byte.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import ssl
import struct
import threading
import time
import typing as t
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import yaml
from front import Front, Visit, pieces

from ansible_collections.mlops.eks.plugins.module_utils._local.certificates import Leaf, ensure_pki


class Call(t.NamedTuple):
    """One request: who asks (`helm` or `engine`) for what. `number` counts all requests from 1."""

    number: int
    asker: str
    method: str
    path: str
    query: dict[str, str]

    @property
    def watch(self) -> bool:
        """Whether it opens a watch."""
        return "watch" in self.query

    @property
    def log(self) -> bool:
        """Whether it asks for a container's log."""
        return self.path.endswith("/log")

    @property
    def stream(self) -> bool:
        """Whether its answer comes bit by bit."""
        return self.watch or self.log


Change = Callable[[Iterator[bytes]], Iterable[bytes]]
Trouble = Callable[["Exchange"], None]
Script = Callable[[Call], Trouble | None]


class BrokenError(Exception):
    """Raised by a change of an answer: break the connection here."""


class Proxy:
    """Listens until `close`; `script` is asked about every call, and `kubeconfig` leads through it.

    While `token` is set, requests without it are refused as the API server refuses expired ones. Streams that the
    script leaves alone pass through `streams`. `injected` are the times at which something was done to a call, `passed`
    those at which the real server's words went through, in seconds of the monotonic clock.
    """

    def __init__(self, kubeconfig: str, directory: Path) -> None:
        self.script: Script = lambda _: None
        self.streams: Change = iter
        self.token = ""
        self.injected: list[float] = []
        self.passed: list[float] = []
        self.calls: list[Call] = []
        self._lock = threading.Lock()
        ensure_pki(directory, (Leaf(file="proxy", common_name="proxy", names=("127.0.0.1",)),))
        # Over plain HTTP, Helm would send no credentials.
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(directory / "proxy.crt", directory / "proxy.key")
        self.front = Front(kubeconfig, self._answer, tls=tls)
        self.kubeconfig = directory / "proxy.kubeconfig"
        self.log_in({})

    def log_in(self, user: dict[str, t.Any]) -> None:
        """Write the kubeconfig with these credentials."""
        cluster = {"server": self.front.url, "certificate-authority": "ca.crt"}
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "p", "cluster": cluster}],
            "users": [{"name": "p", "user": user}],
            "contexts": [{"name": "p", "context": {"cluster": "p", "user": "p"}}],
            "current-context": "p",
        }
        self.kubeconfig.write_text(yaml.safe_dump(document), encoding="utf-8")

    def hurt(self) -> None:
        """Note that something was done to a call."""
        self.injected.append(time.monotonic())

    def _answer(self, visit: Visit, body: bytes) -> None:
        """Answer one request as the script wants it."""
        exchange = Exchange(self._heard(visit), self, visit, body)
        if self.token and visit.headers.get("Authorization") != f"Bearer {self.token}":
            self.hurt()
            exchange.refuse(401, "Unauthorized")
        elif trouble := self.script(exchange.call):
            self.hurt()
            trouble(exchange)
        else:
            exchange.forward(self.streams if exchange.call.stream else iter)

    def _heard(self, visit: Visit) -> Call:
        """Count a request."""
        asker = "helm" if "helm" in visit.headers.get("User-Agent", "").lower() else "engine"
        address = urlsplit(visit.path)
        with self._lock:
            number = len(self.calls) + 1
            call = Call(number, asker, visit.command, address.path, dict(parse_qsl(address.query)))
            self.calls.append(call)
        return call


class Exchange:
    """One call and the means to answer it."""

    def __init__(self, call: Call, proxy: Proxy, visit: Visit, body: bytes) -> None:
        self.call, self.proxy, self._visit, self._body = call, proxy, visit, body

    def refuse(self, status: int, message: str, **headers: str) -> None:
        """Answer as the API server does when it refuses."""
        document = {"apiVersion": "v1", "kind": "Status", "status": "Failure", "code": status, "message": message}
        document["reason"] = _REASONS.get(status, "")
        body = json.dumps(document).encode()
        self._visit.send_response(status)
        headers = {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}
        for key, value in headers.items():
            self._visit.send_header(key.replace("_", "-"), value)
        self._visit.end_headers()
        self._visit.wfile.write(body)

    def reset(self) -> None:
        """Break the connection as a network does that lost it."""
        self._visit.close_connection = True
        connection = self._visit.connection
        # Without lingering, closing sends a reset.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)

    def carry_out(self) -> None:
        """Let the real server do what is asked, and drop its answer."""
        with self._asked() as answer:
            answer.read()

    def forward(self, change: Change) -> None:
        """Let the real server answer; `change` sees the body pass, and may end it early or raise `BrokenError`."""
        with self._asked() as answer:
            try:
                self._visit.pass_back(answer, iter(change(self._read(answer))))
            except BrokenError:
                self.reset()

    def _read(self, answer: http.client.HTTPResponse) -> Iterator[bytes]:
        for data in pieces(answer):
            self.proxy.passed.append(time.monotonic())
            yield data

    def _asked(self) -> contextlib.AbstractContextManager[http.client.HTTPResponse]:
        # As it is, so that events can be told apart.
        return self.proxy.front.ask(self._visit, self._body, **{"Accept-Encoding": "identity"})


_REASONS = {
    401: "Unauthorized", 403: "Forbidden", 409: "Conflict", 410: "Expired", 429: "TooManyRequests",
    500: "InternalError", 503: "ServiceUnavailable",
}  # fmt: skip
