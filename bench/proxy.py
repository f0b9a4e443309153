# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""A reverse proxy of the API server that counts requests.

It ends TLS on 127.0.0.1, reads each request's head and length, and passes everything on, byte for byte, over a
connection of its own that carries the kubeconfig's client certificate. HTTP/2 is not offered, so that one request
is one head.
"""

from __future__ import annotations

import asyncio
import base64
import re
import ssl
import sys
import threading
import time
import typing as t
from pathlib import Path
from urllib.parse import urlsplit

import yaml
from setting import ROOT

sys.path.insert(0, str(ROOT / ".venv" / "collections"))
from ansible_collections.mlops.eks.plugins.module_utils._local.certificates import Leaf, ensure_pki

_CHUNK = 1 << 16
_LINE = b"2026-01-01T00:00:00.000000001Z hello\n"
_LOG = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n" % (len(_LINE), _LINE)
_END = b"0\r\n\r\n"


class Request(t.NamedTuple):
    """One request that passed, at a time of the monotonic clock."""

    at: float
    method: str
    path: str


class CountingProxy:
    """Listens until `close`; `kubeconfig` leads through it.

    Requests of logs whose path matches `silent` it answers itself, as of containers that wrote a line and then nothing.
    """

    def __init__(self, kubeconfig: Path, directory: Path, *, silent: re.Pattern[str] | None = None) -> None:
        self._silent = silent
        directory.mkdir(parents=True, exist_ok=True)
        self.requests: list[Request] = []
        self._host, self._port, self._upstream = _upstream(kubeconfig, directory)
        ensure_pki(directory, (Leaf(file="proxy", common_name="bench", names=("127.0.0.1",)),))
        self._tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self._tls.load_cert_chain(directory / "proxy.crt", directory / "proxy.key")
        self._tls.set_alpn_protocols(["http/1.1"])
        self._loop = asyncio.new_event_loop()
        server = self._loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._tls))
        port = server.sockets[0].getsockname()[1]
        self.kubeconfig = _kubeconfig(directory / "kubeconfig", port, directory / "ca.crt")
        threading.Thread(target=self._loop.run_forever, daemon=True, name=f"proxy {port}").start()

    def between(self, begun: float, ended: float) -> list[Request]:
        """Return the requests that arrived from `begun` to `ended`."""
        return [request for request in self.requests if begun <= request.at < ended]

    def close(self) -> None:
        """Stop."""
        self._loop.call_soon_threadsafe(self._loop.stop)

    async def _serve(self, client: asyncio.StreamReader, answer: asyncio.StreamWriter) -> None:
        try:
            reader, writer = await asyncio.open_connection(self._host, self._port, ssl=self._upstream)
        except OSError:
            answer.close()
            return
        tasks = [
            asyncio.create_task(self._forward_requests(client, writer, answer)),
            asyncio.create_task(_copy(reader, answer)),
        ]
        # Whoever closes first closes both sides: a client that hangs up ends its watch at the API server too.
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        answer.close()
        writer.close()

    async def _forward_requests(
        self, client: asyncio.StreamReader, writer: asyncio.StreamWriter, answer: asyncio.StreamWriter
    ) -> None:
        while True:
            try:
                head = await client.readuntil(b"\r\n\r\n")
            except (asyncio.IncompleteReadError, OSError):
                return
            method, path, _ = head.split(b" ", 2)
            self.requests.append(Request(time.monotonic(), method.decode(), path.decode()))
            if self._silent and self._silent.search(path.decode()):
                answer.write(_LOG if b"follow=true" in path else _LOG + _END)
                await answer.drain()
                continue
            length = re.search(rb"\r\ncontent-length: *(\d+)", head, re.IGNORECASE)
            writer.write(head)
            writer.write(await client.readexactly(int(length[1])) if length else b"")
            await writer.drain()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while chunk := await reader.read(_CHUNK):
            writer.write(chunk)
            await writer.drain()
    except OSError:
        return


def _upstream(kubeconfig: Path, directory: Path) -> tuple[str, int, ssl.SSLContext]:
    """Return address and TLS settings of the API server that a kubeconfig with a client certificate names."""
    document = yaml.safe_load(kubeconfig.read_text(encoding="utf-8"))
    cluster, user = document["clusters"][0]["cluster"], document["users"][0]["user"]
    files = {}
    for entry, key in ((cluster, "certificate-authority"), (user, "client-certificate"), (user, "client-key")):
        if f"{key}-data" in entry:
            file = directory / key
            file.touch(mode=0o600)
            file.write_bytes(base64.b64decode(entry[f"{key}-data"]))
            files[key] = str(file)
        elif key in entry:
            files[key] = str(kubeconfig.parent / entry[key])
        else:
            sys.exit(f"bench: {kubeconfig} has no {key}; requests are counted on clusters with client certificates.")
    context = ssl.create_default_context(cafile=files["certificate-authority"])
    context.load_cert_chain(files["client-certificate"], files["client-key"])
    address = urlsplit(cluster["server"])
    return str(address.hostname), address.port or 443, context


def _kubeconfig(file: Path, port: int, authority: Path) -> Path:
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {
                "name": "bench",
                "cluster": {"server": f"https://127.0.0.1:{port}", "certificate-authority": str(authority)},
            }
        ],
        "users": [{"name": "bench", "user": {}}],
        "contexts": [{"name": "bench", "context": {"cluster": "bench", "user": "bench"}}],
        "current-context": "bench",
    }
    file.write_text(yaml.safe_dump(document), encoding="utf-8")
    return file
