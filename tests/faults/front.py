# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""A door of one's own to a real API server: each request is handed to a function, which asks the server or does not."""

from __future__ import annotations

import contextlib
import http.client
import ssl
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from kubernetes.client import Configuration
from kubernetes.config import load_kube_config

# Headers that belong to one connection, or to whoever asks, and are made anew on the next.
_OWN = {"connection", "transfer-encoding", "content-length", "host", "keep-alive", "date", "server", "authorization"}
# Longer than any watch.
_PATIENCE = 900.0
_NO_BODY = (http.HTTPStatus.NO_CONTENT, http.HTTPStatus.NOT_MODIFIED)
Headers = dict[str, str]


class Visit(BaseHTTPRequestHandler):
    """One connection; each request on it is answered by the server's `answer`."""

    server: _Server
    protocol_version = "HTTP/1.1"

    def handle_one_request(self) -> None:
        """Take a connection that breaks for its end."""
        try:
            super().handle_one_request()
        except (OSError, http.client.HTTPException):
            self.close_connection = True

    def answer(self) -> None:
        """Answer one request."""
        self.server.answer(self, self.rfile.read(int(self.headers.get("Content-Length") or 0)))

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""

    def passed_on(self) -> Headers:
        """Return the headers of the request that concern the API server."""
        return {key: value for key, value in self.headers.items() if key.lower() not in _OWN}

    def pass_back(self, answer: http.client.HTTPResponse, body: Iterator[bytes]) -> None:
        """Answer with the status and headers of `answer`, and with `body` as it comes."""
        self.send_response(answer.status)
        for key, value in answer.getheaders():
            if key.lower() not in _OWN:
                self.send_header(key, value)
        if answer.status in _NO_BODY:
            self.end_headers()
            return
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for data in body:
            # An empty piece would say that the answer is over.
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data) if data else b"")
        self.wfile.write(b"0\r\n\r\n")


Answer = Callable[[Visit, bytes], None]


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, answer: Answer, tls: ssl.SSLContext | None) -> None:
        super().__init__(("127.0.0.1", 0), Visit)
        self.answer = answer
        if tls:
            # Each connection shakes hands in its own thread.
            self.socket = tls.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)


class Front:
    """Listens until `close`, as HTTPS with `tls`; what `answer` does with a request is up to it."""

    def __init__(self, kubeconfig: str, answer: Answer, *, tls: ssl.SSLContext | None = None) -> None:
        settings = Configuration()
        load_kube_config(kubeconfig, client_configuration=settings)  # type: ignore[no-untyped-call]
        self._real = urlsplit(str(settings.host))
        self._context = ssl.create_default_context(cafile=settings.ssl_ca_cert)
        self._context.load_cert_chain(str(settings.cert_file), settings.key_file)
        self._server = _Server(answer, tls)
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    @contextlib.contextmanager
    def ask(self, visit: Visit, body: bytes, **headers: str) -> Iterator[http.client.HTTPResponse]:
        """Yield what the real API server answers to a request; `headers` are set beside its own."""
        host, port = str(self._real.hostname), self._real.port
        connection = http.client.HTTPSConnection(host, port, context=self._context, timeout=_PATIENCE)
        with contextlib.closing(connection) as upstream:
            upstream.request(visit.command, visit.path, body or None, {**visit.passed_on(), **headers})
            yield upstream.getresponse()

    def close(self) -> None:
        """Take no more connections."""
        self._server.shutdown()
        self._server.server_close()


def pieces(answer: http.client.HTTPResponse) -> Iterator[bytes]:
    """Yield the body of an answer as it comes."""
    while data := answer.read1(65536):
        yield data
