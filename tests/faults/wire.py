# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""The wire between a controller and its cluster: every request stops at a gate before and after it is carried out.

What a controller has done to a cluster is the sequence of its requests. To end it between any two of them, and nowhere
else, is therefore to try every state it can leave behind.
"""

from __future__ import annotations

import contextlib
import http
import http.client
import ssl
import typing as t
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

import yaml
from kubernetes.client import Configuration
from kubernetes.config import load_kube_config

# Headers that belong to one connection and are made anew on the next.
_OWN = {"connection", "transfer-encoding", "content-length", "host", "keep-alive", "date", "server"}


class Moment(t.NamedTuple):
    """One request at the gate: `done` tells whether the cluster has carried it out."""

    method: str
    path: str
    body: str
    done: bool


# Returns whether the request may pass; one that is held back is lost with its connection.
Gate = Callable[[Moment], bool]


class Wire:
    """A plain HTTP front of the API server at `kubeconfig`; `gate` is asked about every request, twice."""

    def __init__(self, kubeconfig: str) -> None:
        self.gate: Gate = lambda _: True
        self.settings = Configuration()
        load_kube_config(kubeconfig, client_configuration=self.settings)  # type: ignore[no-untyped-call]
        self.context = ssl.create_default_context(cafile=self.settings.ssl_ca_cert)
        self.context.load_cert_chain(str(self.settings.cert_file), self.settings.key_file)
        wire = self

        class Handler(_Handler):
            WIRE = wire

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_port
        Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def connect(self) -> http.client.HTTPSConnection:
        """Return a connection to the real API server."""
        address = urlsplit(str(self.settings.host))
        return http.client.HTTPSConnection(str(address.hostname), address.port, context=self.context, timeout=600)

    def close(self) -> None:
        """Take no more connections."""
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    WIRE: t.ClassVar[Wire]
    protocol_version = "HTTP/1.1"

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except (OSError, http.client.HTTPException):
            self.close_connection = True

    def relay(self) -> None:
        """Carry one request to the cluster and its answer back, unless the gate holds either."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        moment = Moment(self.command, self.path, body.decode(errors="replace"), done=False)
        if not self.WIRE.gate(moment):
            self.close_connection = True
            return
        headers = {key: value for key, value in self.headers.items() if key.lower() not in _OWN}
        with contextlib.closing(self.WIRE.connect()) as upstream:
            upstream.request(self.command, self.path, body or None, headers)
            answer = upstream.getresponse()
            if not self.WIRE.gate(moment._replace(done=True)):
                self.close_connection = True
                return
            self._answer(answer)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = relay  # noqa: N815

    def _answer(self, answer: http.client.HTTPResponse) -> None:
        self.send_response(answer.status)
        for key, value in answer.getheaders():
            if key.lower() not in _OWN:
                self.send_header(key, value)
        length = "0" if answer.status == http.HTTPStatus.NOT_MODIFIED else answer.getheader("Content-Length")
        self.send_header(*(("Content-Length", length) if length else ("Transfer-Encoding", "chunked")))
        self.end_headers()
        while data := answer.read1(65536):
            self.wfile.write(data if length else b"%x\r\n%s\r\n" % (len(data), data))
        if not length:
            self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


@contextlib.contextmanager
def wired(kubeconfig: str, directory: Path) -> Iterator[tuple[Wire, str]]:
    """Yield a wire to a cluster, and the path of a kubeconfig that leads through it."""
    document = yaml.safe_load(Path(kubeconfig).read_text(encoding="utf-8"))
    wire = Wire(kubeconfig)
    document["clusters"][0]["cluster"] = {"server": f"http://127.0.0.1:{wire.port}"}
    document["users"][0]["user"] = {}
    path = directory / "wired.kubeconfig"
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    try:
        yield wire, str(path)
    finally:
        wire.close()
