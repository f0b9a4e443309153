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
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import yaml

from ansible_collections.mlops.eks.plugins.module_utils._kube.connection import Connection
from ansible_collections.mlops.eks.plugins.module_utils._kube.kubeconfig import access
from ansible_collections.mlops.eks.plugins.module_utils._local.certificates import Leaf, ensure_pki

# Headers that belong to one connection and are made anew on the next.
_OWN = {"connection", "transfer-encoding", "content-length", "host", "keep-alive", "date", "server", "authorization"}


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

    While `token` is set, requests without it are refused as the API server refuses expired ones. `injected` are the
    times at which something was done to a call, `passed` those at which the real server's words went through, in
    seconds of the monotonic clock.
    """

    def __init__(self, kubeconfig: str, directory: Path) -> None:
        self.script: Script = lambda _: None
        self.token = ""
        self.injected: list[float] = []
        self.passed: list[float] = []
        self.calls: list[Call] = []
        self._lock = threading.Lock()
        self._real = access(kubeconfig, None).cluster.text("server")
        self._tls: ssl.SSLContext = Connection(kubeconfig, None)._pool.connection_pool_kw["ssl_context"]
        outer = self

        class Handler(_Handler):
            proxy = outer

        ensure_pki(directory, (Leaf(file="proxy", common_name="proxy", names=("127.0.0.1",)),))
        mine = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        mine.load_cert_chain(directory / "proxy.crt", directory / "proxy.key")
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        # Each connection shakes hands in its own thread.
        self._server.socket = mine.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        self.kubeconfig = directory / "proxy.kubeconfig"
        self.log_in({})

    def log_in(self, user: dict[str, t.Any]) -> None:
        """Write the kubeconfig with these credentials."""
        # Over plain HTTP, Helm would send no credentials.
        cluster = {"server": f"https://127.0.0.1:{self._server.server_port}", "certificate-authority": "ca.crt"}
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "p", "cluster": cluster}],
            "users": [{"name": "p", "user": user}],
            "contexts": [{"name": "p", "context": {"cluster": "p", "user": "p"}}],
            "current-context": "p",
        }
        self.kubeconfig.write_text(yaml.safe_dump(document), encoding="utf-8")

    def connect(self) -> http.client.HTTPSConnection:
        """Return a connection to the real API server."""
        address = urlsplit(self._real)
        return http.client.HTTPSConnection(str(address.hostname), address.port, context=self._tls, timeout=900)

    def heard(self, asker: str, method: str, target: str) -> Call:
        """Count a request."""
        address = urlsplit(target)
        with self._lock:
            call = Call(len(self.calls) + 1, asker, method, address.path, dict(parse_qsl(address.query)))
            self.calls.append(call)
        return call

    def hurt(self) -> None:
        """Note that something was done to a call."""
        self.injected.append(time.monotonic())

    def close(self) -> None:
        """Take no more connections."""
        self._server.shutdown()
        self._server.server_close()


class Exchange:
    """One call and the means to answer it."""

    def __init__(self, call: Call, proxy: Proxy, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        self.call, self.proxy, self._handler, self._body = call, proxy, handler, body

    def refuse(self, status: int, message: str, **headers: str) -> None:
        """Answer as the API server does when it refuses."""
        document = {"apiVersion": "v1", "kind": "Status", "status": "Failure", "code": status, "message": message}
        document["reason"] = _REASONS.get(status, "")
        body = json.dumps(document).encode()
        self._handler.send_response(status)
        headers = {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}
        for key, value in headers.items():
            self._handler.send_header(key.replace("_", "-"), value)
        self._handler.end_headers()
        self._handler.wfile.write(body)

    def reset(self) -> None:
        """Break the connection as a network does that lost it."""
        self._handler.close_connection = True
        connection = self._handler.connection
        # Without lingering, closing sends a reset.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)

    def carry_out(self) -> None:
        """Let the real server do what is asked, and drop its answer."""
        with self._asked() as answer:
            answer.read()

    def forward(self, change: Change = iter) -> None:
        """Let the real server answer; `change` sees the body pass, and may end it early or raise `BrokenError`."""
        with self._asked() as answer:
            self._handler.send_response(answer.status)
            for key, value in answer.getheaders():
                if key.lower() not in _OWN:
                    self._handler.send_header(key, value)
            if answer.status in (204, 304):
                self._handler.end_headers()
                return
            self._handler.send_header("Transfer-Encoding", "chunked")
            self._handler.end_headers()
            try:
                for data in change(self._read(answer)):
                    self._handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data) if data else b"")
            except BrokenError:
                self.reset()
                return
            self._handler.wfile.write(b"0\r\n\r\n")

    def _read(self, answer: http.client.HTTPResponse) -> Iterator[bytes]:
        while data := answer.read1(65536):
            self.proxy.passed.append(time.monotonic())
            yield data

    @contextlib.contextmanager
    def _asked(self) -> Iterator[http.client.HTTPResponse]:
        headers = {key: value for key, value in self._handler.headers.items() if key.lower() not in _OWN}
        # As it is, so that events can be told apart.
        headers["Accept-Encoding"] = "identity"
        with contextlib.closing(self.proxy.connect()) as upstream:
            upstream.request(self.call.method, self._handler.path, self._body or None, headers)
            yield upstream.getresponse()


_REASONS = {
    401: "Unauthorized", 403: "Forbidden", 409: "Conflict", 410: "Expired", 429: "TooManyRequests",
    500: "InternalError", 503: "ServiceUnavailable",
}  # fmt: skip


class _Handler(BaseHTTPRequestHandler):
    proxy: t.ClassVar[Proxy]
    protocol_version = "HTTP/1.1"

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except (OSError, http.client.HTTPException):
            self.close_connection = True

    def answer(self) -> None:
        """Answer one request as the script wants it."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        asker = "helm" if "helm" in self.headers.get("User-Agent", "").lower() else "engine"
        proxy = self.proxy
        exchange = Exchange(proxy.heard(asker, self.command, self.path), proxy, self, body)
        if proxy.token and self.headers.get("Authorization") != f"Bearer {proxy.token}":
            proxy.hurt()
            exchange.refuse(401, "Unauthorized")
            return
        trouble = proxy.script(exchange.call)
        if trouble is None:
            exchange.forward()
            return
        proxy.hurt()
        trouble(exchange)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""
