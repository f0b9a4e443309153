"""A real HTTP server on 127.0.0.1 with answers from a test, which can break a connection in mid-stream."""

from __future__ import annotations

import json
import socket
import threading
import typing as t
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

Answer = Callable[["Exchange"], None]


class Exchange:
    """One request and the means to answer it."""

    def __init__(self, handler: BaseHTTPRequestHandler, number: int) -> None:
        self._handler = handler
        parts = urlsplit(handler.path)
        self.number, self.method, self.path = number, handler.command, parts.path
        self.params = dict(parse_qsl(parts.query))
        length = int(handler.headers.get("Content-Length") or 0)
        self.body = handler.rfile.read(length) if length else b""
        self.headers = handler.headers

    def reply(self, document: t.Any, status: int = 200, **headers: str) -> None:
        body = document if isinstance(document, bytes) else json.dumps(document).encode()
        self._handler.send_response(status)
        for key, value in {"Content-Length": str(len(body)), **headers}.items():
            self._handler.send_header(key.replace("_", "-"), value)
        self._handler.end_headers()
        if self.method != "HEAD":
            self._handler.wfile.write(body)

    def begin(self) -> None:
        """Start a chunked answer."""
        self._handler.send_response(200)
        self._handler.send_header("Transfer-Encoding", "chunked")
        self._handler.end_headers()

    def chunk(self, data: bytes) -> None:
        if data:
            self._handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self._handler.wfile.flush()

    def event(self, kind: str, entry: t.Any) -> None:
        self.chunk(json.dumps({"type": kind, "object": entry}).encode() + b"\n")

    def end(self) -> None:
        self._handler.wfile.write(b"0\r\n\r\n")

    def cut(self) -> None:
        """Break the connection as a lost network does."""
        self._handler.close_connection = True
        self._handler.connection.shutdown(socket.SHUT_RDWR)


class Server:
    """Serves until `close`; `requests` are kept in the order of their arrival."""

    def __init__(self, answer: Answer) -> None:
        self.requests: list[Exchange] = []
        self.closing = threading.Event()
        lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one_request(self) -> None:
                try:
                    super().handle_one_request()
                except OSError:
                    self.close_connection = True

            def answer(self) -> None:
                with lock:
                    exchange = Exchange(self, len(outer.requests))
                    outer.requests.append(exchange)
                answer(exchange)

            do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = answer  # noqa: N815

            def log_message(self, format: str, *args: t.Any) -> None:  # noqa: A002
                """Write no log."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def kubeconfig(self, directory: Path) -> str:
        path = directory / "kubeconfig"
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "c",
            "clusters": [{"name": "c", "cluster": {"server": self.url}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "users": [{"name": "u", "user": {}}],
        }
        path.write_text(json.dumps(document), encoding="utf-8")
        return str(path)

    def close(self) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
