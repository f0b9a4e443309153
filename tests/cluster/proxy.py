# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""A TCP relay that can be cut, to make the API server unreachable for one client."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import yaml


class Relay:
    """Forwards connections to `host:port` while it is open."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._sockets: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._up = True
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Reset every connection and refuse new ones."""
        with self._lock:
            self._up = False
            for one in self._sockets:
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)

    def restore(self) -> None:
        """Accept connections again."""
        self._up = True

    def close(self) -> None:
        """Close all connections and the relay."""
        self.cut()
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(self._target)
            except OSError:
                client.close()
                continue
            with self._lock:
                # One that came just before a cut is cut as well.
                up = self._up
                self._sockets |= {client, server} if up else set()
            if not up:
                client.close()
                server.close()
                continue
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=self._copy, args=(source, sink), daemon=True).start()

    def _copy(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
        for one in (source, sink):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            with self._lock:
                self._sockets.discard(one)
            one.close()


@contextlib.contextmanager
def relayed(kubeconfig: str, directory: Path) -> Iterator[tuple[Relay, str]]:
    """Yield a relay in front of a cluster and the path of a kubeconfig that leads through it."""
    document = yaml.safe_load(Path(kubeconfig).read_text(encoding="utf-8"))
    cluster = document["clusters"][0]["cluster"]
    address = urlsplit(cluster["server"])
    relay = Relay(str(address.hostname), address.port or 443)
    cluster["server"] = f"https://127.0.0.1:{relay.port}"
    cluster.pop("certificate-authority-data", None)
    cluster.pop("certificate-authority", None)
    cluster["insecure-skip-tls-verify"] = True
    path = directory / "relayed.kubeconfig"
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    try:
        yield relay, str(path)
    finally:
        relay.close()


def without_rights(kubeconfig: str, token: str, path: Path) -> str:
    """Write a kubeconfig to `path` that logs in by `token` alone, and return the path."""
    document = yaml.safe_load(Path(kubeconfig).read_text(encoding="utf-8"))
    for user in document["users"]:
        user["user"] = {"token": token}
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    return str(path)
