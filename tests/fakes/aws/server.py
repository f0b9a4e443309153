"""AWS on a local port: moto, and in front of it the services it lacks. `python -m fakes.aws.server` prints its URL."""

from __future__ import annotations

import json
import os
import re
import sys
import threading
import typing as t
from collections.abc import Callable, Iterable
from urllib.parse import parse_qs

from fakes.aws import eks, eks_access, fsx, fsx_tasks, missing
from fakes.aws.documents import Document, Request, ServiceError, encode
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server
from werkzeug.wrappers import Request as HttpRequest
from werkzeug.wrappers import Response

# eks_access has routes of the same service, fsx_tasks operations.
SERVICES: dict[str, Callable[[Request], Document]] = {eks_access.SERVICE: eks.answer, fsx_tasks.SERVICE: fsx.answer}
# Signature Version 4 says which service and region a request is for.
_SCOPE = re.compile(r"Credential=[^/]+/\d{8}/(?P<region>[^/]+)/(?P<service>[^/]+)/aws4_request")


class Silent(WSGIRequestHandler):
    """Does not write a line a request."""

    def log(self, type: str, message: str, *args: t.Any) -> None:  # noqa: A002
        """Say nothing."""


class Application:
    """Answers for the services that are ours, one request at a time, and leaves the others to moto."""

    def __init__(self) -> None:
        # Moto then knows the policies that AWS has, and no others.
        os.environ["MOTO_IAM_LOAD_MANAGED_POLICIES"] = "true"
        missing.extend()
        self.moto = DomainDispatcherApplication(create_backend_app)
        self.lock = threading.Lock()

    def __call__(self, environ: dict[str, t.Any], start_response: t.Any) -> Iterable[bytes]:
        scope = _SCOPE.search(environ.get("HTTP_AUTHORIZATION", ""))
        if not scope or scope["service"] not in SERVICES:
            return t.cast("Iterable[bytes]", self.moto(environ, start_response))
        return self.ours(HttpRequest(environ), **scope.groupdict())(environ, start_response)

    def ours(self, http: HttpRequest, service: str, region: str) -> Response:
        body = json.loads(http.get_data() or b"{}")
        # The path as it was sent: an ARN in it has slashes of its own.
        path, _, query = http.environ["REQUEST_URI"].partition("?")
        request = Request(http.method, path, parse_qs(query), http.headers, body, region)
        try:
            with self.lock:
                return Response(encode(SERVICES[service](request)), content_type="application/x-amz-json-1.1")
        except ServiceError as error:
            headers = {"X-Amzn-Errortype": error.code}
            return Response(encode(error.document()), error.status, headers, content_type="application/x-amz-json-1.1")


def main() -> None:
    """Serve on a free port, or on that given, until killed."""
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    server = make_server("127.0.0.1", port, Application(), threaded=True, request_handler=Silent)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
