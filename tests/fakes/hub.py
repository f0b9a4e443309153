"""A server that is compatible with the Hugging Face Hub, as far as its client goes to download models over HTTP.

It serves models that a test gives it, checks a token, follows requests for the rest of a file, and can break or hold
a connection within a file. It needs only the standard library: `python hub.py PORT [TOKEN]` serves `SAMPLE` in a pod.
"""

from __future__ import annotations

import hashlib
import json
import sys
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

# Files of at least so many bytes are kept apart from the repository, as LFS keeps them.
LARGE = 1000
CHUNK = 4096


def sha1(text: bytes) -> str:
    return hashlib.sha1(text, usedforsecurity=False).hexdigest()


@dataclass
class Model:
    """A model: its commits, oldest first, each a mapping of names to contents; the last one is `main`."""

    commits: list[dict[str, bytes]]
    tags: dict[str, int] = field(default_factory=dict)
    gated: bool = False

    def resolve(self, revision: str) -> tuple[str, dict[str, bytes]] | None:
        """Return the id and files of a revision: a branch, a tag, or a commit's id."""
        ids = [sha1(repr(sorted(files.items())).encode()) for files in self.commits]
        known = {one: index for index, one in enumerate(ids)} | self.tags | {"main": len(ids) - 1}
        return (ids[known[revision]], self.commits[known[revision]]) if revision in known else None

    def commit(self, revision: str = "main") -> str:
        found = self.resolve(revision)
        assert found, revision
        return found[0]


SAMPLE = Model(
    [
        {
            "config.json": b'{"model_type": "sample"}\n',
            "tokenizer/vocab.txt": b"a\nb\n",
            "model.safetensors": bytes(range(256)) * 400,
            "model.h5": b"h5" * 600,
        }
    ]
)


class Hub(ThreadingHTTPServer):
    """The server. `sent` lists, for each file, the bytes from which on it was sent and how many were."""

    daemon_threads = True

    def __init__(self, models: dict[str, Model], token: str = "", address: tuple[str, int] = ("127.0.0.1", 0)) -> None:
        self.models = models
        self.token = token
        self.sent: dict[str, list[tuple[int, int]]] = {}
        # Another name of this server, to which requests for large files are sent on, as the hub does to its stores.
        self.store = ""
        # How many times a file's connection breaks half-way.
        self.breaks: dict[str, int] = {}
        # Files that stop half-way until `go` is set; `held` is set when one has.
        self.holds: set[str] = set()
        self.held, self.go = threading.Event(), threading.Event()
        # How many requests of the API are answered with 503.
        self.busy = 0
        super().__init__(address, _Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Write nothing about a client that went away."""

    def __enter__(self) -> Hub:
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.go.set()
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Hub

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Write no log."""

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        path = unquote(parts.path).strip("/").split("/")
        if self.server.token and self.headers.get("Authorization") not in (None, f"Bearer {self.server.token}"):
            self._refuse(401, "", "Invalid credentials in Authorization header")
        elif path[:2] == ["api", "models"]:
            if self.server.busy > 0:
                self.server.busy -= 1
                self._refuse(503, "", "busy")
            else:
                self._api(path[2:], parse_qs(parts.query))
        elif path[0] == "large":
            self._file("/".join(path[2:]), self._content(path[1]))
        elif "resolve" in path:
            self._resolve(path)
        else:
            self._refuse(404, "EntryNotFound", "Entry not found")

    def _model(self, model: str, revision: str) -> tuple[str, dict[str, bytes]] | None:
        """Return the id and files of a revision; refuses what this client may not see."""
        found = self.server.models.get(model)
        given = bool(self.headers.get("Authorization")) or not self.server.token
        if not found or not given:
            # The hub does not tell strangers what exists.
            self._refuse(404 if given else 401, "RepoNotFound", "Repository not found")
        elif found.gated:
            self._refuse(403, "GatedRepo", f"Access to model {model} is restricted.")
        elif not (resolved := found.resolve(revision)):
            self._refuse(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        else:
            return resolved
        return None

    def _api(self, path: list[str], query: dict[str, list[str]]) -> None:
        kind = next((word for word in ("revision", "tree") if word in path), None)
        cut = path.index(kind) if kind else len(path)
        model, revision = "/".join(path[:cut]), "/".join(path[cut + 1 :]) or "main"
        found = self._model(model, revision)
        if not found:
            return
        commit, files = found
        if kind == "tree":
            self._json([{"type": "file", "path": name, **_blob(content, "oid")} for name, content in files.items()])
            return
        blobs = query.get("blobs") == ["true"]
        siblings = [{"rfilename": name, **(_blob(text, "blobId") if blobs else {})} for name, text in files.items()]
        about = {"id": model, "modelId": model, "sha": commit, "private": False, "gated": False, "tags": []}
        self._json({**about, "downloads": 0, "likes": 0, "siblings": siblings})

    def _resolve(self, path: list[str]) -> None:
        cut = path.index("resolve")
        found = self._model("/".join(path[:cut]), path[cut + 1])
        if not found:
            return
        commit, files = found
        name = "/".join(path[cut + 2 :])
        if name not in files:
            self._refuse(404, "EntryNotFound", "Entry not found")
            return
        content = files[name]
        headers = {"X-Repo-Commit": commit, "Accept-Ranges": "bytes"}
        if len(content) < LARGE:
            self._file(name, content, {**headers, "ETag": f'"{sha1(content)}"'})
            return
        digest = hashlib.sha256(content).hexdigest()
        headers |= {"X-Linked-ETag": f'"{digest}"', "X-Linked-Size": str(len(content))}
        if self.server.store:
            self._head(302, 0, {**headers, "Location": f"{self.server.store}/large/{digest}/{name}"})
        else:
            self._file(name, content, {**headers, "ETag": f'"{digest}"'})

    def _content(self, digest: str) -> bytes:
        contents = [text for one in self.server.models.values() for files in one.commits for text in files.values()]
        return next(text for text in contents if hashlib.sha256(text).hexdigest() == digest)

    def _file(self, name: str, content: bytes, headers: dict[str, str] | None = None) -> None:
        wanted = self.headers.get("Range", "")
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
        more = {"Content-Range": f"bytes {start}-{len(content) - 1}/{len(content)}"} if wanted else {}
        self._head(206 if wanted else 200, len(content) - start, {**(headers or {}), **more})
        if self.command == "HEAD":
            return
        half = len(content) // 2
        at = start
        try:
            while at < len(content):
                if at >= half and self.server.breaks.get(name, 0) > 0:
                    self.server.breaks[name] -= 1
                    self.close_connection = True
                    return
                if at >= half and name in self.server.holds:
                    self.server.held.set()
                    self.server.go.wait()
                at += self.wfile.write(content[at : at + CHUNK])
        finally:
            self.server.sent.setdefault(name, []).append((start, at - start))

    def _json(self, document: Any) -> None:
        body = json.dumps(document).encode()
        self._head(200, len(body), {"Content-Type": "application/json"})
        self.wfile.write(body)

    def _refuse(self, status: int, code: str, message: str) -> None:
        body = json.dumps({"error": message}).encode()
        headers = {"X-Error-Message": message, **({"X-Error-Code": code} if code else {})}
        self._head(status, len(body), headers)
        if self.command != "HEAD":
            self.wfile.write(body)

    def _head(self, status: int, length: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(length), **headers}.items():
            self.send_header(name, value)
        self.end_headers()


def _blob(content: bytes, name: str) -> dict[str, Any]:
    """Return what the API tells of a file; `name` is the key of its id."""
    about: dict[str, Any] = {name: sha1(content), "size": len(content)}
    if len(content) >= LARGE:
        about["lfs"] = {
            "sha256": hashlib.sha256(content).hexdigest(),
            "oid": hashlib.sha256(content).hexdigest(),
            "size": len(content),
            "pointerSize": 134,
        }
    return about


if __name__ == "__main__":
    Hub({"example/sample": SAMPLE}, "".join(sys.argv[2:]), address=("", int(sys.argv[1]))).serve_forever()
