# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Real sources of charts on 127.0.0.1 that tests change and stop: a Helm repository, an OCI registry, git trees."""

from __future__ import annotations

import base64
import os
import shutil
import socket
import subprocess
import tempfile
import threading
import typing as t
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from fakes.go import go_program

from ansible_collections.mlops.eks.plugins.module_utils._helm.cli import find_helm

LOGIN = "jane:s3cret-of-jane"
_JOB = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: hello-{{ .Release.Name }}
  labels: {app.kubernetes.io/instance: "{{ .Release.Name }}"}
spec:
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: hello
          image: {{ .Values.image }}
          command: [echo, {{ .Values.says | quote }}]
"""


def run(*argv: str | Path, cwd: Path | None = None) -> str:
    """Run a program that must succeed and return what it printed."""
    who = {f"GIT_{one}_{key}": "tester@localhost" for one in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")}
    done = subprocess.run(
        list(map(str, argv)), cwd=cwd, capture_output=True, text=True, check=False, env={**os.environ, **who}
    )
    assert done.returncode == 0, f"{' '.join(map(str, argv))}: {done.stdout}{done.stderr}"
    return done.stdout.strip()


def chart(directory: Path, version: str = "1.0.0", says: str = "hello", *, more: str = "") -> Path:
    """Write a chart with a Job that prints one text; its name is that of its directory."""
    (directory / "templates").mkdir(parents=True, exist_ok=True)
    files = {
        "Chart.yaml": f"apiVersion: v2\nname: {directory.name}\nversion: {version}\n{more}",
        "values.yaml": f"image: localhost/mlops-eks/base:0.1.0\nsays: {says}\n",
        "templates/job.yaml": _JOB,
    }
    for name, text in files.items():
        (directory / name).write_text(text, encoding="utf-8")
    return directory


def package(directory: Path, into: Path) -> Path:
    """Package a chart as its publisher does."""
    into.mkdir(parents=True, exist_ok=True)
    return Path(run(find_helm(), "package", directory, "--destination", into).rpartition(": ")[2])


def vacant(address: str) -> socket.socket:
    """Return a socket that reserves `host:port` until it is closed: nothing answers there."""
    host, _, port = address.partition(":")
    kept = socket.socket()
    kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    kept.bind((host, int(port)))
    return kept


class Web:
    """An HTTP server in a thread."""

    def __init__(self, handler: type[BaseHTTPRequestHandler]) -> None:
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.address = f"127.0.0.1:{self.server.server_address[1]}"
        self._thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def close(self) -> None:
        """Stop answering and refuse connections; a second call releases the address."""
        if self._thread.is_alive():
            self.server.shutdown()
            self._thread.join()
            self.server.server_close()
            self._vacant = vacant(self.address)
        else:
            self._vacant.close()


class HelmRepository:
    """A repository with an index, as `helm repo index` makes it; with `login` it requires authentication."""

    def __init__(self, directory: Path, login: str = "") -> None:
        self.directory = directory
        directory.mkdir()
        token = f"Basic {base64.b64encode(login.encode()).decode()}"

        class Files(SimpleHTTPRequestHandler):
            def __init__(self, *arguments: t.Any) -> None:
                super().__init__(*arguments, directory=str(directory))

            def do_GET(self) -> None:
                if login and self.headers.get("Authorization") != token:
                    self.send_error(401)
                    return
                super().do_GET()

            def log_message(self, *arguments: t.Any) -> None:
                pass

        self.web = Web(Files)
        self.url = f"http://{self.web.address}"

    def publish(self, *sources: Path) -> None:
        """Add packages, and charts as packages, replacing equal versions, and index all."""
        for source in sources:
            if source.is_dir():
                package(source, self.directory)
            else:
                shutil.copy(source, self.directory)
        run(find_helm(), "repo", "index", self.directory)


class Registry:
    """An in-memory OCI registry: tools/registry."""

    def __init__(self, login: str = "") -> None:
        self.process = subprocess.Popen([go_program("registry"), "-login", login], stdout=subprocess.PIPE, text=True)
        self.address = t.cast(t.IO[str], self.process.stdout).readline().strip()
        self.url = f"oci://{self.address}/team"

    def publish(self, *sources: Path) -> None:
        """Push packages, and charts as packages, replacing equal versions."""
        for source in sources:
            with tempfile.TemporaryDirectory() as scratch:
                made = package(source, Path(scratch)) if source.is_dir() else source
                run(find_helm(), "push", made, self.url, "--plain-http")

    def close(self) -> None:
        """Stop the registry, which loses its content; a second call releases the address."""
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait()
            t.cast(t.IO[str], self.process.stdout).close()
            self._vacant = vacant(self.address)
        else:
            self._vacant.close()


class GitTree:
    """A git repository, by its path or, with `over_http`, by an address."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        run("git", "init", "--quiet", "--initial-branch=main", directory)

    @property
    def url(self) -> str:
        """The file URL."""
        return f"git+file://{self.directory}"

    def git(self, *arguments: str) -> str:
        """Run git in the repository."""
        return run("git", *arguments, cwd=self.directory)

    def commit(self) -> str:
        """Commit all files and return the commit."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message=more")
        return self.git("rev-parse", "HEAD")


@contextmanager
def over_http(root: Path) -> Iterator[Web]:
    """Serve every git repository below `root` as `git http-backend` does."""

    class Backend(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            path, _, query = self.path.partition("?")
            environment = {
                "PATH": os.environ["PATH"],
                "GIT_PROJECT_ROOT": str(root),
                "GIT_HTTP_EXPORT_ALL": "1",
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "REQUEST_METHOD": self.command,
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                "HTTP_GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            }
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            done = subprocess.run(["git", "http-backend"], input=body, capture_output=True, env=environment, check=True)
            head, _, content = done.stdout.partition(b"\r\n\r\n")
            headers = dict(line.split(": ", 1) for line in head.decode().splitlines())
            self.send_response(int(headers.pop("Status", "200 OK").split()[0]))
            for key, value in headers.items():
                self.send_header(key, value)
            self.end_headers()
            self.wfile.write(content)

        def do_GET(self) -> None:
            self._answer()

        def do_POST(self) -> None:
            self._answer()

        def log_message(self, *arguments: t.Any) -> None:
            pass

    web = Web(Backend)
    try:
        yield web
    finally:
        web.close()
