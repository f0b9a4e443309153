"""AWS on a local port: answers of a test's own, then the services that moto lacks, then moto.

An answer is what boto3 is to return, checked against the service's own model, or an error; a function makes either of
what was asked. It stands for one operation in all regions, or in one. `python -m fakes.aws.server` prints the URL of a
server that answers as a grown account does.
"""

from __future__ import annotations

import json
import os
import re
import sys
import threading
import typing as t
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from urllib.parse import parse_qs

from fakes.aws import eks, eks_access, fsx, fsx_tasks, missing, protocol
from fakes.aws.answers import usual
from fakes.aws.documents import Document, Request, ServiceError, encode
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server
from werkzeug.wrappers import Request as HttpRequest
from werkzeug.wrappers import Response

Answer = Document | ServiceError | Callable[[Document], Document]
# eks_access has routes of the same service, fsx_tasks operations.
SERVICES: dict[str, Callable[[Request], Document]] = {eks_access.SERVICE: eks.answer, fsx_tasks.SERVICE: fsx.answer}
# Signature Version 4 says which service and region a request is for.
_SCOPE = re.compile(r"Credential=[^/]+/\d{8}/(?P<region>[^/]+)/(?P<service>[^/]+)/aws4_request")
# What EC2 sells does not depend on what was done; moto takes most of a second of CPU to tell it.
_CONSTANT = {"DescribeInstanceTypes", "DescribeInstanceTypeOfferings"}


class Silent(WSGIRequestHandler):
    """Writes no line per request."""

    def log(self, type: str, message: str, *args: t.Any) -> None:  # noqa: A002
        """Write no log."""


class AwsServer:
    """A server on a port of this machine, by default a free one. `asked` has every call, such as `ec2:DescribeVpcs`."""

    def __init__(self, port: int = 0) -> None:
        missing.extend()
        self.answers: dict[tuple[str, str, str], Answer] = {}
        self.asked: list[str] = []
        self._kept: dict[tuple[str, bytes], Response] = {}
        self._lock = threading.Lock()
        self._moto = DomainDispatcherApplication(create_backend_app)
        self._server = make_server("127.0.0.1", port, self._serve, threaded=True, request_handler=Silent)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def wait(self) -> None:
        """Serve until killed."""
        self._thread.join()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def answer(self, service: str, operation: str, answer: Answer, region: str = "") -> None:
        """Give an answer to all further requests of that operation."""
        self.answers[service, operation, region] = answer

    def _serve(self, environ: dict[str, t.Any], start_response: t.Any) -> Iterable[bytes]:
        scope = _SCOPE.search(environ.get("HTTP_AUTHORIZATION", ""))
        found = self._answered(protocol.read(environ), **scope.groupdict()) if scope else None
        return t.cast("Iterable[bytes]", (found or self._moto)(environ, start_response))

    def _answered(self, http: HttpRequest, service: str, region: str) -> Response | None:
        """Return the answer, or `None` for a request that moto answers."""
        model = protocol.model_of(service)
        operation = protocol.operation(model, http)
        self.asked.append(f"{service}:{operation}")
        for where in (region, ""):
            if (model, operation, where) in self.answers:
                return _reply(model, operation, self.answers[model, operation, where], http)
        if service in SERVICES:
            return self._ours(http, service, region)
        return self._constant(http, region) if operation in _CONSTANT else None

    def _ours(self, http: HttpRequest, service: str, region: str) -> Response:
        """Answer for a service that moto lacks, one request at a time."""
        # The path as it was sent: an ARN in it has slashes of its own.
        path, _, query = http.environ["REQUEST_URI"].partition("?")
        body = json.loads(http.get_data() or b"{}")
        request = Request(http.method, path, parse_qs(query), http.headers, body, region)
        try:
            with self._lock:
                return Response(encode(SERVICES[service](request)), content_type="application/x-amz-json-1.1")
        except ServiceError as error:
            return protocol.refused(error, "json")

    def _constant(self, http: HttpRequest, region: str) -> Response:
        """Return what moto answered to the same request before."""
        key = (region, http.get_data())
        if key not in self._kept:
            self._kept[key] = Response.from_app(self._moto, http.environ)
            self._kept[key].freeze()
        return self._kept[key]


def _reply(service: str, operation: str, answer: Answer, http: HttpRequest) -> Response:
    try:
        result = answer(protocol.asked(http)) if callable(answer) else answer
    except ServiceError as error:
        result = error
    return protocol.answered(service, operation, result)


def main() -> None:
    """Serve on a free port, or on that given, until killed."""
    # Moto then knows the policies that AWS has, and no others.
    os.environ["MOTO_IAM_LOAD_MANAGED_POLICIES"] = "true"
    server = AwsServer(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    usual(server, now=datetime.now(UTC))
    print(server.url, flush=True)
    server.wait()


if __name__ == "__main__":
    main()
